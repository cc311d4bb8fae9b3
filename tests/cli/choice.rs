//! `--method` in verbs that show methods, and several files in verbs that show files.

use serde_json::Value;

use super::{BASIC, LINEAR, good, json, pte, text};

const MULTI: &str = "tests/data/pte/v0.6.0_multi.pte";
const DELEGATES: &str = "tests/data/pte/xnn_multi.pte";
const PROFILE: &str = "tests/data/other/mlp.etdp";

/// `ops` of one method shows the same as `ops` of all methods shows of that method.
#[test]
fn ops_shows_the_method_that_is_chosen() {
    for file in [MULTI, DELEGATES] {
        let whole = json(&["ops", "--json", file]);
        let all = whole["files"][0]["methods"].as_array().unwrap();
        assert!(all.len() > 1);
        for method in all {
            let name = method["name"].as_str().unwrap();
            let one = json(&["ops", "--json", "--method", name, file]);
            assert_eq!(one["files"][0]["methods"], Value::from(vec![method.clone()]), "{name}");
            assert_eq!(one["files"][0]["method_count"], 1);
            let names = |of: &Value| -> Vec<String> {
                let mut names: Vec<_> = of["operators"].as_array().unwrap().iter().collect();
                names.sort_by_key(|of| of["name"].as_str());
                names.iter().map(|of| of["name"].as_str().unwrap().to_owned()).collect()
            };
            assert_eq!(names(&one), names(method), "{name}");
            let yaml = good(&["ops", "--format", "yaml", "--method", name, file]);
            assert!(names(method).iter().all(|name| yaml.contains(name)), "{yaml}");
        }
        // A method has the nodes of its payloads alone, and the methods of these files share none.
        let nodes = |of: &Value| -> u64 {
            let nodes = of["nodes"].as_array().unwrap().iter();
            nodes.map(|node| node["nodes"].as_u64().unwrap()).sum()
        };
        let of_methods = all.iter().map(|method| {
            nodes(&json(&["ops", "--json", "--method", method["name"].as_str().unwrap(), file]))
        });
        assert_eq!(of_methods.sum::<u64>(), nodes(&whole));
    }
}

#[test]
fn diff_compares_the_method_that_is_chosen() {
    let edited = tempfile::tempdir().unwrap();
    let other = edited.path().join("other.pte");
    let other = other.to_str().unwrap();
    good(&["edit", "-q", MULTI, "--set-data", &format!("key={LINEAR}"), "-o", other]);
    let methods = json(&["info", "--json", MULTI])["files"][0]["methods"].clone();
    let (first, last) =
        (methods[0]["name"].as_str().unwrap(), methods[1]["name"].as_str().unwrap());
    // Named data belongs to no method.
    assert_eq!(pte(&["diff", MULTI, other]).status.code(), Some(1));
    let alone = json(&["diff", "--json", "--method", first, MULTI, other]);
    assert_eq!((&alone["verdict"], &alone["count"]), (&"same".into(), &0.into()));
    assert_eq!(alone["written"], Value::from(Vec::<Value>::new()));
    // A method that only one of the files has is a difference.
    let removed = json_of(&["diff", "--json", "--method", last, MULTI, LINEAR]);
    assert!(removed["count"].as_u64().unwrap() > 0);
    for difference in removed["differences"].as_array().unwrap() {
        let of = if difference["method"].is_null() { "place" } else { "method" };
        assert_eq!(difference[of], last, "{difference}");
    }
}

/// Returns the JSON document of a comparison. Its exit status may be 1.
fn json_of(args: &[&str]) -> Value {
    serde_json::from_slice(&pte(args).stdout).unwrap()
}

#[test]
fn dump_prints_the_table_of_the_method_that_is_chosen() {
    for file in [MULTI, DELEGATES] {
        let whole = json(&["dump", file]);
        for plan in whole["execution_plan"].as_array().unwrap() {
            let name = plan["name"].as_str().unwrap();
            assert_eq!(&json(&["dump", "--method", name, file]), plan, "{name}");
        }
    }
}

#[test]
fn a_method_that_is_missing_is_named() {
    for line in [
        &["ops", "--method", "no such", LINEAR][..],
        &["diff", "--method", "no such", LINEAR, LINEAR],
        &["dump", "--method", "no such", LINEAR],
        &["dump", "--method", "no such", BASIC],
    ] {
        let done = pte(line);
        assert_eq!(done.status.code(), Some(1), "{line:?}");
        assert!(text(&done.stderr).contains("there is no method \"no such\""), "{line:?}");
    }
}

#[test]
fn several_files_are_mapped_and_timed() {
    let (one, two) = (good(&["map", LINEAR]), good(&["map", BASIC]));
    assert_eq!(good(&["map", LINEAR, BASIC]), format!("{one}\n{two}"));
    let documents = good(&["map", "--json", LINEAR, BASIC]);
    assert_eq!(documents, good(&["map", "--json", LINEAR]) + &good(&["map", "--json", BASIC]));
    let copy = tempfile::tempdir().unwrap();
    let copy = copy.path().join("copy.etdp");
    std::fs::copy(crate::support::files::path(PROFILE), &copy).unwrap();
    let copy = copy.to_str().unwrap();
    let two = good(&["profile", PROFILE, copy]);
    assert_eq!(two, format!("{}\n{}", good(&["profile", PROFILE]), good(&["profile", copy])));
    // A file that is refused is reported beside the others.
    for verb in [["map", "--json"], ["profile", "--json"]] {
        let good = if verb[0] == "map" { LINEAR } else { PROFILE };
        let done = pte(&[&verb[..], &["README.md", good]].concat());
        assert_eq!(done.status.code(), Some(1));
        let documents = serde_json::Deserializer::from_slice(&done.stdout).into_iter::<Value>();
        let schemas: Vec<_> = documents.map(|of| of.unwrap()["schema"].clone()).collect();
        assert_eq!(schemas, ["pte.error/1".into(), Value::from(format!("pte.{}/1", verb[0]))]);
    }
    for line in [&["map", "--html", LINEAR, BASIC][..], &["map", "--at", "0", LINEAR, BASIC]] {
        assert_eq!(pte(line).status.code(), Some(2), "{line:?}");
    }
}
