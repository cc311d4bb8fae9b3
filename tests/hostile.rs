//! Files that are wrong on purpose: for each error code a file, and the place of the error.

use core::fmt::Write;
use std::collections::BTreeMap;

use pte::{Error, ErrorKind, File, Handle, Limits, Ptd, Pte};

use crate::support::asm::Asm;
use crate::support::snapshot::assert_snapshot;

mod accepted;
mod alignment;
mod container;
mod every_byte;
mod every_field;
mod finding;
mod generation;
mod payload;
mod resolve;
mod structure;
mod work;

/// A hostile input, and the expected error.
struct Case {
    code: &'static str,
    /// The attack in words.
    attack: &'static str,
    /// The offset of the wrong bytes.
    offset: u64,
    error: Error,
}

/// Reads `asm`, which must be refused for `code` at the place `at`.
#[track_caller]
fn case(code: &'static str, attack: &'static str, asm: &Asm, at: &str) -> Case {
    let bytes = asm.finish();
    let error = read(&bytes).map(drop).expect_err(attack);
    let opened =
        Handle::open(&bytes[..], &Limits::UNTRUSTED).map(drop).map_err(|refused| match refused {
            pte::OpenError::Refused(error) => error,
            other => panic!("{attack}: {other}"),
        });
    assert_eq!(opened.as_ref(), Err(&error), "{attack}: by ranges and from memory");
    Case { code, attack, offset: asm.at(at), error }
}

/// The same for an error that only a call on the proven file returns.
fn case_of(code: &'static str, attack: &'static str, error: Error, offset: u64) -> Case {
    Case { code, attack, offset, error }
}

/// Reads a file as the kind that its identifier names. Without an identifier it is read as a program.
fn read(bytes: &[u8]) -> Result<File<'_>, Error> {
    match bytes.starts_with(b"FH") || bytes.get(4..6) == Some(b"FT") {
        true => Ptd::read(bytes).map(File::Ptd),
        false => Pte::read(bytes).map(File::Pte),
    }
}

#[test]
fn every_code_is_given_to_those_who_earn_it() {
    let families = [
        container::cases(),
        structure::cases(),
        work::cases(),
        resolve::cases(),
        generation::cases(),
        payload::cases(),
    ];
    let mut by_code: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for case in families.into_iter().flatten() {
        by_code.entry(case.code).or_default().push(case);
    }
    let tested: Vec<&str> = by_code.keys().copied().collect();
    let known: Vec<&str> = ErrorKind::CODES.iter().map(|code| code.id).collect();
    assert_eq!(tested, known, "a code without a case, a case of no code, or codes out of order");

    let mut wrong = String::new();
    for Case { code, attack, offset, error } in by_code.values().flatten() {
        if (*code, *offset) != (error.code(), error.offset()) {
            writeln!(wrong, "{attack}: {code} at {offset:#x}, not {}", reported(error)).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");

    for (code, cases) in &by_code {
        let help = cases[0].error.kind().help();
        let mut text = String::new();
        for case in cases {
            writeln!(text, "{}\n  {}\n", case.attack, reported(&case.error)).unwrap();
        }
        assert_snapshot(&format!("hostile-{code}"), &format!("{text}help: {help}"));
    }
}

/// A refusal as the command shows it, indented.
fn reported(error: &Error) -> String {
    format!("error[{}]: {error}\n    at {}", error.code(), error.place())
}
