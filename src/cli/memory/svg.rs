//! Arenas as SVG: time across, bytes up, a rectangle for each tensor.
//!
//! The picture has no links and no scripts.

use core::cmp::Reverse;

use pte::memory::{PlannedArena, PlannedTensor, TensorRole};
use pte::quoted::{UntrustedString, is_harmless};

use super::method::{self, Method};
use super::{Show, Subject};
use crate::cli::output::Output;
use crate::cli::problem::Problem;
use crate::cli::text::{self, count, grouped};

/// The picture as far as it is drawn.
#[derive(Default)]
pub(super) struct Svg {
    /// The elements so far. They are written last, since the header has the total height.
    body: String,
    height: u32,
    rectangles: usize,
    panels: usize,
    /// The number of tensors and arenas that exceed the limits.
    tensors_left: u64,
    arenas_left: u64,
    title: String,
}

impl Show for Svg {
    fn begin(
        &mut self,
        _: &mut Output,
        path: &UntrustedString,
        of: &Subject,
    ) -> Result<(), Problem> {
        self.title = format!("Planned memory of {path}");
        self.height = 40;
        if of.methods == 0 {
            self.line(20, "There are no methods, and so no memory is planned.");
        }
        Ok(())
    }

    fn method(&mut self, _: &mut Output, method: &Method<'_, '_>) -> Result<(), Problem> {
        let name = method.memory.plan().name().unwrap_or("(no name)");
        for arena in method.memory.arenas() {
            if self.panels >= MOST_PANELS {
                self.arenas_left = self.arenas_left.saturating_add(1);
                continue;
            }
            self.panels = self.panels.saturating_add(1);
            method.input.name_again(Some(name))?;
            self.arena(method, name, arena)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Output) -> Result<(), Problem> {
        if self.tensors_left > 0 {
            let left = count(self.tensors_left, "tensor");
            self.line(20, &format!("{left} not drawn: those with the fewest bytes."));
        }
        if self.arenas_left > 0 {
            let left = count(self.arenas_left, "arena");
            self.line(20, &format!("{left} more not drawn."));
        }
        let (width, height) = (WIDTH.saturating_add(40), self.height.saturating_add(10));
        let title = escaped(&self.title);
        let head = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <title>{title}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
             <text x=\"20\" y=\"24\" font-size=\"16\">{title}</text>\n"
        );
        out.bytes(head.as_bytes())?;
        out.bytes(self.body.as_bytes())?;
        out.bytes(b"</svg>\n")
    }
}

impl Svg {
    fn arena(
        &mut self,
        method: &Method<'_, '_>,
        name: &str,
        arena: &PlannedArena<'_>,
    ) -> Result<(), Problem> {
        let (memory, instructions) = (method.memory, method.memory.instruction_count());
        let on = method::device(arena).map(|(kind, index)| format!(" on {kind} {index}"));
        let planned = arena
            .planned
            .map_or("no size".into(), |size| format!("{} bytes planned", grouped(size)));
        let at = match arena.peak_pc {
            Some(pc) => {
                let does = method.does(pc)?;
                format!(" at {}: {}", method.place(pc), text::name(&does))
            }
            None => String::new(),
        };
        self.line(
            20,
            &format!(
                "{}, arena {}{}: {planned}, reach {}, peak {}{at}",
                text::name(name),
                arena.id,
                on.unwrap_or_default(),
                grouped(arena.reach),
                grouped(arena.peak),
            ),
        );
        let tensors = memory.tensors(arena);
        if tensors.is_empty() {
            return Ok(());
        }
        let top = self.height;
        let whole = arena.reach.max(arena.planned.unwrap_or_default());
        // A planned size far above the reach would make the tensors invisible.
        let whole = whole.min(arena.reach.saturating_mul(2)).max(1);
        let up = |bytes: u64| scaled(whole.saturating_sub(bytes.min(whole)), whole, HEIGHT);
        let across = |pc: u32| scaled(pc.into(), instructions.max(1).into(), WIDTH);
        self.add(&format!(
            "<rect x=\"20\" y=\"{top}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#f4f4f4\"/>"
        ));
        let mut largest: Vec<_> =
            tensors.iter().filter(|of| of.live_range.is_some() && !of.is_view).collect();
        largest.sort_by_key(|tensor| Reverse(tensor.bytes));
        let room = MOST_RECTANGLES.saturating_sub(self.rectangles);
        let left = u64::try_from(largest.len().saturating_sub(room)).unwrap_or(u64::MAX);
        self.tensors_left = self.tensors_left.saturating_add(left);
        for tensor in largest.into_iter().take(room) {
            let Some(life) = tensor.live_range else { continue };
            self.rectangles = self.rectangles.saturating_add(1);
            let ((first, last), (begin, end)) = (life.span(instructions), tensor.range());
            let (x, right) = (across(first), across(last.saturating_add(1)));
            let (y, bottom) = (up(end), up(begin));
            let (title, bytes) = (method.title(tensor.value)?, tensor.bytes.unwrap_or_default());
            let (bytes, offset) = (grouped(bytes), grouped(tensor.offset));
            let (life, role) = (method.live_range(tensor.live_range), method::role(tensor));
            let title = format!("{title}, {role}: {bytes} bytes at {offset}, {life}");
            self.add(&format!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" \
                 fill-opacity=\"0.7\" stroke=\"#333\" stroke-width=\"0.5\">\
                 <title>{}</title></rect>",
                tenths(x.saturating_add(200)),
                tenths(y.saturating_add(u64::from(top).saturating_mul(10))),
                tenths(right.saturating_sub(x).max(1)),
                tenths(bottom.saturating_sub(y).max(1)),
                colour(tensor),
                escaped(&title),
            ));
        }
        if let Some(pc) = arena.peak_pc {
            let middle = across(pc).saturating_add(across(pc.saturating_add(1))) / 2;
            let x = tenths(middle.saturating_add(200));
            let bottom = top.saturating_add(HEIGHT);
            self.add(&format!(
                "<path d=\"M{x} {top}V{bottom}\" stroke=\"#c00\" stroke-dasharray=\"4 3\"/>"
            ));
        }
        self.height = self.height.saturating_add(HEIGHT);
        if let Some(last) = instructions.checked_sub(1) {
            let (first, last) = (method.place(0), method.place(last));
            self.height = self.height.saturating_add(16);
            let y = self.height;
            let x = WIDTH.saturating_add(20);
            self.add(&format!(
                "<text x=\"20\" y=\"{y}\" fill=\"#666\">instruction {first}</text>\
                 <text x=\"{x}\" y=\"{y}\" fill=\"#666\" text-anchor=\"end\">{last}</text>"
            ));
        }
        self.height = self.height.saturating_add(8);
        Ok(())
    }

    /// Adds a line of text at the bottom.
    fn line(&mut self, x: u32, text: &str) {
        self.height = self.height.saturating_add(20);
        let y = self.height.saturating_sub(4);
        self.add(&format!("<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(text)));
    }

    fn add(&mut self, line: &str) {
        self.body.push_str(line);
        self.body.push('\n');
    }
}

/// Returns a share of a length, in tenths.
fn scaled(part: u64, of: u64, length: u32) -> u64 {
    let tenths = u128::from(part).saturating_mul(u128::from(length).saturating_mul(10));
    u64::try_from(tenths.checked_div(of.into()).unwrap_or_default()).unwrap_or(u64::MAX)
}

fn tenths(number: u64) -> String {
    format!("{}.{}", number / 10, number % 10)
}

fn colour(tensor: &PlannedTensor) -> &'static str {
    match tensor.role {
        TensorRole::Input => "#4c9f70",
        TensorRole::Output => "#d98c3f",
        TensorRole::State => "#8c6bb1",
        _ => "#5b8def",
    }
}

/// Returns text with XML entities.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if is_harmless(c) => out.push(c),
            // XML 1.0 cannot represent most control characters.
            c => out.extend(c.escape_default()),
        }
    }
    out
}

/// The size of the picture of an arena, in pixels.
const WIDTH: u32 = 960;
const HEIGHT: u32 = 240;

/// The most rectangles and arenas that are drawn.
const MOST_RECTANGLES: usize = 4000;
const MOST_PANELS: usize = 100;
