//! `pte profile`: times of methods, operators and instructions.

use serde_json::{Value, json as value};

use super::{good, json, pte, run, text};
use crate::support::build::file;
use crate::support::snapshot::assert_snapshot;

const PROFILE: &str = "tests/data/other/mlp.etdp";

/// A program that calls the operators of [`PROFILE`], which a profile names without their namespace.
fn program(operators: [&str; 5]) -> Value {
    let names: Vec<_> = operators.iter().map(|name| name.split_once('.').unwrap()).collect();
    let calls: Vec<_> = (0..5)
        .map(|nth| value!({"instr_args_type": "KernelCall", "instr_args": {"op_index": nth, "args": []}}))
        .collect();
    value!({"root": {"execution_plan": [{"name": "forward", "values": [], "inputs": [],
        "outputs": [], "chains": [{"instructions": calls}], "delegates": [],
        "operators": names.iter().map(|(name, overload)|
            value!({"name": name, "overload": overload})).collect::<Vec<_>>(),
    }]}})
}

const OPERATORS: [&str; 5] = [
    "aten::permute_copy.out",
    "aten::addmm.out",
    "aten::gelu.out",
    "aten::permute_copy.out",
    "aten::addmm.out",
];

#[test]
fn profile_shows_times_of_methods_operators_and_instructions() {
    assert_snapshot("profile", &good(&["profile", PROFILE]));
    assert_snapshot("profile-most", &good(&["profile", "-n", "1", PROFILE]));
    assert_snapshot("profile-json", &good(&["profile", "--json", PROFILE]));
}

/// The sums equal those of the events in the dump of the same file.
#[test]
fn profile_sums_are_those_of_the_dump() {
    let dump = json(&["dump", PROFILE]);
    let runs = dump["run_data"].as_array().unwrap();
    let events = runs.iter().flat_map(|run| run["events"].as_array().unwrap());
    let ticks = |name: &str| -> u64 {
        let of = events.clone().filter_map(|event| event.get("profile_event"));
        let of = of.filter(|event| event.get("name").is_some_and(|found| found == name));
        of.map(|event| event["end_time"].as_u64().unwrap() - event["start_time"].as_u64().unwrap())
            .sum()
    };
    let profile = json(&["profile", "--json", PROFILE]);
    let sum = |rows: &Value| -> u64 {
        rows.as_array().unwrap().iter().map(|row| row["time"]["total"].as_u64().unwrap()).sum()
    };
    assert_eq!(sum(&profile["instructions"]), ticks("OPERATOR_CALL"));
    assert!(ticks("OPERATOR_CALL") > 0);
    let methods = ["Method::execute", "Method::init", "Program::load_method"];
    assert_eq!(sum(&profile["methods"]), methods.into_iter().map(ticks).sum::<u64>());
}

#[test]
fn profile_names_instructions_after_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let write = |name: &str, program: &Value| {
        std::fs::write(at(name), file(&program.to_string())).unwrap();
        at(name)
    };
    let path = write("model.pte", &program(OPERATORS));
    let shown = good(&["profile", PROFILE, "--program", &path]);
    assert!(shown.contains("0:2 aten::gelu.out"), "{shown}");
    let named = json(&["profile", PROFILE, "--json", "--program", &path, "--method", "forward"]);
    let names = named["instructions"].as_array().unwrap().iter().map(|row| row["name"].as_str());
    assert!(names.eq(OPERATORS.map(Some)));

    let refused = |arguments: &[&str]| {
        let done = pte(&[&["profile", PROFILE], arguments].concat());
        assert_eq!(done.status.code(), Some(1), "{arguments:?}");
        text(&done.stderr)
    };
    let mut other = OPERATORS;
    other[2] = "aten::relu.out";
    let other = refused(&["--program", &write("other.pte", &program(other))]);
    assert!(other.contains("calls aten::relu.out in the method, and gelu.out in"), "{other}");
    let mut short = program(OPERATORS);
    short["root"]["execution_plan"][0]["chains"][0]["instructions"].as_array_mut().unwrap().pop();
    let short = refused(&["--program", &write("short.pte", &short)]);
    assert!(short.contains("no instruction 4 in chain 0"), "{short}");
    let method = refused(&["--program", &path, "--method", "backward"]);
    assert!(method.contains("no method backward"), "{method}");
}

/// The runtime writes events of jumps and moves too, which call nothing.
#[test]
fn profile_names_jumps_and_moves() {
    let [profile, program] = ["tests/data/other/branch.etdp", "tests/data/pte/branch.pte"];
    let names = |arguments: &[&str]| {
        let shown = json(&[&["profile", profile, "--json"], arguments].concat());
        let rows = shown["instructions"].as_array().unwrap();
        rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let with = names(&["--program", program]);
    assert_eq!(
        with,
        [
            "aten::sum.IntList_out",
            "aten::gt.Scalar_out",
            "JumpFalseCall",
            "aten::sin.out",
            "dim_order_ops::_to_dim_order_copy.out",
            "aten::mul.out",
            "MoveCall",
            "JumpFalseCall",
        ]
    );
    let without = names(&[]);
    assert!(
        with.iter().zip(&without).all(|(with, without)| with.ends_with(without)),
        "{without:?}"
    );
}

/// In an instruction that calls a delegate, the backend's own events are summed up separately.
#[test]
fn profile_shows_the_events_in_delegates() {
    let event = |name: &str, node: &str, ticks: u64| {
        value!({"profile_event": {"name": name, "chain_index": 0, "instruction_id": 3,
            "delegate_debug_id_str": node, "start_time": 100, "end_time": 100 + ticks}})
    };
    let bytes = etdump(&value!({"run_data": [{"name": "Execute", "events": [
        event("", "Convolution (NHWC, F32) IGEMM #1", 30),
        event("", "Convolution (NHWC, F32) IGEMM #1", 10),
        event("DELEGATE_CALL", "", 50),
    ]}]}));
    let done = run(&["profile", "--json", "-"], None, &bytes);
    let profile: Value = serde_json::from_slice(&done.stdout).unwrap();
    let of = &profile["instructions"][0];
    assert_eq!((&of["instruction"], &of["delegate"]), (&3.into(), &true.into()));
    assert_eq!(of["time"]["total"], 50);
    let time = value!({"count": 2, "total": 40, "shortest": 10, "longest": 30});
    assert_eq!(of["events"][0]["time"], time);
    let shown = text(&run(&["profile", "-"], None, &bytes).stdout);
    assert!(shown.contains("40 ticks  2 × Convolution (NHWC, F32) IGEMM #1"), "{shown}");
}

/// A name as long as the file that all events share is cut, and a time that ends before it begins is 0.
#[test]
fn profile_of_hostile_events_is_bounded() {
    let name = "x".repeat(10_000);
    let events: Vec<_> = (0..200)
        .map(|nth| {
            value!({"profile_event": {"name": name, "chain_index": 0, "instruction_id": nth,
                "start_time": u64::MAX, "end_time": nth % 2 * u64::MAX}})
        })
        .collect();
    let bytes = etdump(&value!({"run_data": [{"events": events}]}));
    let done = run(&["profile", "--json", "-"], None, &bytes);
    let profile: Value = serde_json::from_slice(&done.stdout).unwrap();
    for of in profile["instructions"].as_array().unwrap() {
        assert_eq!(of["events"][0]["name"].as_str().unwrap().len(), 100);
        assert_eq!(of["time"]["total"], 0);
    }
}

/// A profile is of the only method, or of `forward`. What one method took is laid over no other.
#[test]
fn profile_is_of_a_method_that_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let write = |names: &[&str]| {
        let mut two = program(OPERATORS);
        let plan = two["root"]["execution_plan"][0].clone();
        two["root"]["execution_plan"] = names
            .iter()
            .map(|name| {
                let mut plan = plan.clone();
                plan["name"] = value!(name);
                plan
            })
            .collect();
        let path = folder.path().join("model.pte");
        std::fs::write(&path, file(&two.to_string())).unwrap();
        path.to_str().unwrap().to_owned()
    };
    for (names, is_known) in
        [(&["encode"][..], true), (&["encode", "forward"], true), (&["encode", "decode"], false)]
    {
        let path = write(names);
        let done = pte(&["profile", PROFILE, "--program", &path]);
        assert_eq!(done.status.code(), Some(if is_known { 0 } else { 1 }), "{names:?}");
    }
    let path = write(&["encode", "forward"]);
    let laid = json(&["graph", "--overlay", "time", "--etdump", PROFILE, &path]);
    let nodes: Vec<_> = laid["file"]["results"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(nodes, ["m1i0", "m1i1", "m1i2", "m1i3", "m1i4"]);
}

/// Instructions are counted from 0 in each chain. If a call has no event, its time is the sum of the events inside it.
#[test]
fn profile_finds_instructions_in_their_chains() {
    let event = |name: &str, chain: i32, instruction: i32, ticks: u64| {
        value!({"profile_event": {"name": name, "chain_index": chain,
            "instruction_id": instruction, "start_time": 100, "end_time": 100 + ticks}})
    };
    let events = [
        event("native_call_permute_copy.out", 0, 0, 3),
        event("OPERATOR_CALL", 0, 0, 5),
        event("native_call_addmm.out", 1, 0, 7),
        event("inner", 1, 0, 4),
        event("native_call_gelu.out", 1, 1, 2),
        event("OPERATOR_CALL", 1, 1, 9),
    ];
    let bytes = etdump(&value!({"run_data": [{"events": events}]}));
    let mut chains = program(OPERATORS);
    let plan = &mut chains["root"]["execution_plan"][0];
    let all = plan["chains"][0]["instructions"].as_array().unwrap().clone();
    plan["chains"] = value!([{"instructions": all[..1]}, {"instructions": all[1..]}]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pte");
    std::fs::write(&path, file(&chains.to_string())).unwrap();
    let args = ["profile", "--json", "-", "--program", path.to_str().unwrap()];
    let done = run(&args, None, &bytes);
    let profile: Value = serde_json::from_slice(&done.stdout).unwrap();
    let rows = profile["instructions"].as_array().unwrap().iter().map(|row| {
        let number = |of: &Value| of.as_u64().unwrap();
        let place = (number(&row["chain"]), number(&row["instruction"]));
        (place, row["name"].as_str().unwrap().to_owned(), number(&row["time"]["total"]))
    });
    let wanted = [
        ((0, 0), OPERATORS[0].to_owned(), 5),
        ((1, 0), OPERATORS[1].to_owned(), 11),
        ((1, 1), OPERATORS[2].to_owned(), 9),
    ];
    assert_eq!(rows.collect::<Vec<_>>(), wanted);
}

/// Writes the tables of a profile.
fn etdump(root: &Value) -> Vec<u8> {
    use pte::flat::load;
    use pte::flat::write::{WriterLayout, write};
    let schema = &pte::schema::etdump::desc::SCHEMA;
    let root = load::read(&root.to_string(), schema.root, &mut load::no_files).unwrap();
    write(schema, &root, &[], &WriterLayout::default()).unwrap()
}

/// The message says what the file is, and the advice what the verb takes.
#[test]
fn profile_refuses_other_files() {
    for (path, message) in [
        ("README.md", "this is no ETDump: it is a text file"),
        ("tests/data/pte/linear.pte", "this is no ETDump: it is a .pte program"),
        ("tests/data/ptd/ptd_basic.ptd", "this is no ETDump: it is a .ptd data file"),
        ("tests/data/other/linear_bundled.bpte", "this is no ETDump: it is a bundled program"),
        ("tests/data/other/linear.etrecord", "this is no ETDump: it is an ETRecord"),
        ("tests/data/other/mlx_mlp.payload", "this is no ETDump: it is a delegate's payload (MLX)"),
        ("-", "this is an empty file"),
    ] {
        let done = pte(&["profile", path]);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{path}");
        assert!(said.contains(message), "{path}: {said}");
        assert!(said.contains("help: Give an ETDump"), "{path}: {said}");
        let done = pte(&["profile", "--json", path]);
        let found: Value = serde_json::from_slice(&done.stdout).unwrap();
        let help = found["files"][0]["findings"][0]["help"].as_str().unwrap();
        assert!(help.starts_with("Give an ETDump"), "{path}: {help}");
    }
    assert_eq!(pte(&["profile", "no-such-file"]).status.code(), Some(3));
}
