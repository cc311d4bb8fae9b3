//! A row: what a scan knows about one file.

use serde::Serialize;

use pte_flat::quoted::Untrusted;

/// The name and version of the rows' schema.
pub const SCHEMA: &str = "pte.scan/1";

/// An escaped text in a row: control and invisible characters are `\u{..}`. A text that a
/// spreadsheet would run as a formula gets an apostrophe in front.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cell(String);

/// A name, and the number of its occurrences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CountCell {
    /// The name.
    pub name: Cell,
    /// The number of occurrences.
    pub count: u64,
}

/// A backend and its delegates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BackendCell {
    /// The id.
    pub id: Cell,
    /// The number of delegates.
    pub delegates: u64,
    /// The number of bytes of all payloads. A shared payload counts once.
    pub bytes: u64,
    /// The number of nodes of the graphs in the payloads; 0 if they were not read.
    pub nodes: u64,
}

/// A row about one file. The field names are those of the columns. A field is `None` if it is not known,
/// such as the kind of a refused file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// The schema's name, [`SCHEMA`].
    pub schema: &'static str,
    /// The path or the URL, without a query.
    pub uri: Cell,
    /// `pte` or `ptd`.
    pub kind: Option<&'static str>,
    /// The size in bytes.
    pub size: Option<u64>,
    /// The entity tag of a remote file.
    pub etag: Option<Cell>,
    /// The commit of a repository that the file is from.
    pub commit: Option<Cell>,
    /// The time of the last change, in milliseconds since 1970.
    pub mtime_ms: Option<i64>,
    /// The status: `ok`, `incomplete` if the file needs data of a `.ptd`, which a scan does not look for, `error` if a
    /// finding has severity Error, `refused` if the file is not
    /// accepted (see `code`), or `unreadable` if reading failed.
    pub status: &'static str,
    /// The code of the refusal, or the rule of the first Error.
    pub code: Option<&'static str>,
    /// The file offset of the refusal or of the first Error.
    pub offset: Option<u64>,
    /// The message of the refusal, of the first Error, or of the failed read.
    pub message: Option<Cell>,
    /// The number of findings of severity Error.
    pub errors: u64,
    /// The number of findings of severity Warning.
    pub warnings: u64,
    /// The number of findings of severity Note.
    pub notes: u64,
    /// The number of findings of each rule.
    pub findings: Vec<CountCell>,
    /// The version that a program declares, or the generation of named data.
    pub version: Option<u64>,
    /// The names of methods.
    pub methods: Vec<Cell>,
    /// The operators, with the number of calls.
    pub operators: Vec<CountCell>,
    /// The backends.
    pub backends: Vec<BackendCell>,
    /// The kinds of payloads by the backends' common names, with the number of delegates.
    pub payloads: Vec<CountCell>,
    /// The number of tensors whose data is in another file.
    pub external_tensors: u64,
    /// The number of bytes of these tensors.
    pub external_bytes: u64,
    /// The keys of these tensors, each once.
    pub external_keys: Vec<Cell>,
    /// The number of keys of data that the file needs from a `.ptd`: of tensors and of delegates.
    pub missing: u64,
    /// The first of these keys.
    pub missing_keys: Vec<Cell>,
    /// The number of bytes of the FlatBuffer, including the headers in front of it.
    pub flatbuffer_bytes: Option<u64>,
    /// The number of bytes between the FlatBuffer and the first segment.
    pub padding_bytes: Option<u64>,
    /// The number of bytes of the segments, including the gaps between them.
    pub segment_bytes: Option<u64>,
    /// The number of bytes after the last segment.
    pub trailing_bytes: Option<u64>,
    /// Whether a list or a text was cut to its maximum length.
    pub is_cut: bool,
    /// The sha256 of all bytes, if it was requested.
    pub sha256: Option<Cell>,
    /// The number of reads of the file, or of requests for it.
    pub requests: u64,
    /// The number of bytes that were read.
    pub bytes_read: u64,
    /// The time that judging took, in microseconds.
    pub time_us: u64,
    /// The depth of the judgement: `header`, `check` or `hash`.
    pub depth: &'static str,
    /// The version of this package.
    pub tool: &'static str,
    /// A digest of the rules' ids and severities.
    pub rules: Cell,
}

impl Cell {
    /// Escapes a text. A text of more than 1,000 characters is cut.
    #[must_use]
    pub fn of<'t>(text: impl Into<Untrusted<'t>>) -> Self {
        let shown = text.into().cut(MAX_CHARACTERS);
        match shown.starts_with(['=', '+', '-', '@', '\'']) {
            true => Self(format!("'{shown}")),
            false => Self(shown),
        }
    }

    /// Returns the escaped text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl CountCell {
    pub(super) fn new<'t>(name: impl Into<Untrusted<'t>>, count: u64) -> Self {
        Self { name: Cell::of(name), count }
    }
}

impl Row {
    /// Returns the first [`MAX_ITEMS`] items of a list, and notes if others were cut.
    pub(super) fn first<T, U>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        each: impl FnMut(T) -> U,
    ) -> Vec<U> {
        let mut items = items.into_iter();
        let first = items.by_ref().take(MAX_ITEMS).map(each).collect();
        self.is_cut |= items.next().is_some();
        first
    }

    /// Returns the approximate memory that the row takes, in bytes.
    pub(super) fn weight(&self) -> usize {
        let cell = |cell: &Cell| cell.0.len().saturating_add(48);
        let lists = self.methods.iter().chain(&self.external_keys).chain(&self.missing_keys);
        let lists = lists.map(cell);
        let counts = self.findings.iter().chain(&self.operators).chain(&self.payloads);
        let counts = counts.map(|count| cell(&count.name));
        let backends = self.backends.iter().map(|backend| cell(&backend.id));
        let texts = [&self.message, &self.etag, &self.commit, &self.sha256].into_iter().flatten();
        let texts = texts.chain([&self.uri]).map(cell);
        lists
            .chain(counts)
            .chain(backends)
            .chain(texts)
            .fold(size_of::<Self>(), usize::saturating_add)
    }
}

/// The maximum number of characters of a text in a row.
const MAX_CHARACTERS: usize = 1_000;

/// The maximum number of items of a list in a row.
const MAX_ITEMS: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::Cell;

    #[test]
    fn a_text_that_a_spreadsheet_would_run_is_quoted() {
        for (text, shown) in [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", r"\t=1"),
            ("\r=1", r"\r=1"),
            ("'=1", "''=1"),
            ("aten::add.out", "aten::add.out"),
            ("a=1", "a=1"),
        ] {
            assert_eq!(Cell::of(text).as_str(), shown);
        }
    }

    #[test]
    fn control_and_invisible_characters_are_escaped() {
        assert_eq!(Cell::of("a\u{1b}[2J\u{202e}b\0").as_str(), r"a\u{1b}[2J\u{202e}b\u{0}");
        assert_eq!(Cell::of("x".repeat(2000).as_str()).as_str().chars().count(), 1001);
    }
}
