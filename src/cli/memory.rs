//! `pte memory`: the memory plans of methods, live ranges, and the tensors of each peak.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pte::check::{NEWEST, Release, parse_release};
use pte::memory::{
    Budget, DocumentWriter, Limited, Memory as Planned, MethodDocument, PointerWidth, Pool, Pools,
    Target,
};
use pte::payload::Scratch;
use pte::quoted::UntrustedString;
use pte::{File, Limits};

use self::method::Method;
use super::Common;
use super::byte_size::ByteSize;
use super::config::ConfigArguments;
use super::format::{Format, Formats};
use super::input::{self, Input, Readable, plans};
use super::output::{Content, Output};
use super::problem::{Problem, Status, bad_news, note};
use super::refusal;
use super::text::{grouped, name};

mod chart;
mod lines;
mod method;
mod pools;
mod show;
mod svg;

/// Show memory plans, pool sizes, live ranges, and the tensors of each peak
///
/// For each arena: planned bytes, the greatest end of a tensor, the peak and its instruction, and
/// the tensors that are live at the peak. A tensor is live from the instruction that defines it to
/// the last that uses it; inputs from the start, outputs to the end, state throughout. Instructions
/// count in the order of the file. A tensor that a loop carries is live in the whole loop. A tensor
/// that one branch writes and the code after the join reads is live in the other branch too. So
/// with jumps a peak may be too high and is never too low. Dynamic sizes count at their upper
/// bounds. Constants and payloads of delegates are shown as sums: the loader decides whether they
/// take memory.
///
/// Below the arenas are the sizes of the other two pools that firmware gives the runtime: the method
/// allocator, for the runtime's structures, and the temporary allocator, for scratch memory. They are
/// exact for the runtime's own bytes. What backends and kernels take of them is exact, "at most", or
/// not known. Not counted: what backends take of the heap.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte memory model.pte
  pte memory model.pte --method forward --svg -o memory.svg
  pte memory model.pte --budget 1=512KiB --budget 2=8MB     exit status 1 if an arena is larger
  pte memory model.pte --budget 1MB                         or all arenas of a method together
  pte memory model.pte --bits 32 --runtime 1.1              the pools of firmware
  pte memory model.pte --bits 32 --budget method=64KiB,temp=16KiB,planned0=512KiB
  pte memory --json model.pte | jq '.methods[].arenas[] | [.id, .planned, .peak]'

The picture has time across and bytes up. Letters are the tensors of the list below it, \u{2591} are
others, ^ is the peak. The line below it has the bytes that are live at each time, relative to the
peak. The picture is as wide as the terminal, from 40 to 240 columns (COLUMNS, else 80).

JSON, \"schema\": \"pte.memory/1\":
  path, kind    of the file; a .ptd has no methods
  named_data    bytes that delegates ask for by key
  method_count  of those that were asked for; methods has the first 1,024
  methods    name, instructions, planned (bytes of all arenas), over (the budget), arenas, unplanned
             (tensors without a place: value, dtype, sizes, bytes, end: whether it is an input or
             an output, unbounded), outside (bytes: constants, external, payloads, scratch), pools
  arenas     id, device (kind, index), planned (null: it is not declared), reach (the end of the
             last tensor), peak (most bytes live at once), peak_at (chain, instruction, does: name
             of the operator), slack (planned - reach; null: tensors reach past what is planned, or
             nothing is), fragmentation (reach - peak), gaps (bytes of the reach that no tensor
             ever has), over (the budget), tensors. Sums saturate at 2^64-1
  tensors    value, name, dtype, sizes, bytes, offset, role: scratch, input, output, state; lives:
             first and last with chain and instruction, null for before the first and after the
             last one; no lives for what nothing uses; view: true if it is only a view of other
             tensors, and its own place is never used
  pools      for each width of pointers: runtime (release), bits, method and temporary (the two
             allocators), without_temporary (bytes of the method allocator without the other one);
             of an allocator bytes, exact, over (the budget), parts (name, bytes, null: not known
             and not counted, bound: true if it may be less). Those of the temporary allocator are
             in use one after the other: bytes is the largest

Exit status: 0 shown, 1 over a budget, not in the file or broken, 2 usage, or a budget of an arena that
no shown method has, 3 not readable")]
pub(super) struct Memory {
    /// Programs, or - for standard input. Of several, JSON and SVG are a document for each.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only this method.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// Fail if a pool of a method is larger: bytes, or with a unit such as kB, MB, KiB, MiB. POOL is the
    /// id of an arena, method, temp, or planned0 for the first arena, planned1 and so on. Without it, all
    /// arenas and delegates' scratch memory together.
    #[arg(long, value_name = "[POOL=]SIZE", value_parser = budget, value_delimiter = ',')]
    budget: Vec<Budget>,
    /// The release of the runtime whose pools are shown, such as 1.1. 0.7 is the first one. The
    /// default is the newest.
    #[arg(long, value_name = "VERSION", value_parser = runtime)]
    runtime: Option<Release>,
    /// Only the pools of a runtime whose pointers have this width. A budget is compared with the largest
    /// pool that is shown.
    #[arg(long, value_name = "BITS")]
    bits: Option<Bits>,
    #[command(flatten)]
    pub(super) format: Format<MemoryFormat>,
    /// Short for --format svg.
    #[arg(long, conflicts_with_all = ["format", "json"])]
    svg: bool,
    #[command(flatten)]
    config: ConfigArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MemoryFormat {
    Text,
    Json,
    /// The picture of each arena.
    Svg,
}

impl Formats for MemoryFormat {
    const JSON: Self = Self::Json;
}

/// The width of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Bits {
    /// Arm, RISC-V and Xtensa, which align 64-bit numbers to 8 bytes.
    #[value(name = "32")]
    Bits32,
    #[value(name = "64")]
    Bits64,
}

/// Parses a release whose pools are known.
fn runtime(text: &str) -> Result<Release, String> {
    let release = parse_release(text).map_err(|error| error.to_string())?;
    let known = Target::new(release, PointerWidth::Bits64).is_some() && release <= NEWEST;
    let (major, minor) = NEWEST;
    known.then_some(release).ok_or_else(|| format!("pools are known from 0.7 to {major}.{minor}"))
}

/// Parses a budget: a size, or the name of a pool with its size.
fn budget(text: &str) -> Result<Budget, String> {
    let (of, size) = match text.split_once('=') {
        None => (Limited::All, text),
        Some(("method", size)) => (Limited::Method, size),
        Some(("temp", size)) => (Limited::Temporary, size),
        Some((name, size)) => {
            let (digits, first) = name.strip_prefix("planned").map_or((name, 0), |of| (of, 1));
            let plain = digits.bytes().all(|c| c.is_ascii_digit());
            let number: Option<u32> = digits.parse().ok().filter(|_| plain);
            let id = number.and_then(|number| number.checked_add(first)).filter(|&id| id > 0);
            let wrong =
                || "a pool is method, temp, planned0 and so on, or the id of an arena, from 1 on";
            (Limited::Arena(id.ok_or_else(wrong)?), size)
        }
    };
    let ByteSize(bytes) = size.parse()?;
    Ok(Budget { of, bytes })
}

/// A format of memory plans.
trait Show {
    fn begin(
        &mut self,
        out: &mut Output,
        path: &UntrustedString,
        of: &Subject,
    ) -> Result<(), Problem>;
    fn method(&mut self, out: &mut Output, method: &Method<'_, '_>) -> Result<(), Problem>;
    fn end(&mut self, out: &mut Output) -> Result<(), Problem>;
}

/// Facts about a file that are shown before its methods.
struct Subject<'f> {
    file: File<'f>,
    /// The number of requested methods.
    methods: usize,
    /// The number of requested methods that are shown.
    shown: usize,
    bytes: u64,
}

impl Memory {
    fn format(&self) -> MemoryFormat {
        if self.svg { MemoryFormat::Svg } else { self.format.chosen() }
    }

    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let budgets = self.budgets(common)?;
        input::once(&self.files)?;
        let content = match self.format() {
            MemoryFormat::Text => Content::Text,
            MemoryFormat::Json | MemoryFormat::Svg => Content::Plain,
        };
        let out = Output::beside(common.output.as_deref(), content, &self.files)?.with_answer();
        let mut judge = Judge { budgets: &budgets, met: Vec::new(), over: 0, quiet: common.quiet };
        let open = |path: &Path| self.open(path, !budgets.is_empty(), common);
        let status = out.finish_with(|out| {
            refusal::show_each(&self.files, self.format.is_json(), out, open, |file, out| {
                self.show(file, out, &mut judge)
            })
        })?;
        judge.end().map(|judged| judged.max(status))
    }

    /// Opens a file, which must have a method to show or to compare with a budget if one is asked for.
    fn open(&self, path: &Path, has_budget: bool, common: &Common) -> Result<Opened, Problem> {
        let input = Input::open(path, &common.limits())?;
        let scratch = Scratch::read(&input.opened, &common.limits());
        let scratch = scratch.map_err(|error| Problem::open(&input.name, error))?;
        match &self.method {
            Some(method) => input.has_method(method)?,
            None if has_budget && plans(&input.opened.file(), None).next().is_none() => {
                return Err(input.absent("there is no method to compare with the budget".into()));
            }
            None => {}
        }
        Ok((input, scratch))
    }

    fn show(
        &self,
        (input, scratch): &Opened,
        out: &mut Output,
        judge: &mut Judge<'_>,
    ) -> Result<(), Problem> {
        let file = input.opened.file();
        let plans = || plans(&file, self.method.as_deref());
        let subject = Subject {
            file: input.opened.file(),
            methods: plans().count(),
            shown: plans().count().min(MOST_METHODS),
            bytes: input.opened.file_len(),
        };
        let mut show: Box<dyn Show> = match self.format() {
            MemoryFormat::Json => Box::new(lines::Lines::default()),
            MemoryFormat::Svg => Box::new(svg::Svg::default()),
            MemoryFormat::Text => Box::new(show::Text::new()),
        };
        show.begin(out, &input.name, &subject)?;
        if let File::Pte(pte) = &file {
            for (nth, plan) in plans().enumerate() {
                let memory = &Planned::of(pte, plan);
                let pools = self.targets().map(|target| Pools::of(pte, plan, scratch, target));
                let (pools, budgets) = (&pools.collect::<Vec<_>>(), judge.budgets);
                let scratch = scratch.of(pte, plan);
                let method = Method { input, memory, pools, budgets, scratch };
                judge.method(&method)?;
                if nth < subject.shown {
                    show.method(out, &method)?;
                }
            }
        }
        show.end(out)
    }
}

impl Memory {
    /// Returns the budgets from the arguments, or else from the settings.
    fn budgets(&self, common: &Common) -> Result<Vec<Budget>, Problem> {
        let config = self.config.read(common)?;
        if !self.budget.is_empty() {
            return Ok(self.budget.clone());
        }
        let invalid = |error| Problem::Usage(format!("memory.budget in pte.toml: {error}").into());
        let texts = config.memory.budget.iter().flat_map(|text| text.split(','));
        texts.map(|text| budget(text).map_err(invalid)).collect()
    }

    /// Returns the runtimes whose pools are shown.
    fn targets(&self) -> impl Iterator<Item = Target> {
        targets(self.runtime.unwrap_or(NEWEST), self.bits)
    }
}

/// Returns the builds of a release, with pointers of these bits or of any.
fn targets(release: Release, bits: Option<Bits>) -> impl Iterator<Item = Target> {
    let shown = PointerWidth::ALL.into_iter().filter(move |width| match bits {
        Some(Bits::Bits32) => *width == PointerWidth::Bits32,
        Some(Bits::Bits64) => *width == PointerWidth::Bits64,
        None => true,
    });
    shown.filter_map(move |width| Target::new(release, width))
}

/// Writes the document of a file, as `pte memory --json` does. If the tensors have more than about `room` bytes, it has
/// the largest of each arena. Returns the number of those that are left out.
pub(super) fn write_largest(
    input: &Input,
    limits: &Limits,
    room: usize,
    out: &mut impl io::Write,
) -> Result<u64, Problem> {
    let scratch = Scratch::read(&input.opened, limits);
    let scratch = scratch.map_err(|error| Problem::open(&input.name, error))?;
    let failed = |error| Problem::io(input.name.clone(), error);
    let file = input.opened.file();
    let count = plans(&file, None).count();
    let mut document = DocumentWriter::begin(out, &input.name, &file, count).map_err(failed)?;
    let (room, mut left_out) = (room.checked_div(count).unwrap_or(room), 0usize);
    if let File::Pte(pte) = &file {
        for plan in plans(&file, None).take(MOST_METHODS) {
            let memory = &Planned::of(pte, plan);
            let pools = targets(NEWEST, None).map(|target| Pools::of(pte, plan, &scratch, target));
            let pools: Vec<_> = pools.collect();
            let most = most_tensors(memory, room);
            let tensors = memory.arenas().iter().map(|arena| memory.tensors(arena).len());
            left_out =
                tensors.map(|len| len.saturating_sub(most)).fold(left_out, usize::saturating_add);
            let method = MethodDocument::new(memory, scratch.of(pte, plan)).with_pools(&pools);
            let method = method.with_largest(most);
            method.charge_names(|name| input.name_again(Some(name)))?;
            document.method(out, &method).map_err(failed)?;
        }
    }
    document.end(out).map_err(failed)?;
    Ok(u64::try_from(left_out).unwrap_or(u64::MAX))
}

/// Returns the most tensors of each arena with which a document has about `room` bytes.
fn most_tensors(memory: &Planned<'_>, room: usize) -> usize {
    let filled = memory.arenas().iter().filter(|arena| !memory.tensors(arena).is_empty());
    let (mut arenas, mut longest) = (0usize, 0);
    for arena in filled {
        arenas = arenas.saturating_add(1);
        let names = memory.tensors(arena).iter().filter_map(|of| memory.tensor_name(of.value));
        longest = names.map(str::len).fold(longest, usize::max);
    }
    let row = TENSOR_ROW.saturating_add(longest.min(1000));
    room.checked_div(arenas).unwrap_or(room).checked_div(row).unwrap_or(1).max(1)
}

/// About the bytes of a tensor in a document, without its name.
const TENSOR_ROW: usize = 180;

/// An open file, and the scratch memory of its payloads.
type Opened = (Input, Scratch);

/// Compares memory plans and pools with budgets.
struct Judge<'b> {
    budgets: &'b [Budget],
    /// The arenas with budgets that exist in at least one method.
    met: Vec<u32>,
    over: u64,
    quiet: bool,
}

impl Judge<'_> {
    fn method(&mut self, method: &Method<'_, '_>) -> Result<(), Problem> {
        for budget in self.budgets {
            let largest = |pool: fn(&Pools) -> &Pool| {
                let pools = method.pools.iter().map(pool);
                pools.max_by_key(|pool| pool.bytes)
            };
            let (what, needed) = match budget.of {
                Limited::All if method.scratch > 0 => {
                    ("all arenas and scratch memory".into(), method.document().needed())
                }
                Limited::All => ("all arenas".into(), method.document().needed()),
                Limited::Arena(id) => {
                    let mut arenas = method.memory.arenas().iter();
                    let Some(arena) = arenas.find(|arena| arena.id == id) else { continue };
                    if !self.met.contains(&id) {
                        self.met.push(id);
                    }
                    (format!("arena {id}"), arena.needed())
                }
                Limited::Method => self.pool(method, "method allocator", largest(|of| &of.method)),
                Limited::Temporary => {
                    self.pool(method, "temporary allocator", largest(|of| &of.temporary))
                }
            };
            let Some(over) = needed.checked_sub(budget.bytes).filter(|&over| over > 0) else {
                continue;
            };
            self.over = self.over.saturating_add(1);
            if self.over > MOST_OVER {
                continue;
            }
            let called = method.memory.plan().name();
            method.input.name_again(called)?;
            bad_news(&format!(
                "{}: {}: {what}: {} bytes are {}, {} over the budget of {}",
                method.input.name,
                name(called.unwrap_or("(no name)")),
                grouped(needed),
                match budget.of {
                    Limited::All | Limited::Arena(_) => "planned",
                    Limited::Method | Limited::Temporary => "needed",
                },
                grouped(over),
                grouped(budget.bytes),
            ));
        }
        Ok(())
    }

    /// Returns the name of a pool and its bytes. Reports what a budget is not compared with.
    fn pool(&self, method: &Method<'_, '_>, what: &str, pool: Option<&Pool>) -> (String, u64) {
        let unknown: Vec<_> = pool.into_iter().flat_map(Pool::unknown).collect();
        if !unknown.is_empty() && !self.quiet {
            let (file, unknown) = (&method.input.name, unknown.join(", "));
            note(&format!("{file}: {what}: not counted, because it is not known: {unknown}"));
        }
        (what.into(), pool.map_or(0, |pool| pool.bytes))
    }

    /// Returns the verdict. A budget of an arena that no shown method has is a usage error, since
    /// such a check would always pass.
    fn end(self) -> Result<Status, Problem> {
        if let Some(more) = self.over.checked_sub(MOST_OVER).filter(|&more| more > 0) {
            bad_news(&format!("… and {} more", grouped(more)));
        }
        let mut arenas = self.budgets.iter().filter_map(|budget| match budget.of {
            Limited::Arena(id) => Some(id),
            _ => None,
        });
        if let Some(id) = arenas.find(|id| !self.met.contains(id)) {
            let message =
                format!("there is no arena {id}: give the budget of an arena that is shown");
            return Err(Problem::Usage(message.into()));
        }
        Ok(if self.over > 0 { Status::BadNews } else { Status::Good })
    }
}

/// The maximum number of methods that are shown. All methods are compared with the budgets.
const MOST_METHODS: usize = DocumentWriter::MOST_METHODS;

/// The maximum number of exceeded budgets that are reported.
const MOST_OVER: u64 = 20;

#[cfg(test)]
mod tests {
    use super::{Budget, Limited, budget};

    #[test]
    fn a_budget_is_of_a_pool_or_of_all_arenas() {
        for (text, of, bytes) in [
            ("512", Limited::All, 512),
            ("1=8KiB", Limited::Arena(1), 8192),
            ("2=1.5 MB", Limited::Arena(2), 1_500_000),
            ("4294967295=0", Limited::Arena(u32::MAX), 0),
            ("planned0=1k", Limited::Arena(1), 1000),
            ("planned1=1k", Limited::Arena(2), 1000),
            ("method=64k", Limited::Method, 64_000),
            ("temp=16KiB", Limited::Temporary, 16_384),
        ] {
            assert_eq!(budget(text), Ok(Budget { of, bytes }), "{text}");
        }
        for text in [
            "",
            "=1",
            "1=",
            "0=1",
            "-1=1",
            "+1=1",
            "1=2=3",
            "x=1",
            "4294967296=1",
            "planned=1",
            "planned-1=1",
            "planned4294967295=1",
            "methods=1",
            "temp=",
        ] {
            assert!(budget(text).is_err(), "{text}");
        }
    }
}
