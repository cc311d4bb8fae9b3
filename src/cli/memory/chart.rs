//! Draws an arena with characters. Time goes across, and bytes go up.

use pte::memory::{PlannedArena, PlannedTensor};

use super::method::Method;
use crate::columns::columns;
use crate::problem::DIM;
use crate::text::grouped;

/// Returns the letters for the tensors that are listed below a picture.
pub(super) fn letters() -> impl Iterator<Item = char> {
    'A'..='Z'
}

/// Returns the lines of a picture. Tensors in `listed` are drawn as letters, all others as shade.
pub(super) fn draw(
    method: &Method<'_, '_>,
    arena: &PlannedArena<'_>,
    listed: &[&PlannedTensor],
) -> Vec<String> {
    let (instructions, tensors) = (method.memory.instruction_count(), method.memory.tensors(arena));
    if arena.peak == 0 {
        return Vec::new();
    }
    let moments = usize::try_from(instructions.max(1)).unwrap_or(usize::MAX);
    let widest = grouped(arena.reach).len().max("live".len());
    let room = columns().saturating_sub(widest.saturating_add(AROUND)).max(8);
    let each = room.checked_div(moments).unwrap_or_default().clamp(1, 2);
    let across = moments.saturating_mul(each).min(room);
    let high = tensors.len().clamp(2, HIGHEST);
    let mut grid = Grid {
        cells: vec![vec![' '; across]; high],
        bytes: Axis { of: arena.reach, cells: high },
        time: Axis { of: instructions.max(1).into(), cells: across },
    };
    grid.shade(tensors, instructions);
    for (tensor, letter) in listed.iter().zip(letters()) {
        grid.letter(tensor, instructions, letter);
    }
    let mut lines = Vec::new();
    for (nth, cells) in grid.cells.iter().enumerate().rev() {
        // The top line is labelled with the number of bytes at its upper end.
        let mark = match nth.checked_add(1) == Some(high) {
            true => grouped(arena.reach),
            false => String::new(),
        };
        let cells: String = cells.iter().collect();
        lines.push(format!("{DIM}{mark:>widest$} │{DIM:#}{}", cells.trim_end()));
    }
    lines.push(format!("{DIM}{:>widest$} └{}{DIM:#}", 0, "─".repeat(across)));
    lines.push(axis(method, arena, widest, &grid.time));
    let curve = live_bytes(method, arena, &grid.time);
    lines.push(format!("{DIM}{:>widest$}  {curve}{DIM:#}", "live"));
    lines
}

/// Returns the live bytes of each cell, as characters relative to the peak. A cell shows its
/// maximum.
fn live_bytes(method: &Method<'_, '_>, arena: &PlannedArena<'_>, time: &Axis) -> String {
    let mut cells = vec![0u64; time.cells];
    let curve = method.memory.live_bytes(arena);
    let ends = curve.iter().skip(1).map(|&(pc, _)| u64::from(pc)).chain([time.of]);
    for (&(pc, bytes), end) in curve.iter().zip(ends) {
        let (from, to) = time.range(pc.into(), end);
        for cell in cells.get_mut(from..to).unwrap_or_default() {
            *cell = bytes.max(*cell);
        }
    }
    let bar = |bytes: u64| {
        let eighths = u128::from(bytes).saturating_mul(8).div_ceil(arena.peak.max(1).into());
        let nth = usize::try_from(eighths).unwrap_or_default();
        [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'].get(nth).copied().unwrap_or('█')
    };
    let line: String = cells.into_iter().map(bar).collect();
    line.trim_end().to_string()
}

/// Returns the line below a picture, which marks the first and last instruction, and the peak.
fn axis(method: &Method<'_, '_>, arena: &PlannedArena<'_>, indent: usize, time: &Axis) -> String {
    let mut line = vec![' '; time.cells];
    let mut put = |at: usize, text: &str| {
        for (cell, c) in line.iter_mut().skip(at).zip(text.chars()) {
            *cell = c;
        }
    };
    if let Some(last) = method.memory.instruction_count().checked_sub(1) {
        let (first, last) = (method.place(0), method.place(last));
        put(0, &first);
        let room = time.cells.saturating_sub(last.chars().count());
        if room > first.chars().count() {
            put(room, &last);
        }
    }
    if let Some(pc) = arena.peak_pc {
        put(time.range(pc.into(), u64::from(pc).saturating_add(1)).0, "^");
    }
    let line: String = line.into_iter().collect();
    format!("{DIM}{:indent$}  {}{DIM:#}", "", line.trim_end())
}

/// An axis: a length in units, and the number of cells that show it.
struct Axis {
    of: u64,
    cells: usize,
}

impl Axis {
    /// Returns the range of cells that overlap a range.
    fn range(&self, begin: u64, end: u64) -> (usize, usize) {
        let cells = u128::try_from(self.cells).unwrap_or_default();
        let at = |place: u64, rest: u128| {
            let scaled = u128::from(place).saturating_mul(cells).saturating_add(rest);
            let cell = scaled.checked_div(self.of.into()).unwrap_or_default();
            usize::try_from(cell).unwrap_or(self.cells).min(self.cells)
        };
        let up = u128::from(self.of).saturating_sub(1);
        (at(begin, 0), at(end, up))
    }

    /// Returns the cells whose middle lies in a range.
    fn middles(&self, begin: u64, end: u64) -> impl Iterator<Item = usize> {
        let (from, to) = self.range(begin, end);
        let (of, cells) = (u128::from(self.of), u128::try_from(self.cells).unwrap_or_default());
        (from..to).filter(move |&cell| {
            let twice = u128::try_from(cell).unwrap_or_default().saturating_mul(2);
            let middle = twice.saturating_add(1).saturating_mul(of);
            let scale = cells.saturating_mul(2);
            u128::from(begin).saturating_mul(scale) <= middle
                && middle < u128::from(end).saturating_mul(scale)
        })
    }
}

/// Lines of cells. The first line has the lowest bytes.
struct Grid {
    cells: Vec<Vec<char>>,
    bytes: Axis,
    time: Axis,
}

impl Grid {
    /// Shades every cell in which any tensor is live.
    fn shade(&mut self, tensors: &[PlannedTensor], instructions: u32) {
        for (nth, line) in self.cells.iter_mut().enumerate() {
            // For each column, the number of tensors that begin there, minus those that end before
            // it.
            let mut changes = vec![0i64; line.len().saturating_add(1)];
            for tensor in tensors {
                let Some(life) = tensor.live_range.filter(|_| !tensor.is_view) else { continue };
                let ((begin, end), (first, last)) = (tensor.range(), life.span(instructions));
                let (from, to) = self.bytes.range(begin, end);
                if begin == end || nth < from || to <= nth {
                    continue;
                }
                let (left, right) =
                    self.time.range(first.into(), u64::from(last).saturating_add(1));
                for (at, by) in [(left, 1), (right, -1)] {
                    let change = changes.get_mut(at);
                    change.into_iter().for_each(|change| *change = change.saturating_add(by));
                }
            }
            let mut live = 0i64;
            for (cell, change) in line.iter_mut().zip(changes) {
                live = live.saturating_add(change);
                if live > 0 {
                    *cell = '\u{2591}';
                }
            }
        }
    }

    /// Draws the letter of a tensor in every cell whose middle lies in the tensor.
    fn letter(&mut self, tensor: &PlannedTensor, instructions: u32, letter: char) {
        let Some(life) = tensor.live_range else { return };
        let ((begin, end), (first, last)) = (tensor.range(), life.span(instructions));
        for nth in self.bytes.middles(begin, end) {
            let Some(line) = self.cells.get_mut(nth) else { continue };
            for at in self.time.middles(first.into(), u64::from(last).saturating_add(1)) {
                line.get_mut(at).into_iter().for_each(|cell| *cell = letter);
            }
        }
    }
}

/// The number of columns that a line needs besides its label and its picture.
const AROUND: usize = 9;
/// The maximum number of lines of a picture.
const HIGHEST: usize = 12;
