//! Documents that the command writes a row at a time: here they are texts.

use pte::check::NEWEST;
use pte::map::{Map, MapDocument, Nesting, RangeEntry};
use pte::memory::{DocumentWriter, Memory, MethodDocument, PointerWidth, Pools, Target};
use pte::payload::{PayloadContents, Scratch};
use pte::quoted::{UntrustedString, hex};
use pte::schema::program::view::ExecutionPlan;
use pte::{File, Limits, document};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::{Failure, Result};
use crate::source::Source;

/// The budget of bytes for names in the documents of a file. A small file may repeat a long name.
#[derive(Debug)]
pub(crate) struct Names {
    left: u64,
    limit: u64,
}

impl Names {
    /// Allows as many bytes as the file's limits do, and 1 MiB.
    pub(crate) fn new(of: &pte::Handle<Source>, limits: &Limits) -> Self {
        let limit = of.file_len().saturating_mul(limits.amplification.into());
        let limit = limit.saturating_add(1 << 20);
        Self { left: limit, limit }
    }

    /// Counts a name.
    pub(crate) fn charge(&mut self, name: &str) -> Result<()> {
        let len = u64::try_from(name.len()).unwrap_or(u64::MAX);
        let limit = self.limit;
        self.left = self.left.checked_sub(len).ok_or_else(|| Failure::Absent {
            code: "work-limit",
            message: format!("names would take more than {limit} bytes: one is used repeatedly"),
        })?;
        Ok(())
    }
}

/// Returns the JSON of a blob: its digest and length; `None` to write its bytes as numbers.
pub(crate) fn blob(bytes: &[u8], inline: bool) -> Option<String> {
    if inline || bytes.len() <= MOST_NUMBERS {
        return None;
    }
    let digest = hex(&Sha256::digest(bytes));
    Some(format!("{{\"sha256\": \"{digest}\", \"len\": {}}}", bytes.len()))
}

/// Returns the document `pte.memory/1`.
pub(crate) fn memory(
    of: &pte::Handle<Source>,
    name: &UntrustedString,
    limits: &Limits,
    method: Option<&str>,
) -> Result<String> {
    let file = of.file();
    let pte = match &file {
        File::Pte(pte) => Some(pte),
        File::Ptd(_) => None,
    };
    let all = pte.and_then(|pte| pte.program().execution_plan()).into_iter().flatten();
    let is_chosen = |plan: &ExecutionPlan<'_>| {
        method.is_none_or(|method| method == plan.name().unwrap_or_default())
    };
    let plans: Vec<_> = all.filter(is_chosen).collect();
    if let (Some(method), true) = (method, plans.is_empty()) {
        return Err(Failure::Value(format!("there is no method {method:?}")));
    }
    let mut names = Names::new(of, limits);
    let scratch = Scratch::read(of, limits)?;
    let mut out = Vec::new();
    let mut document = DocumentWriter::begin(&mut out, name, &file, plans.len())?;
    for plan in plans.iter().take(DocumentWriter::MOST_METHODS) {
        let Some(pte) = pte else { continue };
        let memory = Memory::of(pte, *plan);
        let targets = PointerWidth::ALL.into_iter().filter_map(|width| Target::new(NEWEST, width));
        let pools: Vec<_> = targets.map(|target| Pools::of(pte, *plan, &scratch, target)).collect();
        let row = MethodDocument::new(&memory, scratch.of(pte, *plan)).with_pools(&pools);
        row.charge_names(|name| names.charge(name))?;
        document.method(&mut out, &row)?;
    }
    document.end(&mut out)?;
    utf8(out)
}

/// Returns the document `pte.map/1`.
pub(crate) fn map(
    of: &pte::Handle<Source>,
    name: &UntrustedString,
    limits: &Limits,
    depth: Option<u32>,
) -> Result<String> {
    let file = of.file();
    let payloads = PayloadContents::all_with_parts(of, limits)?;
    let map = Map::in_detail_with_payloads(&file, &payloads);
    let nesting = match depth {
        Some(depth) => Nesting { depth, most: usize::MAX },
        None => Nesting::default(),
    };
    let most = RangeEntry::MOST_UNFOLDED;
    if depth.is_some_and(|depth| depth > 2) && map.pieces().len() > most {
        let message = format!("the file has more than {most} ranges: leave the depth out");
        return Err(Failure::Absent { code: "work-limit", message });
    }
    let mut names = Names::new(of, limits);
    let ranges = map.ranges(nesting);
    ranges.charge_names(|name| names.charge(name))?;
    text(&MapDocument::new(name, file.file_len(), &ranges))
}

/// Returns the text of a document.
pub(crate) fn text(document: &impl Serialize) -> Result<String> {
    let mut out = Vec::new();
    document::write_line(&mut out, document)?;
    utf8(out)
}

/// Returns the bytes of a document as text.
pub(crate) fn utf8(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| Failure::absent("internal", &error))
}

/// The longest `[ubyte]` that is always written as numbers, in bytes.
const MOST_NUMBERS: usize = 64;
