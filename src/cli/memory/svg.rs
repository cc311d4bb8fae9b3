//! Arenas as SVG. Time goes across and bytes go up. Each tensor is a rectangle, and live bytes are
//! below.
//!
//! The picture has no links and no scripts. Its colours follow the reader's theme.

use core::cmp::Reverse;
use core::fmt::Write;
use std::collections::{BTreeMap, BTreeSet};

use pte::memory::{Memory, PlannedArena, PlannedTensor, TensorRole};
use pte::quoted::{UntrustedString, is_harmless};

use super::method::{self, Method};
use super::{Show, Subject};
use crate::input::Readable;
use crate::output::Output;
use crate::problem::Problem;
use crate::text::{self, count, grouped};

/// The colours of the picture. Viewers that do not support variables use the first of two colours.
const STYLE: &str = "\
.mem{--bg:#fff;--fg:#1c1e21;--dim:#5b6068;--panel:#f3f4f6;--grid:#d9dce1;--live:#64748b;--peak:#c00;\
--input:#4c9f70;--output:#d98c3f;--state:#8c6bb1;--scratch:#5b8def}\
@media(prefers-color-scheme:dark){.mem{--bg:#15171a;--fg:#e6e7ea;--dim:#a2a8b1;--panel:#1e2125;\
--grid:#363a41;--live:#94a3b8;--peak:#ff6b6b;--input:#5dbb85;--output:#e8a35a;--state:#a88bd0;\
--scratch:#7aa5f7}}\
.mem{font:12px sans-serif;fill:#1c1e21;fill:var(--fg)}.mem .bg{fill:#fff;fill:var(--bg)}\
.mem .panel{fill:#f3f4f6;fill:var(--panel)}.mem .dim{fill:#5b6068;fill:var(--dim);font-size:11px}\
.mem .grid{stroke:#d9dce1;stroke:var(--grid);fill:none}\
.mem .t{fill-opacity:.65;stroke:#1c1e21;stroke:var(--fg);stroke-width:.5}\
.mem .input{fill:#4c9f70;fill:var(--input)}.mem .output{fill:#d98c3f;fill:var(--output)}\
.mem .state{fill:#8c6bb1;fill:var(--state)}.mem .scratch{fill:#5b8def;fill:var(--scratch)}\
.mem .view{fill:none;stroke:#1c1e21;stroke:var(--fg);stroke-dasharray:3 2;pointer-events:all}\
.mem .live{fill:#64748b;fill:var(--live);fill-opacity:.5;stroke:#64748b;stroke:var(--live)}\
.mem .peak{stroke:#c00;stroke:var(--peak);stroke-dasharray:4 3;fill:none}.mem .l{font-size:10px;pointer-events:none}";

/// A picture that is partly drawn.
#[derive(Default)]
pub(super) struct Svg {
    /// The elements drawn so far. They are written last, since the header has the total height.
    body: String,
    height: u32,
    rectangles: usize,
    panels: usize,
    /// The number of tensors that are not drawn, since they exceed the limit.
    tensors_left: u64,
    /// The number of arenas that are not drawn, since they exceed the limit.
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
        if self.panels == 0 && !method.memory.arenas().is_empty() {
            self.legend();
        }
        self.method(method)
    }

    fn end(&mut self, out: &mut Output) -> Result<(), Problem> {
        self.left_out();
        let (width, height) = (WHOLE_WIDTH, self.height.saturating_add(10));
        let title = escaped(&self.title);
        let head = format!(
            "<svg class=\"mem\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n\
             <rect class=\"bg\" width=\"{width}\" height=\"{height}\"/>\n\
             <text x=\"20\" y=\"24\" font-size=\"16\">{title}</text>\n"
        );
        out.bytes(head.as_bytes())?;
        out.bytes(self.body.as_bytes())?;
        out.bytes(b"</svg>\n")
    }
}

impl Svg {
    /// Adds the arenas of a method.
    fn method(&mut self, method: &Method<'_, '_>) -> Result<(), Problem> {
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

    /// Adds the legend of the colours.
    fn legend(&mut self) {
        self.height = self.height.saturating_add(20);
        let (mut x, y) = (20u32, self.height.saturating_sub(14));
        for (class, text) in [
            ("t input", "input"),
            ("t output", "output"),
            ("t state", "state"),
            ("t scratch", "scratch"),
            ("view", "view"),
            ("live", "live bytes"),
        ] {
            let (right, below) = (x.saturating_add(16), y.saturating_add(10));
            self.add(&format!(
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\"/>\
                 <text x=\"{right}\" y=\"{below}\">{text}</text>"
            ));
            let letters = u32::try_from(text.len()).unwrap_or_default();
            x = right.saturating_add(letters.saturating_mul(7)).saturating_add(16);
        }
        let (middle, below) = (y.saturating_add(6), y.saturating_add(10));
        let (end, right) = (x.saturating_add(16), x.saturating_add(20));
        self.add(&format!(
            "<path class=\"peak\" d=\"M{x} {middle}H{end}\"/>\
             <text x=\"{right}\" y=\"{below}\">peak</text>"
        ));
    }

    /// Adds the numbers of tensors and arenas that exceed the limits.
    fn left_out(&mut self) {
        if self.tensors_left > 0 {
            let left = count(self.tensors_left, "tensor");
            self.line(20, &format!("{left} not drawn: those with the fewest bytes."));
        }
        if self.arenas_left > 0 {
            let left = count(self.arenas_left, "arena");
            self.line(20, &format!("{left} more not drawn."));
        }
    }

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
        let whole = arena.reach.max(arena.planned.unwrap_or_default());
        // A planned size far above the reach would make the tensors too small to see.
        let whole = whole.min(arena.reach.saturating_mul(2)).max(1);
        let panel = Panel { top: self.height, whole, instructions };
        self.byte_axis(&panel);
        let mut largest: Vec<_> =
            tensors.iter().filter(|of| of.live_range.is_some() && !of.is_view).collect();
        largest.sort_by_key(|tensor| Reverse(tensor.bytes));
        let room = MOST_RECTANGLES.saturating_sub(self.rectangles);
        let left = u64::try_from(largest.len().saturating_sub(room)).unwrap_or(u64::MAX);
        self.tensors_left = self.tensors_left.saturating_add(left);
        largest.truncate(room);
        let views = views(&largest, instructions);
        for tensor in largest {
            self.rectangles = self.rectangles.saturating_add(1);
            self.tensor(method, tensor, &panel, views.contains(&tensor.value))?;
        }
        self.height = self.height.saturating_add(HEIGHT).saturating_add(6);
        self.live_bytes(memory, arena, &panel);
        if let Some(pc) = arena.peak_pc {
            let (x, top, bottom) = (panel.middle(pc), panel.top, self.height);
            self.add(&format!("<path class=\"peak\" d=\"M{x} {top}V{bottom}\"/>"));
        }
        self.time_axis(method, &panel);
        self.height = self.height.saturating_add(8);
        Ok(())
    }

    /// Adds the panel, with lines at round numbers of bytes.
    fn byte_axis(&mut self, panel: &Panel) {
        let top = panel.top;
        self.add(&format!(
            "<rect class=\"panel\" x=\"{LEFT}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>"
        ));
        let (step, right) = (step(panel.whole, 5), LEFT.saturating_add(WIDTH));
        let mut bytes = 0u64;
        while bytes <= panel.whole {
            let tenths_y = panel.y(bytes);
            let (y, below) = (tenths(tenths_y), tenths(tenths_y.saturating_add(40)));
            let x = LEFT.saturating_sub(6);
            self.add(&format!(
                "<path class=\"grid\" d=\"M{LEFT} {y}H{right}\"/>\
                 <text class=\"dim\" x=\"{x}\" y=\"{below}\" text-anchor=\"end\">{}</text>",
                grouped(bytes)
            ));
            let Some(next) = bytes.checked_add(step) else { break };
            bytes = next;
        }
    }

    /// Draws the indices of instructions along the time axis, and ends the panel.
    fn time_axis(&mut self, method: &Method<'_, '_>, panel: &Panel) {
        let Some(last) = panel.instructions.checked_sub(1) else { return };
        self.height = self.height.saturating_add(14);
        let y = self.height;
        let step = step(panel.instructions.into(), 12).max(1);
        let step = usize::try_from(step).unwrap_or(usize::MAX);
        for pc in (0..=last).step_by(step) {
            let (x, place) = (panel.middle(pc), method.place(pc));
            self.add(&format!(
                "<text class=\"dim\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{place}</text>"
            ));
        }
        self.add(&format!(
            "<text class=\"dim\" x=\"{}\" y=\"{y}\" text-anchor=\"end\">instruction</text>",
            LEFT.saturating_sub(6)
        ));
    }

    /// Adds a tensor, with its name if it fits.
    fn tensor(
        &mut self,
        method: &Method<'_, '_>,
        tensor: &PlannedTensor,
        panel: &Panel,
        is_view: bool,
    ) -> Result<(), Problem> {
        let Some(life) = tensor.live_range else { return Ok(()) };
        let ((first, last), (begin, end)) = (life.span(panel.instructions), tensor.range());
        let (x, right) = (panel.x(first), panel.x(last.saturating_add(1)));
        let (y, bottom) = (panel.y(end), panel.y(begin));
        let (width, height) = (right.saturating_sub(x).max(1), bottom.saturating_sub(y).max(1));
        let name = method.title(tensor.value)?;
        let bytes = grouped(tensor.bytes.unwrap_or_default());
        let (offset, role) = (grouped(tensor.offset), tensor.role.name());
        let life = method.live_range(tensor.live_range);
        let what = if is_view { format!("view, {role}") } else { role.to_string() };
        let title = format!("{name}, {what}: {bytes} bytes at {offset}, {life}");
        let class = if is_view { "view".to_string() } else { format!("t {role}") };
        self.add(&format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">\
             <title>{}</title></rect>",
            tenths(x),
            tenths(y),
            tenths(width),
            tenths(height),
            escaped(&title),
        ));
        let number = format!("v{}", tensor.value);
        let fits = |text: &str| {
            let letters = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
            letters.saturating_mul(62).saturating_add(60) <= width && height >= 110
        };
        let long = name.strip_prefix("value ").map(|name| format!("v{name}"));
        let label = long.into_iter().chain([number]).find(|label| fits(label));
        if let Some(label) = label.filter(|_| !is_view) {
            let middle = y.saturating_add(height / 2).saturating_add(35);
            self.add(&format!(
                "<text class=\"l\" x=\"{}\" y=\"{}\">{}</text>",
                tenths(x.saturating_add(30)),
                tenths(middle),
                escaped(&label)
            ));
        }
        Ok(())
    }

    /// Adds the curve of live bytes below the panel.
    fn live_bytes(&mut self, memory: &Memory<'_>, arena: &PlannedArena<'_>, panel: &Panel) {
        let top = self.height;
        let floor = top.saturating_add(LIVE_HEIGHT);
        self.height = floor;
        self.add(&format!(
            "<rect class=\"panel\" x=\"{LEFT}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{LIVE_HEIGHT}\"/>"
        ));
        let (label_x, label_y) = (LEFT.saturating_sub(6), top.saturating_add(10));
        self.add(&format!(
            "<text class=\"dim\" x=\"{label_x}\" y=\"{label_y}\" text-anchor=\"end\">{}</text>\
             <text class=\"dim\" x=\"{label_x}\" y=\"{floor}\" text-anchor=\"end\">live</text>",
            grouped(arena.peak)
        ));
        let floor_tenths = u64::from(floor).saturating_mul(10);
        // For each tenth of a pixel, the maximum and the last number of bytes.
        let mut heights: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for (pc, bytes) in memory.live_bytes(arena) {
            let x = panel.x(pc.min(panel.instructions.max(1)));
            let height = heights.entry(x).or_default();
            *height = (height.0.max(bytes), bytes);
        }
        let y = |bytes: u64| {
            let up = scaled(bytes, arena.peak.max(1), LIVE_HEIGHT);
            tenths(floor_tenths.saturating_sub(up))
        };
        let mut path = format!("M{LEFT} {floor}");
        for (x, (most, last)) in heights {
            // Writing to a string cannot fail.
            let _ = write!(path, "H{}V{}", tenths(x), y(most));
            if last != most {
                let _ = write!(path, "V{}", y(last));
            }
        }
        let right = LEFT.saturating_add(WIDTH);
        self.add(&format!("<path class=\"live\" d=\"{path}H{right}V{floor}Z\"/>"));
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

/// Returns the length that corresponds to the share `part` / `of`, in tenths.
fn scaled(part: u64, of: u64, length: u32) -> u64 {
    let tenths = u128::from(part).saturating_mul(u128::from(length).saturating_mul(10));
    u64::try_from(tenths.checked_div(of.into()).unwrap_or_default()).unwrap_or(u64::MAX)
}

fn tenths(number: u64) -> String {
    format!("{}.{}", number / 10, number % 10)
}

/// The scale of an arena's picture. Coordinates are in tenths of a pixel.
struct Panel {
    top: u32,
    /// The number of bytes that the height shows.
    whole: u64,
    /// The number of instructions that the width shows.
    instructions: u32,
}

impl Panel {
    /// Returns the position at which an instruction begins.
    fn x(&self, pc: u32) -> u64 {
        let across = scaled(pc.into(), self.instructions.max(1).into(), WIDTH);
        across.saturating_add(u64::from(LEFT).saturating_mul(10))
    }

    /// Returns the middle of an instruction, in pixels.
    fn middle(&self, pc: u32) -> String {
        let (begin, end) = (self.x(pc), self.x(pc.saturating_add(1)));
        tenths(begin.saturating_add(end) / 2)
    }

    /// Returns the vertical position of an offset.
    fn y(&self, bytes: u64) -> u64 {
        let down = scaled(self.whole.saturating_sub(bytes.min(self.whole)), self.whole, HEIGHT);
        down.saturating_add(u64::from(self.top).saturating_mul(10))
    }
}

/// Returns a distance of 1, 2 or 5 times a power of ten. At most `most` of them fit into `whole`.
fn step(whole: u64, most: u64) -> u64 {
    let mut power = 1u64;
    loop {
        for factor in [1u64, 2, 5] {
            let step = power.saturating_mul(factor);
            if step == u64::MAX || whole.checked_div(step).unwrap_or_default() <= most {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// The value of a tensor, and the first and the last instruction of its live range.
type Life = (u32, u32, u32);

/// Returns the tensors at the place of another tensor which is already live when they begin.
fn views(tensors: &[&PlannedTensor], instructions: u32) -> BTreeSet<u32> {
    let mut places: BTreeMap<(u64, u64), Vec<Life>> = BTreeMap::new();
    for tensor in tensors.iter().filter(|tensor| tensor.role == TensorRole::Scratch) {
        if let Some((first, last)) = tensor.live_range.map(|range| range.span(instructions)) {
            places.entry(tensor.range()).or_default().push((tensor.value, first, last));
        }
    }
    let mut views = BTreeSet::new();
    for mut tensors in places.into_values() {
        tensors.sort_unstable_by_key(|&(value, first, _)| (first, value));
        let mut before: Option<(u32, u32)> = None;
        for (value, first, last) in tensors {
            // A tensor may begin at the instruction where another one ends.
            if before.is_some_and(|(begin, end)| first < end || first == begin) {
                views.insert(value);
            }
            before = Some((first, before.map_or(last, |(_, end)| end.max(last))));
        }
    }
    views
}

/// Returns text with special characters as XML entities.
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

/// The sizes of the picture of an arena, in pixels.
const LEFT: u32 = 90;
const WIDTH: u32 = 880;
const WHOLE_WIDTH: u32 = 990;
const HEIGHT: u32 = 240;
const LIVE_HEIGHT: u32 = 48;

/// The maximum number of rectangles that are drawn.
const MOST_RECTANGLES: usize = 4000;
/// The maximum number of arenas that are drawn.
const MOST_PANELS: usize = 100;
