//! Prints what the command prints, from the library alone.
//!
//! ```text
//! documents check FILE   as `pte check --json FILE`
//! documents info FILE    as `pte info --json FILE`
//! documents size FILE    as `pte size --json FILE`
//! documents ops FILE     as `pte ops --format yaml FILE`
//! documents graph FILE   as `pte graph --json FILE`
//! ```

use core::convert::Infallible;
use core::error::Error;
use std::{env, fs};

use pte::check::{CheckDocument, CheckedFile, Checker};
use pte::graph::GraphDocument;
use pte::map::{Duplicates, Map, SizeDocument, SizeTree, StoredFile};
use pte::operators::usage::UsageReport;
use pte::payload::PayloadContents;
use pte::summary::{Summary, SummaryDocument};
use pte::{File, Handle, Limits, document};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = env::args().collect();
    let [_, verb, path] = args.as_slice() else { return Err("usage: documents VERB FILE".into()) };
    print!("{}", print(verb, path)?);
    Ok(())
}

/// Returns the document of the file at `path`.
pub(crate) fn print(verb: &str, path: &str) -> Result<String, Box<dyn Error>> {
    let (bytes, limits) = (fs::read(path)?, Limits::UNTRUSTED);
    let file = File::read_with(&bytes, &limits)?;
    let mut text = Vec::new();
    match (verb, &file) {
        ("check", _) => {
            let handle = Handle::open(&bytes[..], &limits)?;
            let report = Checker::new().check(&handle)?;
            let mut checked = CheckedFile::new(path, &file);
            checked.add(&handle, &[], &report);
            document::write_pretty(&mut text, &CheckDocument::new(&[checked]))?;
        }
        ("info", _) => {
            let summary = Summary::read(&Handle::open(&bytes[..], &limits)?, &limits)?.named(path);
            document::write_pretty(&mut text, &SummaryDocument::new([summary]))?;
        }
        ("size", _) => {
            let handle = Handle::open(&bytes[..], &limits)?;
            let payloads = PayloadContents::all_with_parts(&handle, &limits)?;
            let files = [SizeTree::of(path, &file, &payloads, &limits)?];
            let map = Map::with_payloads(&file, &payloads);
            let stored = StoredFile::of(path, &map, |_| Ok::<_, Infallible>(()))?;
            let document = SizeDocument::new(&files, None, None, 0);
            let found = Duplicates::of_handle(&stored, &handle)?;
            document::write_pretty(&mut text, &document.with_duplicates(Some(found)))?;
        }
        ("ops", File::Pte(pte)) => {
            let mut report = UsageReport::default();
            report.add(path, pte);
            return Ok(report.to_yaml());
        }
        ("graph", File::Pte(pte)) => {
            document::write_rows(&mut text, &GraphDocument::new(path, pte))?;
        }
        _ => return Err("no such document of this file".into()),
    }
    Ok(String::from_utf8(text)?)
}
