//! The findings of a check, and the nodes that they are about.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::node::{ExplorerNode, NodeStyle, TOP};
use crate::graph::{MethodNode, NodeId};
use pte_check::{CheckedFile, FindingRecord};
use pte_flat::bytes::index as at;
use pte_flat::cost;

/// The findings of a file.
#[derive(Debug)]
pub(super) struct Findings {
    file: CheckedFile,
    /// The indices of the findings about each node: of equal ones the first, and few of different ones.
    places: BTreeMap<FindingPlace, Vec<u32>>,
    /// The indices of the findings at each offset in the file.
    offsets: BTreeMap<u64, Vec<u32>>,
    /// Whether there are rules for the file.
    is_judged: bool,
}

/// The most findings that are shown on a node.
const MOST_FINDINGS: usize = 16;

/// The part of a program that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FindingPlace {
    /// The instruction with these indices: of its method, of its chain, and in its chain.
    Instruction(u32, u32, u32),
    /// The value of a method.
    Value(u32, u32),
    /// The delegate of a method.
    Delegate(u32, u32),
    /// The entry of a data file.
    Entry(u32),
}

impl Findings {
    pub(super) fn new(file: CheckedFile) -> Self {
        let mut places: BTreeMap<FindingPlace, Vec<u32>> = BTreeMap::new();
        let mut offsets: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        // A table that many lists share has the same findings again and again.
        let add = |list: &mut Vec<u32>, nth: u32, finding: &FindingRecord| {
            let mut there = list.iter().filter_map(|&nth| file.findings.get(at(nth)));
            let is_shown =
                there.any(|of| (of.rule, &of.message) == (finding.rule, &finding.message));
            if !is_shown && list.len() < MOST_FINDINGS {
                list.push(nth);
            }
        };
        for (nth, finding) in (0..).zip(&file.findings) {
            if let Some(place) = FindingPlace::of(finding) {
                add(places.entry(place).or_default(), nth, finding);
            }
            if let Some(offset) = finding.offset {
                add(offsets.entry(offset).or_default(), nth, finding);
            }
        }
        Self { file, places, offsets, is_judged: true }
    }

    /// Returns the findings of a file, which has rules if `is_judged`.
    pub(super) fn judged_if(is_judged: bool, file: CheckedFile) -> Self {
        Self { is_judged, ..Self::new(file) }
    }

    /// Returns the verdict: `ok` or `error`.
    pub(super) fn verdict(&self) -> &'static str {
        self.file.verdict
    }

    /// Adds the findings about a place to the attributes of its node.
    pub(super) fn describe(&self, place: FindingPlace, node: &mut ExplorerNode) {
        self.describe_each(self.places.get(&place), node);
    }

    /// Adds the findings about the table at an offset in the file to the attributes of its node.
    pub(super) fn describe_at(&self, offset: u64, node: &mut ExplorerNode) {
        cost::look_up("", self.offsets.len());
        self.describe_each(self.offsets.get(&offset), node);
    }

    /// Returns whether any finding has an offset in the file.
    pub(super) fn have_offsets(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// Returns whether a finding is at an offset in the file.
    pub(super) fn are_at(&self, offset: u64) -> bool {
        cost::look_up("", self.offsets.len());
        self.offsets.contains_key(&offset)
    }

    fn describe_each(&self, found: Option<&Vec<u32>>, node: &mut ExplorerNode) {
        for finding in
            found.into_iter().flatten().filter_map(|&nth| self.file.findings.get(at(nth)))
        {
            node.attrs.add(format!("{}[{}]", finding.severity, finding.rule), &finding.message);
            let severity = severity(finding);
            node.measures.severity = node.measures.severity.max(Some(severity));
        }
    }

    /// Returns the node of the verdict, which links to the nodes with findings. `id_of` is the node of one.
    pub(super) fn node(&self, id_of: impl Fn(&FindingRecord) -> Option<String>) -> ExplorerNode {
        let count = self.file.findings.len();
        let label = match (count, self.file.omitted) {
            _ if !self.is_judged => "opened, not judged: there are no rules for it".into(),
            (0, 0) => format!("{}: no findings", self.file.verdict),
            (1, 0) => format!("{}: 1 finding", self.file.verdict),
            (count, 0) => format!("{}: {count} findings", self.file.verdict),
            (count, more) => format!("{}: {count} findings and {more} more", self.file.verdict),
        };
        let mut node = ExplorerNode { id: "findings".into(), label, ..ExplorerNode::default() };
        node.config = Some(TOP);
        let worst = self.file.findings.iter().map(severity).max();
        node.measures.severity = worst;
        node.style = worst.map(|worst| NodeStyle {
            background_color: match worst {
                3 => "#fecaca",
                2 => "#fde68a",
                _ => "#dbeafe",
            },
        });
        for (nth, finding) in (1..).zip(&self.file.findings) {
            let mut text = format!("{}[{}]: {}", finding.severity, finding.rule, finding.message);
            if let Some(offset) = finding.offset {
                text.push_str(&format!(" (at {offset:#x}, {})", finding.path));
            }
            node.attrs.add(format!("{nth}"), text);
            if let Some(help) = finding.help {
                node.attrs.add(format!("{nth} help"), help);
            }
            if let Some(id) = id_of(finding) {
                node.attrs.link(format!("{nth} node"), id);
            }
        }
        node
    }
}

impl FindingPlace {
    /// Returns the place that the path of a finding names.
    pub(super) fn of(finding: &FindingRecord) -> Option<Self> {
        let path = finding.path.raw();
        let index = |name: &str| {
            let (_, rest) = path.split_once(name)?;
            let (number, _) = rest.strip_prefix('[')?.split_once(']')?;
            number.parse::<u32>().ok()
        };
        if let Some(entry) = index(".tensors").or_else(|| index(".named_data")) {
            return (!path.contains("execution_plan")).then_some(Self::Entry(entry));
        }
        let method = index(".execution_plan")?;
        index(".chains")
            .zip(index(".instructions"))
            .map(|(chain, instruction)| Self::Instruction(method, chain, instruction))
            .or_else(|| index(".values").map(|value| Self::Value(method, value)))
            .or_else(|| index(".delegates").map(|delegate| Self::Delegate(method, delegate)))
    }
}

/// Returns the number of a severity: 3 for an error.
fn severity(finding: &FindingRecord) -> u8 {
    match finding.severity {
        "error" => 3,
        "warning" => 2,
        _ => 1,
    }
}

/// Returns the id of a value's node.
pub(super) fn value_id(method: u32, value: u32) -> String {
    format!("{}", NodeId { method, node: MethodNode::Value(value) })
}

/// Returns the id of the node of an instruction of the first chain.
pub(super) fn instruction_id(method: u32, index: u32) -> String {
    format!("{}", NodeId { method, node: MethodNode::Instruction(index) })
}
