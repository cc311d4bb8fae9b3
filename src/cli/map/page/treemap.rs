//! The sizes by module as a treemap. Each piece of at least half a percent is a box.

use maud::{Markup, html};
use pte::tensors::ModuleTree;

use super::class;
use super::pieces::{Rows, join};
use crate::size::percent;
use crate::text::{count, grouped, name};

/// A rectangle in units of the picture, which is [`WIDTH`] by [`HEIGHT`].
#[derive(Clone, Copy)]
struct Rect {
    x: u64,
    y: u64,
    width: u64,
    height: u64,
}

/// The boxes that are drawn so far.
struct Boxes {
    whole: u64,
    boxes: Vec<Markup>,
}

/// A part to place: its tree, or the number of parts that are too small for a box.
struct Item<'t> {
    bytes: u64,
    tree: Option<&'t ModuleTree>,
    /// The name. If modules have a single part, their names and the part's are joined.
    name: String,
    smaller: u64,
}

pub(super) fn section(tree: &ModuleTree, rows: &Rows<'_>) -> Markup {
    let whole = Rect { x: 0, y: 0, width: WIDTH, height: HEIGHT };
    let mut boxes = Boxes { whole: tree.bytes, boxes: Vec::new() };
    boxes.place(tree, whole, rows, 0);
    html! {
        section aria-labelledby="sizes" {
            h2 #sizes { "Sizes" }
            figure {
                figcaption { "The file by module, delegate and method; each piece of 0.5% or more is a box" }
                div.treemap { @for one in &boxes.boxes { (one) } }
            }
            (legend(tree))
        }
    }
}

/// Returns the legend: the colours of the file's parts.
fn legend(tree: &ModuleTree) -> Markup {
    let mut classes = Vec::new();
    collect_classes(tree, &mut classes);
    html! {
        ul.legend {
            @for (class, part) in &classes { li { b class=(class) {} (part) } }
        }
    }
}

fn collect_classes(tree: &ModuleTree, classes: &mut Vec<(&'static str, &'static str)>) {
    if tree.parts.is_empty()
        && let Some(class) = class::of_name(tree.part)
        && !classes.contains(&(class, tree.part))
    {
        classes.push((class, tree.part));
    }
    tree.parts.iter().for_each(|part| collect_classes(part, classes));
}

impl Boxes {
    fn is_small(&self, bytes: u64) -> bool {
        bytes.saturating_mul(200) < self.whole
    }

    /// Places the parts of a tree in a rectangle.
    fn place(&mut self, tree: &ModuleTree, rect: Rect, rows: &Rows<'_>, level: u32) {
        let mut items: Vec<Item<'_>> = Vec::new();
        let (mut bytes, mut smaller) = (0u64, 0u64);
        for part in &tree.parts {
            if self.is_small(part.bytes) {
                bytes = bytes.saturating_add(part.bytes);
                smaller = smaller.saturating_add(part.count);
                continue;
            }
            let (mut part, mut title) = (part, name(&part.name));
            while let [only] = part.parts.as_slice() {
                title = join(&title, &name(&only.name));
                part = only;
            }
            items.push(Item { bytes: part.bytes, tree: Some(part), name: title, smaller: 0 });
        }
        if bytes > 0 {
            items.push(Item { bytes, tree: None, name: String::new(), smaller });
        }
        items.sort_by_key(|item| core::cmp::Reverse(item.bytes));
        for (item, rect) in items.iter().zip(squarified(&items, rect)) {
            match item.tree.filter(|tree| !tree.parts.is_empty() && level < MOST_LEVELS) {
                Some(tree) => {
                    let inner = self.group(item, tree, rect);
                    self.place(tree, inner, rows, level.saturating_add(1));
                }
                None => self.leaf(item, rect, rows),
            }
        }
    }

    /// Draws a group, and returns the rectangle for the parts of the group.
    fn group(&mut self, item: &Item<'_>, tree: &ModuleTree, rect: Rect) -> Rect {
        let share = percent(item.bytes.into(), self.whole);
        let share = share.trim_start_matches('+');
        let title = format!("{}: {} bytes, {share}", item.name, grouped(tree.bytes));
        let has_title =
            rect.height > TITLE.saturating_mul(2) && rect.width > TITLE.saturating_mul(3);
        self.boxes.push(html! {
            div.group title=(title) style=(style(rect)) { @if has_title { (item.name) " · " (share) } }
        });
        let top = if has_title { TITLE } else { EDGE };
        let side = |length: u64, less: u64| length.saturating_sub(less).max(1);
        Rect {
            x: rect.x.saturating_add(EDGE),
            y: rect.y.saturating_add(top),
            width: side(rect.width, EDGE.saturating_mul(2)),
            height: side(rect.height, top.saturating_add(EDGE)),
        }
    }

    /// Draws a piece as a link to its row, or a box for several small pieces.
    fn leaf(&mut self, item: &Item<'_>, rect: Rect, rows: &Rows<'_>) {
        let share = percent(item.bytes.into(), self.whole);
        let share = share.trim_start_matches('+');
        let size = format!("{} bytes, {share}", grouped(item.bytes));
        let Some(tree) = item.tree else {
            let title = format!("{}: {size}", count(item.smaller, "smaller piece"));
            self.boxes.push(html! {
                div.box.small title=(title) style=(style(rect)) { span { "… " (grouped(item.smaller)) " smaller" } }
            });
            return;
        };
        let class = class::of_name(tree.part).unwrap_or("loose");
        let layout = tree.layout.as_deref().map(name);
        let owner = tree.owner.as_ref().map(name);
        let facts = [Some(item.name.clone()), layout.clone(), Some(size), owner.clone()];
        let title = facts.into_iter().flatten().collect::<Vec<_>>().join("\n");
        let text = html! {
            b { (item.name) }
            @if let Some(layout) = &layout { span { (layout) } }
            span { (grouped(item.bytes)) }
            @if let Some(owner) = &owner { span { (owner) } }
        };
        self.boxes.push(match rows.id(tree) {
            Some(id) => html! {
                a.box.(class) href={ "#" (id) } title=(title) style=(style(rect)) { (text) }
            },
            None => html! { div.box.(class) title=(title) style=(style(rect)) { (text) } },
        });
    }
}

fn style(rect: Rect) -> String {
    let part = |length: u64, of: u64| {
        let millionths = u128::from(length).saturating_mul(1_000_000);
        let millionths = millionths.checked_div(of.into()).unwrap_or_default();
        format!("{}.{:03}%", millionths / 10_000, millionths % 10_000 / 10)
    };
    format!(
        "left:{};top:{};width:{};height:{}",
        part(rect.x, WIDTH),
        part(rect.y, HEIGHT),
        part(rect.width, WIDTH),
        part(rect.height, HEIGHT)
    )
}

/// Returns a rectangle for each item, as square as possible. A row of boxes is filled along the
/// shorter side, as long as this makes its boxes more square.
fn squarified(items: &[Item<'_>], mut rect: Rect) -> Vec<Rect> {
    let mut rects = Vec::new();
    let mut rest = items;
    let mut bytes = items.iter().fold(0u64, |sum, item| sum.saturating_add(item.bytes));
    while !rest.is_empty() {
        let side = rect.width.min(rect.height);
        let area = u128::from(rect.width).saturating_mul(rect.height.into());
        let scaled = |bytes_of: u64| {
            let scaled = area.saturating_mul(bytes_of.into());
            scaled.checked_div(bytes.into()).unwrap_or_default()
        };
        let (mut len, mut sum, mut best) = (0usize, 0u64, u128::MAX);
        for item in rest {
            let next = sum.saturating_add(item.bytes);
            let most = rest.first().map_or(1, |first| scaled(first.bytes));
            let worst = worst_ratio(scaled(next), most, scaled(item.bytes), side);
            if worst > best {
                break;
            }
            (len, sum, best) = (len.saturating_add(1), next, worst);
        }
        let (row, remaining) = rest.split_at_checked(len.max(1)).unwrap_or((rest, &[]));
        let is_wide = rect.width >= rect.height;
        // The row takes its share of the longer side.
        let thick = share(if is_wide { rect.width } else { rect.height }, sum, bytes);
        let (mut at, mut left) = (0u64, sum);
        for item in row {
            let length = share(side.saturating_sub(at), item.bytes, left);
            rects.push(match is_wide {
                true => Rect { y: rect.y.saturating_add(at), width: thick, height: length, ..rect },
                false => {
                    Rect { x: rect.x.saturating_add(at), width: length, height: thick, ..rect }
                }
            });
            at = at.saturating_add(length);
            left = left.saturating_sub(item.bytes);
        }
        match is_wide {
            true => {
                rect.x = rect.x.saturating_add(thick);
                rect.width = rect.width.saturating_sub(thick);
            }
            false => {
                rect.y = rect.y.saturating_add(thick);
                rect.height = rect.height.saturating_sub(thick);
            }
        }
        bytes = bytes.saturating_sub(sum);
        rest = remaining;
    }
    rects
}

/// Returns the length that corresponds to the share `part` / `of`.
fn share(length: u64, part: u64, of: u64) -> u64 {
    let scaled = u128::from(length).saturating_mul(part.into());
    let share = scaled.checked_div(of.into()).unwrap_or_default();
    u64::try_from(share).unwrap_or(length).min(length)
}

/// Returns the greatest ratio of sides among the boxes of a row with area `sum`, in thousandths.
fn worst_ratio(sum: u128, most: u128, least: u128, side: u64) -> u128 {
    let (square, side) = (sum.saturating_mul(sum), u128::from(side).saturating_mul(side.into()));
    let ratio = |above: u128, below: u128| {
        above.saturating_mul(1000).checked_div(below).unwrap_or(u128::MAX)
    };
    ratio(side.saturating_mul(most), square).max(ratio(square, side.saturating_mul(least)))
}

/// The sides of the picture, and the sizes of its titles and edges.
const WIDTH: u64 = 100_000;
const HEIGHT: u64 = 42_000;
const TITLE: u64 = 1_900;
const EDGE: u64 = 150;

const MOST_LEVELS: u32 = 8;
