//! The library contains everything that the command shows: `examples/documents.rs` does not use the
//! feature `cli`.

use crate::support::files;
use crate::support::snapshot::assert_snapshot;

#[path = "../examples/documents.rs"]
#[expect(dead_code, reason = "the test calls what the program's main function calls")]
mod documents;

/// The library gives the same snapshots as the command.
#[test]
fn the_library_alone_prints_the_document_of_info() {
    for (page, file) in
        [("program", "tests/data/pte/xnn_external.pte"), ("data", "tests/data/ptd/ptd_basic.ptd")]
    {
        let path = files::path(file);
        let path = path.to_str().unwrap();
        let document = documents::print("info", path).unwrap().replace(path, file);
        assert_snapshot(&format!("info-json-{page}"), &document);
    }
}

#[test]
fn the_library_prints_the_documents_of_the_command_byte_for_byte() {
    use crate::cli::{pte, text};

    let mut compared = 0;
    for path in files::some_samples() {
        let path = path.to_str().unwrap();
        for (verb, args) in [
            ("check", &["check", "--json"][..]),
            ("info", &["info", "--json"]),
            ("size", &["size", "--json"]),
            ("ops", &["ops", "--format", "yaml"]),
            ("graph", &["graph", "--json"]),
        ] {
            if ["ops", "graph"].contains(&verb) && path.ends_with(".ptd") {
                continue;
            }
            let shown = documents::print(verb, path).unwrap_or_else(|e| panic!("{path}: {e}"));
            assert_eq!(shown, text(&pte(&[args, &[path]].concat()).stdout), "{verb} {path}");
            compared += 1;
        }
    }
    assert!(compared * crate::support::thinned(3) > 100, "{compared}");
}
