//! `pte graph`: the instructions of a method as a picture.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{LINEAR, append_run, good, json, pte, run, text};
use crate::support::build;
use crate::support::files;
use crate::support::snapshot::assert_snapshot;
use crate::support::thinned;
use crate::support::xnnpack::sound;

mod explorer;

/// Each format, for plain calls, jumps and moves, delegates, and lists.
#[test]
fn instructions_are_drawn() {
    for (page, file) in [
        ("linear", LINEAR),
        ("control-flow", "tests/data/pte/cond.pte"),
        ("delegates", "tests/data/pte/xnn_mixed.pte"),
        ("lists", "tests/data/pte/args_tensorlist.pte"),
    ] {
        let mut shown = String::new();
        for format in ["dot", "mermaid", "json"] {
            shown.push_str(&format!("--format {format}\n"));
            shown.push_str(&good(&["graph", "--format", format, file]));
        }
        assert_snapshot(&format!("graph-{page}"), &shown);
    }
}

/// The picture has every instruction once, and every edge joins two of its nodes. Graphviz can read
/// it.
#[test]
fn every_instruction_is_in_the_picture() {
    let graphviz = Command::new("dot").arg("-V").output().is_ok();
    if !graphviz {
        println!("skipped: whether Graphviz reads it, since there is no dot");
    }
    let mut instructions = 0;
    for path in files::some_samples() {
        let path = path.to_str().unwrap();
        if path.ends_with(".ptd") {
            continue;
        }
        let (graph, info) = (json(&["graph", "--json", path]), json(&["info", "--json", path]));
        let methods = graph["methods"].as_array().unwrap();
        let reported = info["files"][0]["methods"].as_array().unwrap();
        assert_eq!(methods.len(), reported.len(), "{path}");
        let mut ids = BTreeSet::new();
        for (method, reported) in methods.iter().zip(reported) {
            let nodes = method["nodes"].as_array().unwrap();
            let calls = nodes.iter().filter(|node| !node["instruction"].is_null()).count();
            assert_eq!(Some(calls as u64), reported["instructions"].as_u64(), "{path}");
            let outputs = nodes.iter().filter(|node| node["kind"] == "output").count();
            assert_eq!(Some(outputs as u64), reported["output_count"].as_u64(), "{path}");
            instructions += calls;
            for node in nodes {
                assert!(ids.insert(node["id"].as_str().unwrap()), "{path}: {node}");
            }
            for edge in method["edges"].as_array().unwrap() {
                for end in ["from", "to"] {
                    assert!(ids.contains(edge[end].as_str().unwrap()), "{path}: {edge}");
                }
            }
        }
        let dot = good(&["graph", "--constants", path]);
        let boxes =
            dot.lines().filter(|line| line.starts_with("    m") && line.contains(" [label="));
        assert_eq!(boxes.filter(|line| !line.contains(" -> ")).count(), ids.len(), "{path}");
        if graphviz {
            graphviz_reads(&dot, path);
        }
    }
    assert!(instructions * thinned(3) > 300, "{instructions}");
}

/// A value that decides a branch, or that several instructions write, is one node. Each writer has
/// an edge to it, and its reader has an edge from it.
#[test]
fn branches_join_in_a_node() {
    let graph = json(&["graph", "--json", "tests/data/pte/cond.pte"]);
    let method = &graph["methods"][0];
    let edges = |kind: &str, end: &str, id: &str| -> Vec<String> {
        let edges = method["edges"].as_array().unwrap().iter();
        let found = edges.filter(|edge| edge["kind"] == kind && edge[end] == id);
        found
            .map(|edge| edge[if end == "to" { "from" } else { "to" }].as_str().unwrap().into())
            .collect()
    };
    assert_eq!(edges("data", "to", "m0v2"), ["m0i4", "m0i9"], "two moves");
    assert_eq!(edges("data", "from", "m0v2"), ["m0r0"]);
    assert_eq!(edges("jump", "from", "m0i0"), ["m0i6"], "the other branch");
    assert_eq!(edges("jump", "from", "m0i5"), ["m0i10"], "the end");
}

/// A tensor is not initialized before a delegate if an earlier call only reads it, or if its data
/// cannot be located. Such a tensor is an output, and so is an uninitialized one in front of it.
#[test]
fn memory_graph_and_diff_agree_on_what_a_delegate_writes() {
    let tensor = |offset: u32, data: u32| {
        json!({"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": [4],
            "dim_order": [0], "data_buffer_idx": data,
            "allocation_info": {"memory_id": 1, "memory_offset_low": offset}}})
    };
    // Value 0 is an input. Value 1 is the delegate's last argument, after value 2.
    let program = |initial: u32, last: i32| {
        let add = |a: i32, b: i32, out: i32| {
            json!({"instr_args_type": "KernelCall",
                "instr_args": {"op_index": 0, "args": [a, b, 5, out, out]}})
        };
        let run = json!({"instr_args_type": "DelegateCall",
            "instr_args": {"delegate_index": 0, "args": [0, 2, 1]}});
        let other = if initial == 0 { 1 } else { 0 };
        build::file(
            &json!({"root": {"execution_plan": [{
                "name": "forward",
                "values": [tensor(0, 0), tensor(16, initial), tensor(32, 0), tensor(48, 0),
                    tensor(64, 0), {"val_type": "Int", "val": {"int_val": 1}}],
                "inputs": [0],
                "outputs": [4],
                "chains": [{"instructions": [add(0, other, 3), run, add(last, 3, 4)]}],
                "operators": [{"name": "aten::add", "overload": "out"}],
                "delegates": [{"id": "Backend"}],
                "non_const_buffer_sizes": [0, 80],
            }]}})
            .to_string(),
        )
    };
    for initial in [0, 9] {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = [("one", 2), ("other", 3)].map(|(name, last)| {
            let path = folder.path().join(name);
            std::fs::write(&path, program(initial, last)).unwrap();
            path.to_str().unwrap().to_string()
        });
        let memory = json(&["memory", "--json", &one]);
        let tensors = memory["methods"][0]["arenas"][0]["tensors"].as_array().unwrap();
        let two = tensors.iter().find(|tensor| tensor["value"] == 2).unwrap();
        assert_eq!(two["role"], "scratch", "{initial}");
        assert_eq!(two["lives"]["first"]["instruction"], 1, "{initial}");

        let graph = json(&["graph", "--json", &one]);
        let edges = graph["methods"][0]["edges"].as_array().unwrap();
        let edge = edges.iter().find(|edge| edge["value"] == 2).unwrap();
        assert_eq!((&edge["from"], &edge["to"]), (&json!("m0i1"), &json!("m0i2")), "{initial}");

        let shown = text(&pte(&["diff", &one, &other]).stdout);
        assert!(shown.contains("result 0 of call 1"), "{initial}: {shown}");
    }
}

/// Numbers, lists, strings and constants are in the box of their call. With --constants, the
/// constants are nodes.
#[test]
fn constants_are_in_the_calls_that_use_them() {
    let folded = good(&["graph", LINEAR]);
    assert!(folded.contains("(float32[4], ·, ·, 1, 1)"), "{folded}");
    assert!(folded.contains("(float32[4, 8], [1, 0])"), "{folded}");
    assert!(!folded.contains("constant v"), "{folded}");
    let drawn = good(&["graph", "--constants", LINEAR]);
    assert!(drawn.contains("constant v1\\nfloat32[4]"), "{drawn}");
    assert!(drawn.contains("(·, ·, ·, 1, 1)"), "{drawn}");
}

/// A tensor that keeps its contents between runs is a node with a name, which is read and written.
#[test]
fn state_is_a_node() {
    let shown = good(&["graph", "tests/data/pte/mutable_names.pte"]);
    for line in ["m0v0 [label=\"value v0\\ncount\\nfloat32[3]\"", "m0v0 -> m0i0;", "m0i6 -> m0v0;"]
    {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}

/// Straight-line code has no edges of order. With jumps, such edges lead from block to block.
#[test]
fn order_is_drawn_where_control_flow_is_not_a_line() {
    let dotted = |path: &str| good(&["graph", path]).matches("[style=dotted").count();
    assert_eq!(dotted(LINEAR), 0);
    assert_eq!(dotted("tests/data/pte/cond.pte"), 2);
    let next = |path: &str| {
        let graph = json(&["graph", "--json", path]);
        let edges = graph["methods"][0]["edges"].as_array().unwrap().clone();
        edges.iter().filter(|edge| edge["kind"] == "next").count()
    };
    assert_eq!(next(LINEAR), 2, "JSON has all of it");
}

/// A part is a range of instructions, or an instruction with those that it depends on and that
/// depend on it. Instructions outside of the part are dashed.
#[test]
fn a_part_is_drawn() {
    let kinds = |args: &[&str]| -> Vec<String> {
        let graph = json(&[&["graph", "--json", "tests/data/pte/xnn_mixed.pte"], args].concat());
        let nodes = graph["methods"][0]["nodes"].as_array().unwrap().clone();
        let instructions = nodes.iter().filter(|node| !node["instruction"].is_null());
        instructions
            .map(|node| format!("{} {}", node["instruction"], node["kind"].as_str().unwrap()))
            .collect()
    };
    let all = kinds(&[]);
    assert!(all.len() >= 4, "{all:?}");
    let last = (all.len() - 1).to_string();
    assert_eq!(kinds(&["--from", "0", "--to", &last]), all);
    assert_eq!(kinds(&["--from", "1", "--to", "1"]).len(), 3, "one, and both beside it");
    assert_eq!(kinds(&["--around", "0", "--depth", "99"]).len(), all.len());
    let alone = kinds(&["--around", "0", "--depth", "0"]);
    assert_eq!(alone, ["0 delegate", "1 outside"]);
    for (args, message) in [
        (&["--around", "99"][..], "there is no instruction 99"),
        (&["--to", "1:0"], "there is no instruction 1:0"),
    ] {
        let done = pte(&[&["graph", LINEAR], args].concat());
        assert_eq!(done.status.code(), Some(1));
        assert!(text(&done.stderr).contains(message), "{}", text(&done.stderr));
    }
    for args in [&["--around", "1", "--from", "0"][..], &["--depth", "1"], &["--around", "-1"]] {
        assert_eq!(pte(&[&["graph", LINEAR], args].concat()).status.code(), Some(2), "{args:?}");
    }
    let several = pte(&["graph", "tests/data/pte/multi_method.pte", "--from", "0"]);
    assert_eq!(several.status.code(), Some(2));
}

/// In each part, every edge joins two nodes of the picture.
#[test]
fn a_part_has_both_ends_of_its_edges() {
    let mut edges = 0;
    for path in files::some_samples() {
        let path = path.to_str().unwrap();
        if path.ends_with(".ptd") {
            continue;
        }
        for args in [
            &["--simplify"][..],
            &["--from", "1", "--to", "3", "--simplify"],
            &["--around", "1", "--depth", "1"],
            &["--around", "2", "--simplify", "--constants"],
        ] {
            let args = [&["graph", "--json", path, "--method", "forward"], args].concat();
            let done = pte(&args);
            if !done.status.success() {
                continue;
            }
            let graph: Value = serde_json::from_slice(&done.stdout).unwrap();
            let method = &graph["methods"][0];
            let nodes = method["nodes"].as_array().unwrap();
            let ids: BTreeSet<_> = nodes.iter().map(|node| node["id"].as_str().unwrap()).collect();
            for edge in method["edges"].as_array().unwrap() {
                edges += 1;
                for end in ["from", "to"] {
                    assert!(ids.contains(edge[end].as_str().unwrap()), "{args:?}: {edge}");
                }
            }
        }
    }
    assert!(edges * thinned(3) > 500, "{edges}");
}

/// With --simplify, a permute is left out, and its result is joined with its input. A tensor that
/// no call writes is joined with what was last written to its place.
#[test]
fn views_are_joined_with_what_they_show() {
    let tensor = |offset: u32, sizes: &[i32]| {
        json!({"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": sizes,
            "dim_order": (0..sizes.len()).collect::<Vec<_>>(),
            "allocation_info": {"memory_id": 1, "memory_offset_low": offset}}})
    };
    let call = |op: u32, args: &[i32]| json!({"instr_args_type": "KernelCall", "instr_args": {"op_index": op, "args": args}});
    // Value 1 is written, 2 has the place of 1, 3 is a permutation of 2, and 4 has the place of 3.
    let file = build::file(
        &json!({"root": {"execution_plan": [{
            "name": "forward",
            "values": [tensor(0, &[4]), tensor(16, &[4]), tensor(16, &[2, 2]), tensor(32, &[2, 2]),
                tensor(32, &[4]), tensor(48, &[4]),
                {"val_type": "IntList", "val": {"items": [7, 8]}},
                {"val_type": "Int", "val": {"int_val": 1}},
                {"val_type": "Int", "val": {"int_val": 0}}],
            "inputs": [0],
            "outputs": [5],
            "chains": [{"instructions": [call(0, &[0, 1, 1]), call(1, &[2, 6, 3, 3]),
                call(0, &[4, 5, 5])]}],
            "operators": [{"name": "aten::relu", "overload": "out"},
                {"name": "aten::permute_copy", "overload": "out"}],
            "non_const_buffer_sizes": [0, 64],
        }]}})
        .to_string(),
    );
    let data = |args: &[&str]| -> Vec<String> {
        let done = run(&[&["graph", "--json", "-"], args].concat(), None, &file);
        let graph: Value = serde_json::from_slice(&done.stdout).unwrap();
        let edges = graph["methods"][0]["edges"].as_array().unwrap().clone();
        let data = edges.iter().filter(|edge| edge["kind"] == "data");
        data.map(|edge| {
            let end = |end: &str| edge[end].as_str().unwrap().to_string();
            format!("{} {} {}", end("from"), end("to"), edge["value"])
        })
        .collect()
    };
    assert_eq!(data(&[]), ["m0v0 m0i0 0", "m0i0 m0i1 2", "m0i1 m0i2 4", "m0i2 m0r0 5"]);
    assert_eq!(data(&["--simplify"]), ["m0v0 m0i0 0", "m0i0 m0i2 4", "m0i2 m0r0 5"]);
    let shown = text(&run(&["graph", "-"], None, &file).stdout);
    assert!(shown.contains("1: aten::permute_copy.out\\n(·, [1, 0])"), "{shown}");
}

/// Untrusted names are shown as text in every format, and unknown parts are boxes.
#[test]
fn odd_names_and_unknown_parts_are_drawn() {
    let odd = "a\"];x->y;//<b>&lt;\n`#%%{init: {}}%%|]\\";
    let call = |op: i64, args: &[i64]| json!({"instr_args_type": "KernelCall", "instr_args": {"op_index": op, "args": args}});
    let float = json!({"scalar_type": "FLOAT", "sizes": [2], "dim_order": [0],
        "allocation_info": {"memory_id": 1}});
    let value = json!({"val_type": "Tensor", "val": float});
    let root = json!({"execution_plan": [{
        "name": odd,
        "values": [value, value, value, {"val_type": "TensorList", "val": {"items": [0, 1, 7]}}],
        "inputs": [0, 99],
        "outputs": [2, -1],
        "chains": [{"instructions": [
            call(0, &[0, 1, 1]),
            call(5, &[]),
            call(0, &[3, -7, 2, 2]),
            {"instr_args_type": "DelegateCall", "instr_args": {"delegate_index": 0, "args": [1, 2]}},
            {"instr_args_type": "DelegateCall", "instr_args": {"delegate_index": -1}},
            {"instr_args_type": "JumpFalseCall",
                "instr_args": {"cond_value_index": 1, "destination_instruction": 40}},
            {"instr_args_type": "JumpFalseCall",
                "instr_args": {"cond_value_index": 1, "destination_instruction": 0}},
            {"instr_args_type": "FreeCall", "instr_args": {"value_index": 1}},
            {},
        ]}],
        "operators": [{"name": odd, "overload": "out"}],
        "delegates": [{"id": odd}],
        "non_const_buffer_sizes": [0, 64],
    }]});
    let bytes = build::file(&json!({"root": root}).to_string());
    let mut page = String::new();
    for format in ["dot", "mermaid", "json"] {
        let done = run(&["graph", "--format", format, "-"], None, &bytes);
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()), "{format}");
        page.push_str(&text(&done.stdout));
    }
    assert_snapshot("graph-odd", &page);
    let done = run(&["graph", "--json", "-", "--method", odd], None, &bytes);
    let graph: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(graph["methods"][0]["name"], odd);
    if Command::new("dot").arg("-V").output().is_ok() {
        graphviz_reads(&text(&run(&["graph", "-"], None, &bytes).stdout), "odd names");
    }
}

/// Inside quotes, Mermaid draws icons and Markdown, makes links, and reads entities and directives.
#[test]
fn mermaid_reads_a_name_as_text() {
    let names = [
        "fa:fa-bell",
        "fab:fa-x",
        "1. one",
        "2) two",
        "- three",
        "    four",
        "__five__",
        "_a",
        "b_",
        "a_b_",
        "permute_copy",
        "*six*",
        "[seven](e.org)",
        "[8]: e.org",
        "www.e.org",
        "http://e.org",
        "a@e.org",
        "style:#x",
        "\"",
        "%%{init: {}}%%",
        "$$x$$",
        "`nine`",
        "<b>ten</b>",
        "&#58;",
        "#58;",
        "a\nb",
        "a\\nb",
        ";",
        "end",
        "click m0 callback",
        "|",
        "{}",
        "---",
        "a<br>b",
    ];
    let plans: Vec<_> = names.iter().map(|name| json!({"name": name})).collect();
    let bytes = build::file(&json!({"root": {"execution_plan": plans}}).to_string());
    let done = run(&["graph", "--format", "mermaid", "-"], None, &bytes);
    let page = text(&done.stdout);
    let titles = page.lines().filter_map(|line| {
        line.trim().strip_prefix("subgraph m")?.split_once('[')?.1.strip_suffix(']')
    });
    let titles: Vec<_> = titles.collect();
    assert_eq!(titles.len(), names.len(), "{page}");
    for (title, name) in titles.into_iter().zip(names) {
        let label = title.strip_prefix('"').and_then(|title| title.strip_suffix('"')).unwrap();
        // Each entity, and the plain text after it.
        let mut parts = label.split('#');
        let first = parts.next().unwrap();
        let (mut plain, mut decoded) = (first.to_string(), first.to_string());
        for part in parts {
            let (number, rest) = part.split_once(';').unwrap();
            decoded.push(char::from_u32(number.parse().unwrap()).unwrap());
            decoded.push_str(rest);
            plain.push(' ');
            plain.push_str(rest);
        }
        assert_eq!(decoded, name.replace('\n', "\\n"), "{label}");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " ,-./[]_".contains(c);
        assert!(plain.chars().all(is_plain), "{label}");
        assert!(!plain.contains("www."), "{label}");
        assert!(!label.starts_with('_') && !label.ends_with('_'), "{label}");
        assert!(!label.contains(";_") && !label.contains("_#"), "{label}");
        let list = label.trim_start_matches(|c: char| c.is_ascii_digit());
        assert!(!list.starts_with(['.', ' ', '-']), "{label}");
    }
}

/// A picture of many calls of one value is refused. The JSON has all of them.
#[test]
fn large_methods_are_drawn_on_demand() {
    let method = |calls: usize| {
        let call = json!({"instr_args_type": "KernelCall",
            "instr_args": {"op_index": 0, "args": [0, 0, 0]}});
        let tensor = json!({"scalar_type": "FLOAT", "sizes": [2], "dim_order": [0]});
        let root = json!({"execution_plan": [{
            "name": "forward",
            "values": [{"val_type": "Tensor", "val": tensor}],
            "chains": [{"instructions": vec![call; calls]}],
            "operators": [{"name": "aten::add", "overload": "out"}],
        }]});
        build::file(&json!({"root": root}).to_string())
    };
    let calls = 100_000 / thinned(5);
    let (small, large) = (method(calls / 10), method(calls));
    let refused = run(&["graph", "-"], None, &large);
    assert_eq!(refused.status.code(), Some(1));
    let message = format!("{},000 instructions in 1 method are too many", calls / 1000);
    assert!(text(&refused.stderr).contains(&message));
    for args in [&["graph", "--json", "-"][..], &["graph", "--max-instructions", "100000", "-"]] {
        let len = |bytes: &[u8]| {
            let done = run(args, None, bytes);
            assert_eq!(done.status.code(), Some(0), "{args:?}");
            done.stdout.len()
        };
        assert!(len(&large) < len(&small) * 11, "{args:?}");
    }
}

#[test]
fn what_cannot_be_drawn_is_reported() {
    let mut page = String::new();
    for args in [
        &["graph", "tests/data/ptd/ptd_basic.ptd"][..],
        &["graph", LINEAR, "--method", "backward"],
        &["graph", LINEAR, "--max-instructions", "2"],
        &["graph", "tests/data/pte/multi_method.pte", "--method", "flag"],
    ] {
        append_run(&mut page, args, &pte(args));
    }
    assert_snapshot("graph-none", &page);
}

#[track_caller]
fn graphviz_reads(dot: &str, name: &str) {
    use std::io::Write;
    let mut child = Command::new("dot")
        .arg("-Tcanon")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(dot.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{name}: {}", text(&done.stderr));
}

/// Each format, for delegates whose payloads are open.
#[test]
fn the_nodes_of_a_payload_are_a_cluster_in_its_call() {
    let mut shown = String::new();
    for file in ["tests/data/pte/xnn_mixed.pte", "tests/data/pte/v0.5.0_xnn_qs8.pte"] {
        for args in [
            &["--format", "dot"][..],
            &["--format", "dot", "--constants"],
            &["--format", "mermaid"],
            &["--json"],
        ] {
            shown.push_str(&format!("{}\n", args.join(" ")));
            shown.push_str(&good(&[&["graph", "--payloads", file], args].concat()));
        }
    }
    assert_snapshot("graph-payloads", &shown);
}

/// Graphs of other backends are drawn too. A delegate whose graph is not known says so.
#[test]
fn delegates_of_other_backends_are_open_or_say_that_they_are_not() {
    for (file, expected) in [
        (
            "vulkan_conv",
            &["et_vk.conv_with_clamp.default", "input 0, v", "output 1, v", "float32["][..],
        ),
        ("mlx_mlp", &["TransposeNode", "AddmmNode", "input 0, v"]),
        (
            "native_mlp",
            &[
                "torch.ops.aten.gelu.default",
                "m0i0n1",
                "float32[32, 16], float32[32]",
                "approximate",
            ],
        ),
        ("demo_backend", &["the nodes of this payload are not known"]),
    ] {
        let path = format!("tests/data/pte/{file}.pte");
        for format in ["dot", "mermaid"] {
            let shown = good(&["graph", "--payloads", "--format", format, &path]);
            for text in expected {
                assert!(shown.contains(text), "{file} has no {text:?}: {shown}");
            }
        }
        let closed = good(&["graph", &path]);
        assert!(!closed.contains("are not known"), "{closed}");
        let payloads = json(&["graph", "--payloads", "--json", &path])["payloads"].clone();
        assert_eq!(payloads.as_array().unwrap().is_empty(), file == "demo_backend");
    }
}

/// An argument of a native node that is no value is an attribute.
#[test]
fn arguments_of_native_nodes_are_attributes() {
    let payloads = json(&["graph", "--payloads", "--json", "tests/data/pte/native_mlp.pte"]);
    let nodes = payloads["payloads"][0]["nodes"].as_array().unwrap();
    let with = |node: &&Value| !node["attributes"].is_null();
    let nodes: Vec<_> = nodes.iter().filter(with).collect();
    assert_eq!(nodes.len(), 1);
    assert_eq!(nodes[0]["name"], "torch.ops.aten.gelu.default");
    let attributes = json!([{"name": "approximate", "value": "\"tanh\""}]);
    assert_eq!(nodes[0]["attributes"], attributes);
}

/// A node of Vulkan reads the tensors of a list, and writes the tensor that no call wrote before.
#[test]
fn the_tensors_of_a_list_are_operands_of_the_node() {
    let payloads = json(&["graph", "--payloads", "--json", "tests/data/pte/vulkan_cat.pte"]);
    let nodes = payloads["payloads"][0]["nodes"].as_array().unwrap();
    let node = nodes.iter().find(|node| node["name"] == "aten.cat.default").unwrap();
    assert_eq!(node["inputs"], json!([0, 1]));
    assert_eq!(node["outputs"], json!([4]));
}

/// Every edge joins two nodes that are drawn, and every node is drawn once. Graphviz can read the
/// picture.
#[test]
fn edges_of_open_delegates_join_drawn_nodes() {
    let graphviz = Command::new("dot").arg("-V").output().is_ok();
    let mut opened = 0;
    for path in files::some_samples() {
        let path = path.to_str().unwrap();
        if path.ends_with(".ptd") {
            continue;
        }
        let picture = good(&["graph", "--payloads", "--max-instructions", "1000000", path]);
        let (mut nodes, mut ends) = (BTreeSet::new(), BTreeSet::new());
        for line in picture.lines().map(str::trim_start).filter(|line| line.starts_with('m')) {
            let (statement, _) = line.split_once([' ', ';']).unwrap();
            match line.split_once(" -> ") {
                None => assert!(nodes.insert(statement), "{path}: {line}"),
                Some((from, to)) => {
                    ends.extend([from, to.split([' ', ';']).next().unwrap()]);
                }
            }
        }
        assert_eq!(ends.difference(&nodes).next(), None, "{path}");
        let clusters = picture.matches("subgraph cluster_m").count();
        let methods = json(&["graph", "--json", path])["methods"].as_array().unwrap().len();
        if clusters > methods {
            opened += 1;
            if graphviz {
                graphviz_reads(&picture, path);
            }
        }
    }
    assert!(opened * thinned(3) > 10, "{opened}");
}

/// A payload that many calls share is in the JSON once. In a picture, it counts once for each call.
#[test]
fn open_delegates_are_bounded() {
    let mut program = sound("XNNFullyConnected");
    let instructions = &mut program["root"]["execution_plan"][0]["chains"][0]["instructions"];
    let call = instructions[0].clone();
    *instructions = json!(vec![call; 2000]);
    let bytes = build::file(&program.to_string());
    let refused = run(&["graph", "--payloads", "-"], None, &bytes);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("nodes in 1 method are too many"), "{refused:?}");
    let done = run(&["graph", "--payloads", "--json", "-"], None, &bytes);
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(document["payloads"].as_array().unwrap().len(), 1);
    let plain = run(&["graph", "--json", "-"], None, &bytes);
    assert!(done.stdout.len() < plain.stdout.len() + 2000 * 16, "{}", done.stdout.len());
}
