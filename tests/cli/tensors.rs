//! `pte tensors`: rows, hashes and statistics.

use serde_json::Value;

use super::{LINEAR, good, json, pte, run, text};
use crate::support::build::file;
use crate::support::fixture::Fixture;
use crate::support::snapshot::assert_snapshot;

#[test]
fn tensors_lists_hashes_and_statistics() {
    let list = |args: &[&str]| good(&[&["tensors"], args].concat());
    assert_snapshot("tensors-program", &list(&["--hash", "--stats", LINEAR]));
    assert_snapshot("tensors-mutable", &list(&["tests/data/pte/v0.6.0_mutable_init.pte"]));
    assert_snapshot("tensors-external", &list(&["tests/data/pte/external_all.pte"]));
    assert_snapshot("tensors-dtypes", &list(&["--stats", "tests/data/ptd/ptd_dtypes.ptd"]));
    assert_snapshot("tensors-blobs", &list(&["--hash", "--json", "tests/data/ptd/ptd_blobs.ptd"]));
    assert_snapshot("tensors-json", &list(&["--stats", "--json", LINEAR]));
}

#[test]
fn tensors_largest_sorts_by_bytes() {
    for path in ["tests/data/pte/xnn_gpt.pte", "tests/data/ptd/ptd_dtypes.ptd", LINEAR] {
        let rows = |args: &[&str]| {
            let listed = json(&[&["tensors", "--json", path], args].concat());
            listed["tensors"].as_array().unwrap().clone()
        };
        let mut all = rows(&[]);
        // Named data that a payload uses is listed as a constant.
        let constants: Vec<_> = all.iter().filter(|row| row.get("value").is_some()).collect();
        let known: Vec<_> = constants.iter().map(|row| row["offset"].clone()).collect();
        all.retain(|row| row["storage"] != "blob" || !known.contains(&row["offset"]));
        // The sort is stable.
        all.sort_by_key(|row| std::cmp::Reverse(row["bytes"].as_u64()));
        for most in [0, 1, 3, 1000] {
            let shown = rows(&["--largest", &most.to_string()]);
            assert_eq!(shown, all[..most.min(all.len())], "{path}");
        }
    }
}

/// The same bytes have different statistics for two dtypes.
#[test]
fn tensors_stats_depend_on_the_dtype() {
    let entry = |key: &str, dtype: &str| {
        serde_json::json!({"key": key, "tensor_layout":
            {"scalar_type": dtype, "sizes": [1], "dim_order": [0]}})
    };
    let json = serde_json::json!({
        "kind": "ptd", "data": [{"hex": "0000803f"}], "root": {
            "segments": [{"size": 4}],
            "named_data": [entry("f", "FLOAT"), entry("i", "INT"), entry("g", "FLOAT")]
        }
    });
    let done = run(&["tensors", "--stats", "--json", "-"], None, &file(&json.to_string()));
    let listed: Value = serde_json::from_slice(&done.stdout).unwrap();
    let most = |nth: usize| listed["tensors"][nth]["stats"]["max"].to_string();
    assert_eq!([most(0), most(1), most(2)], ["1.0", "1065353216", "1.0"]);
}

/// An external tensor may have a place in an arena, such as a state that is loaded from a `.ptd`.
#[test]
fn tensors_lists_the_arena_of_an_external_tensor() {
    let json = serde_json::json!({"root": {"execution_plan": [{"name": "forward", "values": [
        {"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": [1], "dim_order": [0],
            "allocation_info": {"memory_id": 2, "memory_offset_low": 16, "memory_offset_high": 1},
            "extra_tensor_info": {"fully_qualified_name": "k", "location": "EXTERNAL"}}}]}]}});
    let done = run(&["tensors", "--json", "-"], None, &file(&json.to_string()));
    let listed: Value = serde_json::from_slice(&done.stdout).unwrap();
    let row = &listed["tensors"][0];
    assert_eq!(row["storage"], "external");
    assert_eq!((&row["memory_id"], &row["memory_offset"]), (&2.into(), &4_294_967_312_u64.into()));
}

/// Counts of zeros, NaNs and infinities are the same in text and JSON.
#[test]
fn tensors_text_and_json_have_the_same_counts() {
    let json = serde_json::json!({
        "kind": "ptd", "data": [{"hex": "000000000000c07f0000807f000080ff0000807f000000000000803f"}],
        "root": {"segments": [{"size": 28}], "named_data": [{"key": "f", "tensor_layout":
            {"scalar_type": "FLOAT", "sizes": [7], "dim_order": [0]}}]}
    });
    let bytes = file(&json.to_string());
    let done = run(&["tensors", "--stats", "--json", "-"], None, &bytes);
    let listed: Value = serde_json::from_slice(&done.stdout).unwrap();
    let stats = &listed["tensors"][0]["stats"];
    let counts = ["zeros", "nan", "inf"].map(|name| stats[name].as_u64().unwrap());
    assert_eq!(counts, [2, 1, 3]);
    let shown = text(&run(&["tensors", "--stats", "-"], None, &bytes).stdout);
    assert!(shown.ends_with(" zeros 2 NaN 1 Inf 3\n"), "{shown}");
}

/// Several files one after the other; one that cannot be read is reported in its place.
#[test]
fn tensors_and_memory_take_several_files() {
    let files = [LINEAR, "no-such.pte", "tests/data/pte/add.pte"];
    for verb in ["tensors", "memory"] {
        let done = pte(&[&[verb][..], &files].concat());
        assert_eq!(done.status.code(), Some(3), "{}", text(&done.stderr));
        let shown = text(&done.stdout);
        let at = |file: &str| shown.find(file).unwrap_or_else(|| panic!("{file}: {shown}"));
        assert!(at(files[0]) < at(files[2]), "{shown}");
        let done = pte(&[&[verb, "--json"][..], &files].concat());
        let documents = serde_json::Deserializer::from_slice(&done.stdout).into_iter::<Value>();
        let documents: Vec<_> = documents.map(Result::unwrap).collect();
        let schema = format!("pte.{verb}/1");
        let schemas: Vec<_> = documents.iter().map(|of| of["schema"].as_str().unwrap()).collect();
        assert_eq!(schemas, [schema.as_str(), "pte.error/1", schema.as_str()]);
        assert_eq!(documents[2]["path"], files[2]);
    }
}

/// A list without rows is reported as such, since a heading alone looks like a failure.
#[test]
fn a_list_without_rows_says_so() {
    let shown = good(&["tensors", "--unquantized", "tests/data/pte/add.pte"]);
    assert!(shown.ends_with("no weights that are not quantized\n"), "{shown}");
}

/// The status shows whether there is a row, as with grep.
#[test]
fn a_key_that_nothing_has_is_status_1() {
    let done = pte(&["tensors", "--key", "no such", "tests/data/ptd/ptd_basic.ptd"]);
    assert_eq!(done.status.code(), Some(1));
    let shown = text(&done.stdout);
    assert!(shown.ends_with("no data has this key, and nothing requests it\n"), "{shown}");
    // A key is given by its start.
    let code = |key| pte(&["tensors", "--key", key, "tests/data/pte/mlx_mlp.pte"]).status.code();
    assert_eq!(code("7e98/ls.0.w"), Some(0));
    assert_eq!(code("ls.0.weight"), Some(1));
}

/// The users of a blob are the delegates that request it, of every known backend.
#[test]
fn tensors_of_a_key_list_the_delegates_that_request_it() {
    for (file, key, backend) in [
        ("tests/data/pte/mlx_mlp.pte", "7e98/ls.0.weight", "MLXBackend"),
        ("tests/data/pte/vulkan_conv.pte", "c7e7159b98", "VulkanBackend"),
    ] {
        let listed = json(&["tensors", "--json", "--key", key, file]);
        let rows = listed["tensors"].as_array().unwrap();
        assert_eq!(rows.len(), 2, "{rows:?}");
        assert_eq!((&rows[0]["storage"], &rows[1]["storage"]), (&"blob".into(), &"named".into()));
        assert_eq!((&rows[1]["backend"], &rows[1]["delegate"]), (&backend.into(), &0.into()));
        assert_eq!((&rows[0]["key"], &rows[0]["offset"]), (&rows[1]["key"], &rows[1]["offset"]));
        // Without a key, the delegates are listed too, and with --largest they replace the blob.
        let all = json(&["tensors", "--json", file]);
        let all = all["tensors"].as_array().unwrap();
        assert!(all.contains(&rows[0]) && all.contains(&rows[1]), "{all:?}");
        let largest = json(&["tensors", "--json", "--largest", "99", file]);
        let largest = largest["tensors"].as_array().unwrap();
        assert!(!largest.contains(&rows[0]) && largest.contains(&rows[1]), "{largest:?}");
    }
}

/// Scales in named data have users too: the constants that they belong to.
#[test]
fn tensors_of_a_key_list_the_constants_whose_scales_it_has() {
    let bytes = Fixture::read("base/delegate-keys").unwrap().parts().bytes;
    let done = run(&["tensors", "--json", "--key", "scales", "-"], None, &bytes);
    let listed: Value = serde_json::from_slice(&done.stdout).unwrap();
    let rows = listed["tensors"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["scale_key"] == "scales"), "{rows:?}");
}

/// If the weights of a backend are not known, an empty list does not mean that all are quantized.
#[test]
fn unquantized_weights_of_other_backends_are_said_to_be_unknown() {
    let done = pte(&["tensors", "--unquantized", "tests/data/pte/vulkan_conv.pte"]);
    assert_eq!(done.status.code(), Some(0));
    let note = "the weights of 1 delegate are not known";
    assert!(text(&done.stderr).contains(note), "{}", text(&done.stderr));
    let known = pte(&["tensors", "--unquantized", "tests/data/pte/xnn_gpt.pte"]);
    assert_eq!(text(&known.stderr), "");
}

/// The ids are those that `extract --tensor` takes.
#[test]
fn tensors_lists_the_constants_of_a_payload() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("payload");
    let path = path.to_str().unwrap();
    let program = "tests/data/pte/v0.5.0_xnn_qs8.pte";
    good(&["extract", program, "--delegate", "forward:0", "-o", path]);
    let rows = |path: &str| {
        let listed = json(&["tensors", "--json", "--hash", "--stats", path]);
        let mut rows = listed["tensors"].as_array().unwrap().clone();
        rows.retain(|row| row.get("delegate").is_some());
        rows
    };
    let (alone, within) = (rows(path), rows(program));
    assert!(alone.len() == within.len() && !alone.is_empty());
    for (alone, within) in alone.iter().zip(&within) {
        for field in ["value", "node", "dtype", "sizes", "quantization", "sha256", "stats"] {
            assert_eq!(alone[field], within[field], "{field}");
        }
        let done = pte(&["extract", path, "--tensor", &alone["value"].to_string()]);
        assert_eq!(super::sha256(&done.stdout), alone["sha256"].as_str().unwrap());
    }
    let stream = run(&["tensors", "-"], None, &std::fs::read(path).unwrap());
    assert_eq!(text(&stream.stdout), good(&["tensors", path]));
    let largest = json(&["tensors", "--json", "--largest", "1", path]);
    assert_eq!(largest["tensors"].as_array().unwrap().len(), 1);
    assert_eq!(pte(&["tensors", "--method", "forward", path]).status.code(), Some(1));
}
