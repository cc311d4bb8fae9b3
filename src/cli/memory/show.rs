//! Memory plans as text, with a picture of each arena.

use core::fmt::Write;

use pte::File;
use pte::memory::{Limited, PlannedArena, PlannedTensor, named_data_bytes};
use pte::quoted::UntrustedString;

use super::chart;
use super::method::{self, Method};
use super::pools;
use super::{MOST_METHODS, Show, Subject};
use crate::input::Readable;
use crate::output::Output;
use crate::problem::{BOLD, DIM, ERROR, NAME, Problem, WARNING};
use crate::text::{bar, count, grouped, name, share, wide};

pub(super) struct Text {
    /// The number of methods that may still be shown.
    left: usize,
    /// The number of methods that are left out.
    more: usize,
}

impl Text {
    pub(super) fn new() -> Self {
        Self { left: 0, more: 0 }
    }
}

impl Show for Text {
    fn begin(
        &mut self,
        out: &mut Output,
        path: &UntrustedString,
        of: &Subject,
    ) -> Result<(), Problem> {
        self.left = of.methods.min(MOST_METHODS).min(MOST_SHOWN);
        self.more = of.methods.saturating_sub(self.left);
        writeln!(out, "{BOLD}{path}{BOLD:#}  {DIM}{} bytes{DIM:#}", grouped(of.bytes))?;
        if of.methods > 0 {
            let named = match &of.file {
                File::Pte(pte) => named_data_bytes(pte),
                File::Ptd(_) => 0,
            };
            if named == 0 {
                return Ok(());
            }
            let what = "bytes of named data, which delegates ask for: not planned";
            return Ok(writeln!(out, "  {DIM}{} {what}{DIM:#}", grouped(named))?);
        }
        let why = match of.file {
            File::Ptd(_) => "a .ptd is data for a program: it has no methods, and plans no memory",
            _ => "no methods, and so no memory is planned",
        };
        Ok(writeln!(out, "  {why}")?)
    }

    fn method(&mut self, out: &mut Output, method: &Method<'_, '_>) -> Result<(), Problem> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(()) };
        self.left = left;
        let memory = method.memory;
        let called = memory.plan().name();
        method.input.name_again(called)?;
        let (called, instructions) =
            (name(called.unwrap_or("(no name)")), memory.instruction_count());
        let arenas = memory.arenas();
        let sum = match arenas.len() {
            0 => "no arenas".into(),
            len => {
                let planned = sum_of(memory.planned());
                format!("{planned} bytes in {}", count(wide(len), "arena"))
            }
        };
        let run = count(instructions.into(), "instruction");
        write!(out, "  {NAME}{called}{NAME:#}  {sum} {DIM}· {run}{DIM:#}")?;
        if let Some(over) = method.over(Limited::All, method.document().needed()) {
            let over = grouped(over);
            write!(out, "  {ERROR}{over} over the budget{ERROR:#}")?;
        }
        out.write_char('\n')?;
        for arena in arenas.iter().take(MOST_ARENAS) {
            show_arena(out, method, arena)?;
        }
        if let Some(more) = arenas.len().checked_sub(MOST_ARENAS).filter(|&more| more > 0) {
            let more = count(wide(more), "arena");
            writeln!(out, "    {DIM}… and {more} more{DIM:#}")?;
        }
        show_rest(out, method)?;
        for line in pools::lines(method) {
            writeln!(out, "    {line}")?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Output) -> Result<(), Problem> {
        if self.more > 0 {
            let more = count(wide(self.more), "method");
            writeln!(out, "  {DIM}… and {more} more{DIM:#}")?;
        }
        Ok(())
    }
}

fn show_arena(
    out: &mut Output,
    method: &Method<'_, '_>,
    arena: &PlannedArena<'_>,
) -> Result<(), Problem> {
    let memory = method.memory;
    write!(out, "    {BOLD}arena {}{BOLD:#}", arena.id)?;
    if let Some((kind, index)) = method::device(arena) {
        write!(out, " {DIM}on {} {index}{DIM:#}", name(kind.as_str()))?;
    }
    if let Some(over) = method.over(Limited::Arena(arena.id), arena.needed()) {
        write!(out, "  {ERROR}{} over the budget{ERROR:#}", grouped(over))?;
    }
    match (arena.planned, arena.slack()) {
        (None, _) => {
            let why = "it has no size: the method cannot be loaded";
            write!(out, "  {WARNING}{why}{WARNING:#}")?;
        }
        (_, None) => {
            let why = "tensors reach past its end: the method cannot be loaded";
            write!(out, "  {WARNING}{why}{WARNING:#}")?;
        }
        _ => {}
    }
    out.write_char('\n')?;
    let whole = arena.planned.unwrap_or_default().max(arena.reach);
    let widest = grouped(whole).len();
    let mut row = |bytes: u64, what: &str| {
        let (number, share, bar) = (grouped(bytes), share(bytes, whole), bar(bytes, whole));
        let row = format!("      {number:>widest$} {DIM}{share:>6}{DIM:#}  {bar} {what}");
        Ok::<(), Problem>(writeln!(out, "{row}")?)
    };
    if let Some(planned) = arena.planned {
        row(planned, "planned")?;
    }
    let tensors = memory.tensors(arena);
    if tensors.is_empty() {
        return Ok(writeln!(out, "      {DIM}no tensor is planned into it{DIM:#}")?);
    }
    let at = match arena.peak_pc {
        Some(pc) => {
            let (place, does) = (method.place(pc), method.does(pc)?);
            format!(" {DIM}at {place}:{DIM:#} {NAME}{}{NAME:#}", name(&does))
        }
        None => String::new(),
    };
    row(arena.peak, &format!("live at the peak{at}"))?;
    if arena.fragmentation() > 0 {
        let share = share(arena.fragmentation(), arena.reach);
        let what = format!("never live at once, {share} of the reach");
        row(arena.fragmentation(), &format!("fragmentation {DIM}{what}{DIM:#}"))?;
    }
    if let Some(slack) = arena.slack().filter(|&slack| slack > 0) {
        row(slack, &format!("slack {DIM}behind the last tensor{DIM:#}"))?;
    }
    if arena.gaps() > 0 {
        row(arena.gaps(), &format!("gaps {DIM}that no tensor ever has{DIM:#}"))?;
    }
    let live = method.at_peak(arena);
    let listed = live.get(..live.len().min(MOST_TENSORS)).unwrap_or_default();
    for line in chart::draw(method, arena, listed) {
        writeln!(out, "      {line}")?;
    }
    show_live(out, method, arena, &live)
}

fn show_live(
    out: &mut Output,
    method: &Method<'_, '_>,
    arena: &PlannedArena<'_>,
    live: &[&PlannedTensor],
) -> Result<(), Problem> {
    let listed = live.get(..live.len().min(MOST_TENSORS)).unwrap_or_default();
    let bytes = |tensor: &PlannedTensor| grouped(tensor.bytes.unwrap_or_default());
    let widest = listed.iter().map(|tensor| bytes(tensor).len()).max().unwrap_or_default();
    for (tensor, letter) in listed.iter().zip(chart::letters()) {
        let (bytes, title) = (bytes(tensor), method.title(tensor.value)?);
        let (role, life) = (tensor.role.name(), method.live_range(tensor.live_range));
        let at = grouped(tensor.offset);
        let role = if role == "scratch" { String::new() } else { format!(", {role}") };
        writeln!(
            out,
            "      {letter} {bytes:>widest$}  {title} {DIM}at {at}, {life}{role}{DIM:#}"
        )?;
    }
    let rest = live.get(listed.len()..).unwrap_or_default();
    if !rest.is_empty() {
        let sum = rest.iter().filter_map(|tensor| tensor.bytes).fold(0, u64::saturating_add);
        let (rest, sum) = (count(wide(rest.len()), "smaller one"), sum_of(sum));
        writeln!(out, "      {DIM}… and {rest}, {sum} bytes{DIM:#}")?;
    }
    let tensors = method.memory.tensors(arena);
    let views = tensors.iter().filter(|tensor| tensor.is_view);
    let (number, _) = total(views);
    if number > 0 {
        let views = count(number, "view");
        let what = "of other tensors: no separate memory";
        writeln!(out, "      {DIM}{views} {what}{DIM:#}")?;
    }
    let never = tensors.iter().filter(|tensor| !tensor.is_view && tensor.live_range.is_none());
    let (number, sum) = total(never);
    if number > 0 {
        let (never, sum) = (count(number, "planned tensor"), sum_of(sum));
        writeln!(out, "      {DIM}{never} that nothing uses, {sum} bytes{DIM:#}")?;
    }
    Ok(())
}

/// Returns the number of tensors and the sum of their bytes.
fn total<'t>(tensors: impl Iterator<Item = &'t PlannedTensor>) -> (u64, u64) {
    tensors.fold((0, 0), |(number, sum), tensor| {
        (number.saturating_add(1), sum.saturating_add(tensor.bytes.unwrap_or_default()))
    })
}

/// Shows the memory that is not in arenas.
fn show_rest(out: &mut Output, method: &Method<'_, '_>) -> Result<(), Problem> {
    let memory = method.memory;
    let outside = memory.outside();
    for (bytes, what) in [
        (outside.constants, "of constants in this file: mapped, in ROM, or in memory"),
        (outside.external, "of constants that a .ptd brings"),
        (outside.payloads, "of delegates' payloads: what backends make of them is not planned"),
        (method.scratch, "of scratch memory that a delegate asks for at each run"),
    ] {
        if bytes > 0 {
            writeln!(out, "    {DIM}and {} bytes {what}{DIM:#}", sum_of(bytes))?;
        }
    }
    let (mut ends, mut others) = ((0u64, 0u64), (0u64, 0u64));
    let mut unbounded = 0u64;
    for of in memory.unplanned() {
        let (number, sum) = if of.is_end { &mut ends } else { &mut others };
        *number = number.saturating_add(1);
        *sum = sum.saturating_add(of.bytes.unwrap_or_default());
        unbounded = unbounded.saturating_add(of.is_unbounded.into());
    }
    for ((number, bytes), noun, what) in [
        (ends, "input and output", "whose memory the caller brings"),
        (others, "tensor", "without a place: filled by moves, views or delegates"),
    ] {
        if number > 0 {
            let (bytes, noun) = (sum_of(bytes), plural(number, noun));
            writeln!(out, "    {DIM}and {bytes} bytes in {noun} {what}{DIM:#}")?;
        }
    }
    if unbounded > 0 {
        let unbounded = count(unbounded, "tensor");
        writeln!(out, "    {WARNING}{unbounded} without a bound{WARNING:#}")?;
    }
    Ok(())
}

/// Returns a sum in words. A saturated sum is shown as a lower bound.
fn sum_of(bytes: u64) -> String {
    match bytes {
        u64::MAX => format!("{} or more", grouped(bytes)),
        bytes => grouped(bytes),
    }
}

fn plural(number: u64, noun: &str) -> String {
    match noun {
        "input and output" if number == 1 => "1 input or output".into(),
        "input and output" => format!("{} inputs and outputs", grouped(number)),
        noun => count(number, noun),
    }
}

/// The maximum number of methods and arenas that are shown, and of tensors of each peak.
const MOST_SHOWN: usize = 64;
const MOST_ARENAS: usize = 16;
const MOST_TENSORS: usize = 10;
