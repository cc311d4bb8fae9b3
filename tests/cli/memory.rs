//! `pte memory`: screens, pictures and budgets.

use std::fs;

use serde_json::{Value, json};

use super::{BASIC, LINEAR, good, json, pte, run, text};
use crate::support::build;
use crate::support::files::{self, name};
use crate::support::snapshot::assert_snapshot;
use crate::support::thinned;

const POOLS: &str = "tests/data/pte/mem_pools.pte";

#[test]
fn arenas_are_shown_with_a_picture() {
    for (page, file) in [
        ("program", LINEAR),
        ("arenas", POOLS),
        ("device", "tests/data/pte/device_cuda_idx1.pte"),
        ("control-flow", "tests/data/pte/cond.pte"),
        ("state", "tests/data/pte/shared_state.pte"),
        ("delegates", "tests/data/pte/xnn_mixed.pte"),
        ("data", BASIC),
    ] {
        assert_snapshot(&format!("memory-{page}"), &good(&["memory", file]));
    }
    assert_snapshot("memory-json", &good(&["memory", "--json", POOLS]));
    assert_snapshot("memory-svg", &good(&["memory", "--svg", POOLS]));
}

/// Every method of every file has a screen, a picture and a document.
#[test]
fn everything_has_an_answer() {
    let mut arenas = 0;
    for path in files::everything().into_iter().step_by(thinned(3)) {
        let path = path.to_str().unwrap();
        let screen = good(&["memory", path]);
        assert!(screen.lines().all(|line| line.chars().count() < 180), "{path}: {screen}");
        let svg = good(&["memory", "--svg", path]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{path}");
        is_balanced(&svg, path);
        let document = json(&["memory", "--json", path]);
        assert_eq!(
            (&document["schema"], &document["path"]),
            (&json!("pte.memory/1"), &json!(path))
        );
        let methods = document["methods"].as_array().unwrap();
        assert_eq!(document["method_count"], methods.len(), "{path}");
        for arena in methods.iter().flat_map(|of| of["arenas"].as_array().unwrap()) {
            let of = |field: &str| arena[field].as_u64().unwrap();
            // In a file that is not sound, tensors may reach past the planned size.
            if !arena["slack"].is_null() {
                assert_eq!(of("slack") + of("fragmentation") + of("peak"), of("planned"), "{path}");
                arenas += 1;
            }
        }
    }
    assert!(arenas * thinned(3) > 100, "{arenas} arenas");
}

/// The picture fits the terminal, from 40 to 240 columns.
#[test]
fn the_picture_is_as_wide_as_the_terminal() {
    for (columns, widest) in [("0", 80), ("1", 40), ("40", 40), ("100", 100), ("9999", 240)] {
        for file in ["tests/data/pte/train_joint_ext.pte", LINEAR] {
            let done =
                super::command().args(["memory", file]).env("COLUMNS", columns).output().unwrap();
            let screen = text(&done.stdout);
            let picture = screen.lines().filter(|line| line.contains(['│', '└', '^']));
            let lines: Vec<_> = picture.map(|line| line.chars().count()).collect();
            assert!(lines.len() > 3, "{screen}");
            assert!(lines.iter().all(|&width| width <= widest), "{columns}: {screen}");
        }
    }
}

/// The curve of live bytes follows from the live ranges of tensors, and its maximum is the peak.
#[test]
fn the_curve_has_the_peak() {
    let mut curves = 0;
    for path in files::samples() {
        let bytes = fs::read(&path).unwrap();
        let Ok(file) = ::pte::Pte::read(&bytes) else { continue };
        for plan in file.program().execution_plan().into_iter().flatten() {
            let memory = ::pte::memory::Memory::of(&file, plan);
            for arena in memory.arenas() {
                let curve = memory.live_bytes(arena);
                let most = curve.iter().map(|&(_, bytes)| bytes).max().unwrap_or_default();
                assert_eq!(most, arena.peak, "{}", path.display());
                assert!(curve.windows(2).all(|pair| pair[0].0 < pair[1].0), "{}", path.display());
                let first = curve.iter().find(|&&(_, bytes)| bytes == most && most > 0);
                let peak = first.map(|&(pc, _)| pc).filter(|&pc| pc < memory.instruction_count());
                assert_eq!(peak, arena.peak_pc, "{}", path.display());
                curves += usize::from(curve.len() > 1);
            }
        }
    }
    assert!(curves > 20, "{curves}");
}

/// Every element is closed, and nothing leads out of the picture.
fn is_balanced(svg: &str, at: &str) {
    for wrong in ["<script", "href", "url(", "<image", "<!", "<?", "onload"] {
        assert!(!svg.contains(wrong), "{at}: {wrong}");
    }
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap_or_else(|| panic!("{at}: {tag}"));
        assert!(tag.matches('"').count().is_multiple_of(2), "{at}: {tag}");
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).unwrap();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name), "{at}"),
            (_, true) => {}
            _ => open.push(name),
        }
    }
    assert_eq!(open, [""; 0], "{at}");
}

/// A budget for a wrong arena would always pass, since nothing is compared with it.
#[test]
fn a_budget_of_an_arena_that_no_method_has_is_a_usage_error() {
    for budgets in [&["--budget", "7=1"][..], &["--budget", "7=1", "--quiet", "--budget", "1=0"]] {
        let done = pte(&[&["memory", POOLS], budgets].concat());
        assert_eq!(done.status.code(), Some(2), "{budgets:?}");
        assert!(text(&done.stderr).contains("there is no arena 7"), "{}", text(&done.stderr));
    }
}

/// A gate must not pass since an earlier file has nothing to compare.
#[test]
fn a_budget_is_compared_with_all_files() {
    for args in [&["--budget", "1B"][..], &["--budget", "1B", "--method", "forward"]] {
        let done = pte(&[&["memory", BASIC, LINEAR], args].concat());
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("linear.pte") && said.contains("ptd_basic.ptd"), "{args:?}: {said}");
    }
}

#[test]
fn a_budget_fails_a_build() {
    let planned = |done: &std::process::Output| text(&done.stderr).lines().count();
    for (budgets, reported) in [
        (&["1=4096", "2=256", "3=1KiB", "4608"][..], 0),
        (&["1=4KiB", "2=255"], 1),
        (&["1=4kB", "2=0", "3=255.5", "4607"], 4),
    ] {
        let args = budgets.iter().flat_map(|budget| ["--budget", budget]);
        let args: Vec<_> = ["memory", POOLS].into_iter().chain(args).collect();
        let done = pte(&args);
        assert_eq!(done.status.code(), Some(i32::from(reported > 0)), "{budgets:?}");
        assert_eq!(planned(&done), reported, "{budgets:?}");
        assert!(text(&done.stdout).contains("arena 3"), "all arenas are shown");
    }
    let over = ["memory", POOLS, "--budget", "1=4kB", "--budget", "4500", "--json"];
    let done = pte(&over);
    assert_snapshot("memory-budget", &text(&done.stderr));
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    let method = &document["methods"][0];
    assert_eq!((&method["over"], &method["arenas"][0]["over"]), (&json!(108), &json!(96)));
    assert_eq!(method["arenas"][1]["over"], Value::Null);
    // An arena with several budgets has the smallest one.
    for budgets in [["1=4kB", "1=4090"], ["1=4090", "1=4kB"]] {
        let args = ["memory", "--json", POOLS, "--budget", budgets[0], "--budget", budgets[1]];
        let document: Value = serde_json::from_slice(&pte(&args).stdout).unwrap();
        assert_eq!(document["methods"][0]["arenas"][0]["over"], 96, "{budgets:?}");
    }
    // An arena that the file does not declare is compared with its budget too.
    let bytes = files::read(LINEAR).unwrap();
    let mut model = ::pte::Pte::read(&bytes).unwrap().to_model().unwrap();
    model.root.execution_plan.as_mut().unwrap()[0].non_const_buffer_sizes = Some(vec![0]);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, model.image().unwrap().to_bytes().unwrap()).unwrap();
    for (budget, status) in [("1=223", 1), ("223", 1), ("1=224", 0), ("224", 0)] {
        let done = pte(&["memory", file.path().to_str().unwrap(), "--budget", budget]);
        assert_eq!(done.status.code(), Some(status), "{budget}");
    }
    for wrong in ["0=1", "1=", "a lot", "=5"] {
        assert_eq!(pte(&["memory", POOLS, "--budget", wrong]).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn a_method_is_chosen_by_name() {
    let file = "tests/data/pte/shared_state.pte";
    let document = json(&["memory", "--json", file, "--method", "get_state"]);
    assert_eq!(document["methods"].as_array().unwrap().len(), 1);
    assert_eq!(document["methods"][0]["name"], "get_state");
    assert_eq!(pte(&["memory", file, "--method", "nope"]).status.code(), Some(1));
    assert_eq!(pte(&["memory", file, "--svg", "--json"]).status.code(), Some(2));
    let bytes = files::read(LINEAR).unwrap();
    let done = run(&["memory", "-"], None, &bytes);
    let shown = text(&done.stdout).replace("<standard input>", LINEAR);
    assert_eq!(shown, good(&["memory", LINEAR]));
}

/// Untrusted names neither move a cursor nor end a picture.
#[test]
fn names_are_quoted() {
    let tensor = |name: &str| {
        json!({"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": [4],
            "allocation_info": {"memory_id": 1},
            "extra_tensor_info": {"fully_qualified_name": name}}})
    };
    let plan = json!({"name": "</text>\u{1b}[2J<script>&", "values": [tensor("\"'><x>\u{202e}\u{ffff}")],
        "inputs": [], "outputs": [0], "chains": [{"instructions": [
            {"instr_args_type": "KernelCall", "instr_args": {"args": [0]}}]}],
        "operators": [{"name": "a<b\u{7}>"}], "delegates": [], "non_const_buffer_sizes": [0, 8]});
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.pte");
    let file = build::file(&json!({"root": {"execution_plan": [plan]}}).to_string());
    fs::write(&path, file).unwrap();
    for format in [&[][..], &["--svg"], &["--json"]] {
        let shown = good(&[&["memory", path.to_str().unwrap()], format].concat());
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{shown}");
        if format == ["--svg"] {
            // XML has no way to write this one.
            assert!(!shown.contains('\u{ffff}'), "{shown}");
            is_balanced(&shown, "an untrusted name");
        }
    }
}

/// Pictures and screens are bounded, and state how many tensors they leave out.
#[test]
fn what_is_shown_is_bounded() {
    let tensor = json!({"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": [4],
        "allocation_info": {"memory_id": 1}}});
    let count = 5000;
    let all: Vec<_> = (0..count).collect();
    let plan = json!({"name": "m", "values": vec![tensor; count], "inputs": all, "outputs": [],
        "chains": [{"instructions": []}], "operators": [], "delegates": [],
        "non_const_buffer_sizes": vec![16; 200]});
    let root = json!({"root": {"execution_plan": vec![plan; 2]}});
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.pte");
    fs::write(&path, build::file(&root.to_string())).unwrap();
    let path = path.to_str().unwrap();
    let svg = good(&["memory", "--svg", path]);
    assert!(svg.contains("1,000 tensors not drawn") && svg.contains("298 arenas more not drawn"));
    assert_eq!(svg.matches("<title>value").count(), 4000);
    assert!(good(&["memory", path]).lines().count() < 200);
    assert_eq!(name(path.as_ref()), "x.pte");
}

/// A sum above 2^64 − 1 is shown as more than the largest number.
#[test]
fn a_sum_that_is_too_large_is_reported() {
    let most = i64::MAX;
    let root = format!(
        r#"{{"root": {{"execution_plan": [{{"non_const_buffer_sizes": [0, {most}, {most}, {most}]}}]}}}}"#
    );
    let bytes = build::file(&root);
    let shown = run(&["memory", "-"], None, &bytes);
    let shown = text(&shown.stdout);
    assert!(shown.contains("18,446,744,073,709,551,615 or more bytes in 3 arenas"), "{shown}");
    let over = run(&["memory", "-", "--budget", "9000000 TB"], None, &bytes);
    assert_eq!(over.status.code(), Some(1), "{}", text(&over.stderr));
}

/// The document has the library's numbers, for every arena of every sample.
#[test]
fn memory_json_has_the_numbers_of_the_library() {
    let mut different = 0;
    for path in files::everything() {
        let bytes = fs::read(&path).unwrap();
        let Ok(program) = ::pte::Pte::read(&bytes) else { continue };
        let document = json(&["memory", "--json", path.to_str().unwrap()]);
        let methods = document["methods"].as_array().unwrap();
        let plans = program.program().execution_plan().into_iter().flatten();
        let handle = ::pte::Handle::open(&bytes[..], &::pte::Limits::UNTRUSTED).unwrap();
        let scratch = ::pte::payload::Scratch::read(&handle, &::pte::Limits::UNTRUSTED).unwrap();
        for (method, plan) in methods.iter().zip(plans) {
            let memory = ::pte::memory::Memory::of(&program, plan);
            let at = name(&path);
            assert_eq!(method["planned"], json!(memory.planned()), "{at}");
            assert_eq!(method["instructions"], json!(memory.instruction_count()), "{at}");
            let outside = memory.outside();
            let wanted = json!({"constants": outside.constants, "external": outside.external,
                "payloads": outside.payloads, "scratch": scratch.of(&program, plan)});
            assert_eq!(method["outside"], wanted, "{at}");
            let unplanned: Vec<_> = (memory.unplanned().iter())
                .map(|of| {
                    (json!(of.value), json!(of.bytes), json!(of.is_end), json!(of.is_unbounded))
                })
                .collect();
            let listed: Vec<_> = (method["unplanned"].as_array().unwrap().iter())
                .map(|of| {
                    [&of["value"], &of["bytes"], &of["end"], &of["unbounded"]].map(Clone::clone)
                })
                .map(|[value, bytes, end, unbounded]| (value, bytes, end, unbounded))
                .collect();
            assert_eq!(listed, unplanned, "{at}");
            assert_eq!(method["arenas"].as_array().unwrap().len(), memory.arenas().len(), "{at}");
            for (row, arena) in method["arenas"].as_array().unwrap().iter().zip(memory.arenas()) {
                let wanted = [
                    ("id", json!(arena.id)),
                    ("planned", json!(arena.planned)),
                    ("reach", json!(arena.reach)),
                    ("peak", json!(arena.peak)),
                    ("slack", json!(arena.slack())),
                    ("fragmentation", json!(arena.fragmentation())),
                    ("gaps", json!(arena.gaps())),
                ];
                for (field, number) in wanted {
                    assert_eq!(row[field], number, "{at}: {field} of arena {}", arena.id);
                }
                let tensors = memory.tensors(arena).iter();
                let wanted: Vec<_> =
                    tensors.map(|of| json!([of.value, of.offset, of.bytes])).collect();
                let listed: Vec<_> = (row["tensors"].as_array().unwrap().iter())
                    .map(|of| json!([of["value"], of["offset"], of["bytes"]]))
                    .collect();
                assert_eq!(listed, wanted, "{at}: arena {}", arena.id);
                different += usize::from(arena.gaps() != arena.fragmentation());
            }
        }
    }
    assert!(different > 5, "{different} arenas whose gaps are not their fragmentation");
}

/// Ethos-U's payloads say how much scratch memory they need at each run.
#[test]
fn scratch_memory_of_a_delegate_is_shown() {
    let Some(corpus) = files::corpus() else { return };
    let path = corpus.join("ethosu_mlp.pte");
    let path = path.to_str().unwrap();
    let shown = good(&["memory", path]);
    assert!(shown.contains("of scratch memory that a delegate asks for at each run"), "{shown}");
    let document = json(&["memory", "--json", path]);
    assert!(document["methods"][0]["outside"]["scratch"].as_u64().unwrap() > 0);
    let document = json(&["memory", "--json", LINEAR]);
    assert_eq!(document["methods"][0]["outside"]["scratch"], 0);
}

/// A budget that is compared with nothing does not pass.
#[test]
fn a_budget_needs_a_method() {
    let done = pte(&["memory", "--budget", "1B", BASIC]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stdout));
    assert!(text(&done.stderr).contains("no method to compare"), "{}", text(&done.stderr));
}
