//! Differences in the encoding of two files that have no meaning.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Written, text};
use pte_core::File;
use pte_core::ptd::Root;
use pte_flat::bytes::len_of;
use pte_flat::write::WriterLayout;

/// Returns the facts about the encoding that differ between two files.
pub(super) fn of(before: &File<'_>, after: &File<'_>) -> Vec<Written> {
    let facts = facts(before).into_iter().zip(facts(after));
    let differ = facts.filter(|((_, before), (_, after))| before != after);
    differ.map(|((what, before), (_, after))| Written { what, before, after }).collect()
}

fn facts(file: &File<'_>) -> Vec<(&'static str, String)> {
    let region = file.region_range();
    let mut facts = vec![
        ("file", text::bytes(file.file_len())),
        ("FlatBuffers part", text::bytes(len_of(&region))),
        ("segments", file.segment_count().to_string()),
    ];
    let segments = |base: Option<u64>| {
        base.filter(|&base| base != 0)
            .map_or_else(|| "no segments".into(), |base| format!("from {base} on"))
    };
    let layout = match file {
        File::Pte(pte) => {
            let header = pte.header();
            let length = header.map_or_else(|| "none".into(), |h| text::bytes(h.length.into()));
            facts.push(("header", length));
            facts.push(("segment area", segments(header.map(|h| h.segment_base_offset))));
            let root = pte.program();
            let constants = root.constant_buffer().map_or(0, |all| all.len());
            facts.push(("constants in the FlatBuffers part", constants.to_string()));
            let payloads = root.backend_delegate_data().map_or(0, |all| all.len());
            facts.push(("payloads in the FlatBuffers part", payloads.to_string()));
            let plans = root.execution_plan().into_iter().flatten();
            let chains = plans.flat_map(|plan| plan.chains().into_iter().flatten());
            let traces = chains.map(|chain| chain.stacktrace().map_or(0, |all| all.len()));
            facts.push(("stack traces", traces.fold(0, usize::saturating_add).to_string()));
            let values = root.execution_plan().into_iter().flatten();
            let values = values.map(|plan| plan.values().map_or(0, |all| all.len()));
            facts.push(("values", values.fold(0, usize::saturating_add).to_string()));
            let operators = root.execution_plan().into_iter().flatten();
            let operators = operators.map(|plan| plan.operators().map_or(0, |all| all.len()));
            facts.push(("operators", operators.fold(0, usize::saturating_add).to_string()));
            WriterLayout::guess(root)
        }
        File::Ptd(ptd) => {
            facts.push(("header", text::bytes(ptd.header().length.into())));
            facts.push(("segment area", segments(Some(ptd.header().segment_base_offset))));
            match ptd.root() {
                Root::Current(root) => WriterLayout::guess(root),
                Root::Legacy(root) => WriterLayout::guess(root),
            }
        }
    };
    facts.push(("layout of tables", layout.name.into()));
    facts
}
