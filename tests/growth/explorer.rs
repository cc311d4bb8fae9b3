//! Tests that the nodes for Model Explorer are a small multiple of every hostile file.

use crate::support::hostile;
use pte::explorer::ExplorerDocument;
use pte::{Handle, Limits};

/// The most characters of nodes for each byte of a file, as `Debug` writes them: more than JSON has.
const MOST_CHARACTERS: f64 = 250.0;

#[test]
fn no_file_becomes_a_document_of_many_times_its_size() {
    let mut wrong = Vec::new();
    for family in hostile::families() {
        let bytes = family.make(256).0;
        let opened = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
        let document = ExplorerDocument::of("f", &opened, true, &Limits::UNTRUSTED).unwrap();
        let (mut nodes, mut characters) = (0u32, 0usize);
        let counted = document.each_node(&mut |node| {
            nodes += 1;
            characters += format!("{node:?}").len();
            Ok::<_, core::convert::Infallible>(())
        });
        counted.unwrap();
        let each = characters as f64 / bytes.len() as f64;
        if each > MOST_CHARACTERS {
            wrong.push(format!("{}: {nodes} nodes, {each:.0} for each byte", family.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
