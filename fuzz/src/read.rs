//! Reading a whole file of either kind, and what holds for every refusal.

use pte::flat::desc::{Kind, TableDesc};
use pte::schema::{flat_tensor, flat_tensor_legacy, program};
use pte::{Error, ErrorKind, File, Limits, PathComponent, Ptd, Pte, Result};

/// Reads `bytes` as the kind of file that they are.
pub(crate) fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<File<'a>> {
    let error = match Pte::read_with(bytes, limits) {
        Ok(pte) => return Ok(File::Pte(pte)),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::WrongKind { .. } => Ptd::read_with(bytes, limits).map(File::Ptd),
        // Some formats are recognized by their last bytes too.
        ErrorKind::OtherFormat { .. } => File::read_with(bytes, limits),
        _ => Err(error),
    }
}

/// The bytes that were walked.
pub(crate) fn region<'a>(file: &File<'a>) -> &'a [u8] {
    match file {
        File::Pte(pte) => pte.region(),
        File::Ptd(ptd) => ptd.region(),
    }
}

/// Holds for every refusal of a file of `len` bytes: it names a known reason, a place in the file,
/// and a way there that the declarations have.
pub(crate) fn assert_refusal(error: &Error, len: usize) {
    assert_reason(error, len);
    let path: Vec<PathComponent> = error.path().collect();
    assert!(resolves(&path), "{error}: no such place: {}", error.place());
}

/// Asserts the same of an error of a proven file's accessors, which has no path, as [`assert_refusal`].
pub(crate) fn assert_reason(error: &Error, len: usize) {
    let mut codes = ErrorKind::CODES.iter();
    let known = codes.any(|code| (code.id, code.help) == (error.code(), error.kind().help()));
    assert!(known, "{error}: the code {} is not listed", error.code());
    assert!(error.offset() <= wide(len), "{error}: {} is past {len} bytes", error.place());
    assert!(!error.to_string().is_empty(), "{} says nothing", error.code());
}

/// A length as a `u64`.
pub(crate) fn wide(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// Whether a path leads from one of the three roots to something that is declared.
fn resolves(path: &[PathComponent]) -> bool {
    match path {
        [PathComponent::Field("header")] => true,
        [PathComponent::Field("program"), rest @ ..] => declared(program::desc::SCHEMA.root, rest),
        [PathComponent::Field("flat_tensor"), rest @ ..] => {
            declared(flat_tensor::desc::SCHEMA.root, rest)
                || declared(flat_tensor_legacy::desc::SCHEMA.root, rest)
        }
        _ => false,
    }
}

fn declared(table: &TableDesc, path: &[PathComponent]) -> bool {
    let [PathComponent::Field(name), rest @ ..] = path else { return path.is_empty() };
    let Some(field) = table.field(name) else { return false };
    match (field.kind, rest) {
        (_, []) => true,
        (Kind::Table(table), rest) => declared(table, rest),
        (Kind::Tables(table), [PathComponent::Index(_), rest @ ..]) => declared(table, rest),
        (Kind::Union(union), [PathComponent::Variant(name), rest @ ..]) => {
            let member = union.members.iter().find(|member| member.name == *name);
            member.is_some_and(|member| declared(member.table, rest))
        }
        _ => false,
    }
}
