//! The namespaces of instructions: the control flow around each, and the modules that names of constants spell. Model
//! Explorer shows each component of a namespace as a layer.

use alloc::string::String;
use alloc::vec::Vec;

use super::node::{layer, nested};
use pte_flat::bytes::{index as at, narrow};
use pte_flat::cost;

/// The control flow of a method as nested ranges of instructions.
///
/// A jump back encloses a loop, and a jump forward the instructions that it skips. A range that crosses an earlier one
/// is left out, and so is one that is nested too deeply.
#[derive(Debug, Default)]
pub(super) struct Regions {
    regions: Vec<Region>,
    /// For each instruction, the innermost region.
    innermost: Vec<Option<u32>>,
}

#[derive(Debug)]
struct Region {
    name: String,
    parent: Option<u32>,
    depth: usize,
}

impl Regions {
    /// Returns the regions of a method with `count` instructions. `jumps` are the pc of each jump and of its target.
    pub(super) fn of(count: u32, jumps: &[(u32, u32)]) -> Self {
        let ranges = jumps.iter().map(|&(from, to)| match to <= from {
            true => (to, from.saturating_add(1), from),
            false => (from.saturating_add(1), to, from),
        });
        let mut ranges: Vec<_> = ranges.filter(|(begin, end, _)| begin < end).collect();
        cost::sort(ranges.len());
        ranges.sort_unstable_by_key(|&(begin, end, from)| (begin, core::cmp::Reverse(end), from));
        ranges.dedup_by_key(|&mut (begin, end, _)| (begin, end));
        let mut regions = Self::default();
        let mut open: Vec<(u32, u32)> = Vec::new();
        let mut ranges = ranges.into_iter().peekable();
        for pc in 0..count {
            while open.pop_if(|&mut (end, _)| end <= pc).is_some() {}
            while let Some((begin, end, from)) = ranges.next_if(|&(begin, ..)| begin <= pc) {
                let parent = open.last().copied();
                let is_inside = parent.is_none_or(|(outer, _)| end <= outer);
                if !is_inside || open.len() >= MOST_NESTED {
                    continue;
                }
                let name = match begin <= from {
                    true => format!("loop {begin} to {from}"),
                    false => format!("branch {begin} to {}", end.saturating_sub(1)),
                };
                let (depth, parent) = (open.len(), parent.map(|(_, nth)| nth));
                open.push((end, narrow(regions.regions.len())));
                regions.regions.push(Region { name, parent, depth });
            }
            regions.innermost.push(open.last().map(|&(_, nth)| nth));
        }
        regions
    }

    /// Returns the namespace of an instruction inside `method`.
    pub(super) fn namespace(&self, method: &str, pc: u32) -> String {
        let mut names = Vec::new();
        let mut region = self.innermost.get(at(pc)).copied().flatten();
        while let Some(found) = region.and_then(|nth| self.regions.get(at(nth))) {
            names.push(found.name.as_str());
            region = found.parent;
            if found.depth == 0 {
                break;
            }
        }
        names.iter().rev().fold(method.into(), |outer, name| nested(&outer, name))
    }
}

/// The module of each instruction: the recorded one, or what the names of the constants that it reads have in common.
/// An instruction without either belongs to the module that the ones before and behind it have in common.
#[derive(Debug, Default)]
pub(super) struct Modules<'a> {
    /// For each instruction, a name and the number of its components that are the module.
    modules: Vec<(&'a str, usize)>,
}

impl<'a> Modules<'a> {
    /// Returns the modules of instructions. `names` are the names of the tensors that each reads, `recorded` gives the
    /// dotted name of the module of some.
    pub(super) fn of(names: Vec<Vec<&'a str>>, recorded: impl Fn(u32) -> Option<&'a str>) -> Self {
        let own = (0..).zip(names).map(|(pc, names)| {
            if let Some(module) = recorded(pc) {
                return Some((module, components(module).count()));
            }
            let names = names.into_iter().filter(|name| name.contains('.'));
            let module = |name: &'a str| (name, components(name).count().saturating_sub(1));
            names.map(module).reduce(common)
        });
        let own: Vec<Option<(&str, usize)>> = own.collect();
        let (mut modules, mut before) = (Vec::with_capacity(own.len()), None);
        let mut behind = None;
        let mut following: Vec<Option<(&str, usize)>> = own
            .iter()
            .rev()
            .map(|module| {
                behind = module.or(behind);
                behind
            })
            .collect();
        for module in own {
            let next = following.pop().flatten();
            before = module.or(before);
            let between = || before.zip(next).map(|(before, next)| common(before, next));
            modules.push(module.or_else(between).unwrap_or_default());
        }
        Self { modules }
    }

    /// Returns the namespace of an instruction inside `outer`.
    pub(super) fn namespace(&self, outer: String, pc: u32) -> String {
        let (name, count) = self.modules.get(at(pc)).copied().unwrap_or_default();
        layers(outer, components(name).take(count))
    }
}

/// Returns the namespace `outer` with these components as layers in it.
pub(super) fn layers<'a>(outer: String, components: impl Iterator<Item = &'a str>) -> String {
    components.fold(outer, |outer, part| nested(&outer, &layer(part)))
}

/// Returns the name of a tensor as a namespace and the last component of the name.
pub(super) fn module_of(name: &str) -> (String, String) {
    let count = components(name).count().saturating_sub(1);
    let mut parts = components(name);
    let module = layers(String::new(), parts.by_ref().take(count));
    (module, parts.next().map(layer).unwrap_or_else(|| layer(name)))
}

/// Returns what two modules have in common.
fn common<'a>(one: (&'a str, usize), other: (&'a str, usize)) -> (&'a str, usize) {
    let pairs = components(one.0).zip(components(other.0));
    let count = pairs.take_while(|(one, other)| one == other).count();
    (one.0, count.min(one.1).min(other.1))
}

/// Returns the first components of a name, which may be as long as the file.
pub(super) fn components(name: &str) -> impl Iterator<Item = &str> {
    let end = name.char_indices().nth(LONGEST_NAME).map_or(name.len(), |(end, _)| end);
    name.get(..end).unwrap_or_default().split('.').filter(|part| !part.is_empty()).take(MOST_NESTED)
}

/// The largest number of layers of one kind around a node. The names of layers are written with each node in them.
const MOST_NESTED: usize = 8;

/// The largest number of characters of a name that are read for modules.
const LONGEST_NAME: usize = 256;

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::{Modules, Regions, module_of};

    #[test]
    fn loops_and_branches_nest_and_those_that_cross_are_left_out() {
        // 2..=9 is a loop, 4 skips 5..7, and the jump from 6 to 12 crosses the loop.
        let regions = Regions::of(14, &[(9, 2), (4, 7), (6, 12)]);
        let shown = |pc| regions.namespace("forward", pc);
        assert_eq!(shown(0), "forward");
        assert_eq!(shown(3), "forward/loop 2 to 9");
        assert_eq!(shown(5), "forward/loop 2 to 9/branch 5 to 6");
        assert_eq!(shown(8), "forward/loop 2 to 9");
        assert_eq!(shown(11), "forward");
    }

    #[test]
    fn an_instruction_between_two_modules_is_in_what_they_share() {
        let (q, k) = ("layers.0.attention.q.weight", "layers.0.attention.k.weight");
        let names = vec![vec![], vec![q], vec![], vec![k], vec!["layers.1.norm.w"]];
        let modules = Modules::of(names, |_| None);
        let shown = |pc| modules.namespace(String::from("forward"), pc);
        assert_eq!(shown(0), "forward");
        assert_eq!(shown(1), "forward/layers/0/attention/q");
        assert_eq!(shown(2), "forward/layers/0/attention");
        assert_eq!(shown(4), "forward/layers/1/norm");
    }

    #[test]
    fn a_recorded_module_is_used_before_names() {
        let names = vec![vec![], vec!["layers.0.q.weight"], vec!["layers.1.q.weight"], vec![]];
        let recorded = |pc| {
            [Some("embed"), None, Some("layers.1.proj"), Some("")][usize::try_from(pc).unwrap()]
        };
        let modules = Modules::of(names, recorded);
        let shown = |pc| modules.namespace(String::from("forward"), pc);
        assert_eq!(shown(0), "forward/embed");
        assert_eq!(shown(1), "forward/layers/0/q");
        assert_eq!(shown(2), "forward/layers/1/proj");
        assert_eq!(shown(3), "forward");
    }

    #[test]
    fn a_separator_in_a_name_does_not_open_a_layer() {
        assert_eq!(module_of("a/b.c;d.w"), (String::from("a∕b/c；d"), String::from("w")));
        assert_eq!(module_of("weight"), (String::new(), String::from("weight")));
        assert_eq!(module_of(""), (String::new(), String::from("(no name)")));
    }
}
