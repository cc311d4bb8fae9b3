//! The members of an ETRecord: checksums, JSON, and the archives of `torch.save` by their tables of contents.
//!
//! Pickles are never read (docs/format.md §10).

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use core::convert::Infallible;
use core::ops::{Range, RangeInclusive};

use super::report::Findings;
use super::rule::{Rule, rules};
use pte_core::ForeignFormat;
use pte_core::payload::archive::{Archive, checksum};
use pte_core::payload::{Section, Sections, Unreadable};
use pte_flat::bytes::{narrow, wide};
use pte_flat::cost;
use pte_flat::inserted;
use pte_flat::path;
use pte_flat::quoted::Quoted;

mod json;

rules! {
    "record";

    RECORD_CHECKSUM = Error "record-checksum"
        "Each member of an ETRecord has the CRC-32 that the central directory gives."
        "The inspector refuses the record."
        "The file is damaged: get it again from its source."
        Refuses ["10"];
    RECORD_JSON = Error "record-json"
        "The graphs and maps of an ETRecord are JSON, and each graph is an object."
        "The inspector refuses the record."
        MADE_BY_HAND
        Refuses ["10"];
    RECORD_GRAPH = Error "record-graph"
        "Each graph of an ETRecord has a state dict."
        "The inspector refuses the record."
        MADE_BY_HAND
        Refuses ["10"];
    RECORD_TENSORS = Error "record-tensors"
        "State dicts, constants, inputs and outputs of an ETRecord are archives of torch.save, or empty: a pickle, a version and a byte order that PyTorch reads, and no code of TorchScript."
        "PyTorch refuses the member, and the inspector the record."
        MADE_BY_HAND
        Refuses ["10"];
    RECORD_OLD = Warning "record-old"
        "Each graph of an ETRecord has constants and example inputs, as since release 0.4."
        "The inspector of a current release refuses the record."
        "Export the model again, or use the inspector of the release that wrote the record."
        Refuses ["10"];
    RECORD_PICKLE = Warning "record-pickle"
        "No member of an ETRecord is a bare pickle."
        "Inspectors before release 1.3 unpickle it, which runs any code that the file has. Later ones refuse it."
        "Do not open the record before you know who made it."
        Refuses ["10"]
        untrusted_upload "An old inspector would run code of the file.";
}

/// The suffixes of the names of the members that belong to a graph.
const STATE_DICT: &str = "_state_dict";
const OTHERS: [&str; 2] = ["_constants", "_example_inputs"];

/// Judges the members of an ETRecord.
///
/// # Errors
///
/// [`Unreadable`] if the file is no archive of an ETRecord.
pub(super) fn judge(file: &[u8], out: &mut Findings) -> Result<(), Unreadable> {
    let at = |pos: u64| usize::try_from(pos).unwrap_or(usize::MAX);
    let part = |range: &Range<u64>| file.get(at(range.start)..at(range.end)).unwrap_or_default();
    let read = |range| Ok::<_, Infallible>(part(&range));
    let Ok(record) = Sections::of_file(ForeignFormat::EtRecord, wide(file.len()), read);
    let record = record.transpose()?.unwrap_or_default();
    let name = |of: &Section| of.file.clone().unwrap_or_default();
    let names: BTreeSet<String> = inserted(record.sections.iter().map(name));
    cost::sort(names.len());
    for (nth, member) in record.sections.iter().enumerate() {
        Site { nth: narrow(nth), member, names: &names }.judge(part(&member.range), out);
    }
    Ok(())
}

/// A member, for findings.
struct Site<'r> {
    nth: u32,
    member: &'r Section,
    names: &'r BTreeSet<String>,
}

impl Site<'_> {
    fn name(&self) -> &str {
        self.member.file.as_deref().unwrap_or_default()
    }

    fn find(
        &self,
        rule: &'static Rule,
        at: usize,
        message: impl FnOnce() -> String,
        out: &mut Findings,
    ) {
        let path = || path!["members", self.nth].to_vec();
        let at = self.member.range.start.saturating_add(wide(at));
        out.find(rule, at, path, || format!("{}: {}", Quoted(self.name()), message()));
    }

    fn judge(&self, bytes: &[u8], out: &mut Findings) {
        let found = checksum(bytes);
        if let Some(known) = self.member.checksum.filter(|known| *known != found) {
            let message = || format!("the checksum is {found:#010x}: expected {known:#010x}");
            return self.find(&RECORD_CHECKSUM, 0, message, out);
        }
        match self.member.name {
            "state_dict" | "constants" | "example_inputs" if bytes.is_empty() => {}
            "state_dict"
            | "constants"
            | "example_inputs"
            | "reference_outputs"
            | "representative_inputs" => self.tensors(bytes, out),
            "ETRECORD_V0" => {}
            "other member" if !is_graph(self.name()) => {}
            "debug_handle_map"
            | "delegate_map"
            | "instruction_id_to_num_outs_map"
            | "export_graph_id" => self.json(bytes, false, out),
            _ => self.graph(bytes, out),
        }
    }

    fn json(&self, bytes: &[u8], is_graph: bool, out: &mut Findings) {
        match json::prove(bytes) {
            Err(at) => self.find(&RECORD_JSON, at, || format!("not valid JSON at byte {at}"), out),
            Ok(b'{') => {}
            Ok(_) if is_graph => {
                self.find(&RECORD_JSON, 0, || "a graph that is no object".into(), out);
            }
            Ok(_) => {}
        }
    }

    /// Judges a graph, and whether it has the members that belong to it. Upstream reads no graph in the edge dialect
    /// whose name ends like the name of such a member.
    fn graph(&self, bytes: &[u8], out: &mut Findings) {
        let name = self.name();
        if !is_graph(name) {
            return;
        }
        self.json(bytes, true, out);
        let lacks = |suffix: &&str| {
            cost::look_up(name, self.names.len());
            !self.names.contains(&format!("{name}{suffix}"))
        };
        if lacks(&STATE_DICT) {
            self.find(
                &RECORD_GRAPH,
                0,
                || format!("no member has this name and {STATE_DICT}"),
                out,
            );
        } else if let Some(suffix) = OTHERS.iter().find(|suffix| lacks(suffix)) {
            self.find(&RECORD_OLD, 0, || format!("no member has this name and {suffix}"), out);
        }
    }

    fn tensors(&self, bytes: &[u8], out: &mut Findings) {
        match bytes {
            [0x80, ..] => self.find(&RECORD_PICKLE, 0, || "a bare pickle".into(), out),
            _ => {
                if let Some(why) = wrong(bytes) {
                    self.find(&RECORD_TENSORS, 0, || why, out);
                }
            }
        }
    }
}

/// Returns whether upstream's parser reads a member of another name as a graph.
fn is_graph(name: &str) -> bool {
    !["state_dict", "constants", "example_inputs"].iter().any(|end| name.ends_with(end))
}

/// Returns what is wrong with an archive of `torch.save`.
fn wrong(bytes: &[u8]) -> Option<String> {
    let archive = match Archive::of_bytes(bytes) {
        Ok(archive) => archive,
        Err(why) => return Some(why.to_string()),
    };
    let first = archive.members.first().and_then(|member| member.name.split_once('/'));
    let folder = first.map_or("", |(folder, _)| folder);
    let inside =
        |name: &'_ str| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    if folder.is_empty() || !archive.members.iter().all(|member| inside(&member.name)) {
        return Some("the members of the archive are not in one folder".into());
    }
    let contents = |name: &str| {
        let all = &mut archive.members.iter();
        let found = all.find(|member| {
            cost::charge(1);
            member.name.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) == Some(name)
        })?;
        let at = |pos: u64| usize::try_from(pos).unwrap_or(usize::MAX);
        bytes.get(at(found.range.start)..at(found.range.end))
    };
    if contents("data.pkl").is_none() {
        return Some("the archive has no data.pkl".into());
    }
    if contents("constants.pkl").is_some() {
        return Some("the archive is a module of TorchScript".into());
    }
    let version = contents(".data/version").or_else(|| contents("version"));
    let number = version.and_then(|text| core::str::from_utf8(text).ok()?.trim().parse().ok());
    if !number.is_some_and(|number: u64| VERSIONS.contains(&number)) {
        return Some("the archive has no version that PyTorch reads".into());
    }
    let order = contents("byteorder");
    if order.is_some_and(|order| order != b"little" && order != b"big") {
        return Some("the archive has an unknown byte order".into());
    }
    None
}

/// The versions of archives that PyTorch reads.
const VERSIONS: RangeInclusive<u64> = 1..=10;
