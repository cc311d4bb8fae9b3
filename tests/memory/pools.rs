//! The pools besides arenas, compared with what the official runtime takes of them.

use std::collections::BTreeSet;
use std::fs;

use pte::check::{NEWEST, Release};
use pte::memory::{PointerWidth, Pool, PoolPart, Pools, Target};
use pte::payload::Scratch;
use pte::{Handle, Limits, Pte};
use serde_json::{Value, json};

use super::cases::call;
use super::plans;
use crate::support::build;
use crate::support::files::{self, name};

/// Returns the pools of each method of a program.
fn pools(file: &[u8], release: Release, width: PointerWidth) -> Vec<Pools> {
    let handle = Handle::open(file, &Limits::UNTRUSTED).unwrap();
    let scratch = Scratch::read(&handle, &Limits::UNTRUSTED).unwrap();
    let (pte, target) = (Pte::read(file).unwrap(), Target::new(release, width).unwrap());
    plans(&pte).map(|plan| Pools::of(&pte, plan, &scratch, target)).collect()
}

fn part(pool: &Pool, name: &str) -> Option<PoolPart> {
    pool.parts.iter().find(|part| part.name == name).copied()
}

/// A release, and the bytes of the allocator.
type OfRelease = (Release, [u64; 4]);

/// The bytes that `tests/tools/pools.py` measures for programs without delegates: of the method allocator for pointers
/// of 32 bits and of 64 bits, and the same without a temporary allocator.
#[rustfmt::skip]
const MEASURED: &[(&str, [OfRelease; 4])] = &[
    ("linear",              [((0, 7), [830, 1398, 862, 1446]), ((1, 0), [636, 1040, 862, 1454]), ((1, 1), [564, 888, 790, 1302]), ((1, 5), [564, 888, 790, 1302])]),
    ("cond",                [((0, 7), [1339, 2395, 1371, 2443]), ((1, 0), [1024, 1776, 1371, 2451]), ((1, 1), [916, 1552, 1263, 2227]), ((1, 5), [916, 1552, 1263, 2227])]),
    ("args_tensorlist",     [((0, 7), [3174, 5290, 3206, 5338]), ((1, 0), [2464, 3896, 3214, 5346]), ((1, 1), [2208, 3336, 2958, 4786]), ((1, 5), [2208, 3336, 2958, 4786])]),
    ("args_opt_tensorlist", [((0, 7), [1038, 1802, 1070, 1850]), ((1, 0), [796, 1328, 1078, 1850]), ((1, 1), [744, 1216, 1026, 1738]), ((1, 5), [744, 1216, 1026, 1738])]),
    ("args_boollist",       [((0, 7), [1273, 1989, 1305, 2037]), ((1, 0), [1080, 1616, 1313, 2045]), ((1, 1), [984, 1392, 1217, 1821]), ((1, 5), [984, 1392, 1217, 1821])]),
    ("args_doublelist",     [((0, 7), [576, 956, 608, 1004]), ((1, 0), [424, 672, 612, 1012]), ((1, 1), [380, 576, 568, 916]), ((1, 5), [380, 576, 568, 916])]),
    ("args_string",         [((0, 7), [660, 1188, 692, 1236]), ((1, 0), [484, 832, 696, 1236]), ((1, 1), [444, 752, 656, 1156]), ((1, 5), [444, 752, 656, 1156])]),
    ("dyn_batch",           [((0, 7), [1533, 2553, 1565, 2601]), ((1, 0), [1176, 1888, 1565, 2609]), ((1, 1), [1044, 1616, 1433, 2337]), ((1, 5), [1044, 1616, 1433, 2337])]),
    ("external_all",        [((0, 7), [1561, 2649, 1593, 2697]), ((1, 0), [1212, 1984, 1601, 2705]), ((1, 1), [1164, 1744, 1553, 2465]), ((1, 5), [1164, 1744, 1553, 2465])]),
];

#[test]
fn pools_are_those_that_the_official_runtime_takes() {
    for (file, releases) in MEASURED {
        let bytes = files::read(format!("tests/data/pte/{file}.pte")).unwrap();
        for &(release, measured) in releases {
            let [small, large] =
                PointerWidth::ALL.map(|width| pools(&bytes, release, width).swap_remove(0));
            let computed = [
                small.method.bytes,
                large.method.bytes,
                small.without_temporary,
                large.without_temporary,
            ];
            assert_eq!(computed, measured, "{file}, runtime {release:?}");
            assert!(small.method.is_exact() && large.method.is_exact(), "{file}");
        }
    }
}

/// A release between two measured ones has the structures of the older one.
#[test]
fn releases_before_0_7_have_no_known_pools() {
    let known = |release| Target::new(release, PointerWidth::Bits32).is_some();
    assert!(!known((0, 6)) && known((0, 7)) && known((1, 3)) && known(NEWEST));
    let bytes = files::read("tests/data/pte/linear.pte").unwrap();
    let of = |release| pools(&bytes, release, PointerWidth::Bits64).swap_remove(0).method;
    assert_eq!(of((1, 1)), of((1, 4)));
}

/// Loading finds kernels by the dtypes of arguments: 7 and then 5 of them, with the dim orders of tensors. Since 1.5
/// the runtime wants room for 16 dimensions of each.
#[test]
fn loading_takes_temporary_memory_for_the_largest_call() {
    let bytes = files::read("tests/data/pte/linear.pte").unwrap();
    for (release, small, large) in [((0, 7), 0, 0), ((1, 0), 93, 177), ((1, 5), 196, 280)] {
        let of = |width| pools(&bytes, release, width).swap_remove(0).temporary.bytes;
        assert_eq!((of(PointerWidth::Bits32), of(PointerWidth::Bits64)), (small, large));
    }
}

/// The parts are all bytes, and each runtime of every file has pools.
#[test]
fn the_parts_of_the_method_allocator_are_its_bytes() {
    let mut seen = 0;
    for path in files::everything() {
        let bytes = fs::read(&path).unwrap();
        if Pte::read(&bytes).is_err() {
            continue;
        }
        for release in [(0, 7), (1, 0), (1, 2), NEWEST] {
            for width in PointerWidth::ALL {
                for pools in pools(&bytes, release, width) {
                    let parts = pools.method.parts.iter();
                    let sum: u64 = parts.filter_map(|part| part.bytes).sum();
                    // An empty list at the end is aligned.
                    assert!(pools.method.bytes - sum < 8, "{}: {pools:?}", name(&path));
                    assert!(pools.without_temporary >= pools.method.bytes, "{}", name(&path));
                    let names: BTreeSet<_> = pools.method.parts.iter().map(|of| of.name).collect();
                    assert_eq!(names.len(), pools.method.parts.len(), "{}", name(&path));
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 1000, "{seen} pools");
}

/// A program whose delegates have the same payload.
fn delegated(backends: &[&str], payload: &[u8]) -> Vec<u8> {
    let processed = json!({"location": "INLINE", "index": 0});
    let delegates: Vec<_> = (backends.iter())
        .map(|id| json!({"id": id, "processed": processed, "compile_specs": []}))
        .collect();
    let plan = json!({"name": "forward", "values": [], "inputs": [], "outputs": [], "operators": [],
        "chains": [{"instructions": []}], "delegates": delegates, "non_const_buffer_sizes": [0]});
    let root = json!({"execution_plan": [plan], "backend_delegate_data": [{"data": payload}]});
    build::file(&json!({"root": root}).to_string())
}

#[test]
fn a_delegate_of_ethos_u_takes_its_scratch_memory_of_the_temporary_allocator() {
    let blocks = [
        ("vela_bin_stream", &b""[..]),
        ("cmd_data", b"COP1"),
        ("scratch_size", &4000u32.to_le_bytes()),
        ("vela_end_stream", b""),
    ];
    let payload = blocks.map(|(name, data)| build::vela_block(name, 0, data)).concat();
    let file = delegated(&["EthosUBackend", "EthosUBackend"], &payload);
    for (release, handle) in [((1, 1), Some(8)), ((1, 2), None)] {
        let pools = pools(&file, release, PointerWidth::Bits32).swap_remove(0);
        assert_eq!(pools.temporary.bytes, 4000);
        assert!(pools.temporary.is_exact() && pools.method.is_exact());
        let of = part(&pools.method, "EthosUBackend");
        assert_eq!(of.and_then(|part| part.bytes), handle, "{release:?}");
    }
    // Without a number in the payload, the bytes are unknown.
    let pools = pools(&delegated(&["EthosUBackend"], b""), NEWEST, PointerWidth::Bits32);
    assert!(!pools[0].temporary.is_exact());
    assert_eq!(pools[0].temporary.unknown().collect::<Vec<_>>(), ["EthosUBackend"]);
}

#[test]
fn what_a_backend_takes_is_exact_or_a_bound_or_unknown() {
    let backends = ["XnnpackBackend", "OpenvinoBackend", "VulkanBackend", "my", "your"];
    let file = delegated(&backends, b"");
    let pools = pools(&file, (1, 4), PointerWidth::Bits64).swap_remove(0);
    let row = |name, bytes, is_bound| Some(PoolPart { name, bytes, is_bound });
    for (name, bytes, is_bound) in [
        ("delegates", Some(5 * 56), false),
        ("XnnpackBackend", Some(272), true),
        ("OpenvinoBackend", Some(16), false),
        ("VulkanBackend", None, false),
        ("other backends", None, false),
    ] {
        assert_eq!(part(&pools.method, name), row(name, bytes, is_bound), "{name}");
    }
    assert_eq!(pools.method.unknown().collect::<Vec<_>>(), ["VulkanBackend", "other backends"]);
    assert_eq!(pools.temporary.unknown().collect::<Vec<_>>(), ["other backends"]);
}

/// A program that calls an operator with a tensor of 3 times 50 elements, and 5 None.
fn calling(operator: &str, overload: &str) -> Vec<u8> {
    let tensor: Value = json!({"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": [3, 50],
        "dim_order": [0, 1], "allocation_info": {"memory_id": 1}}});
    let none = json!({"val_type": "Null", "val": {}});
    let plan = json!({"name": "forward", "values": [tensor, none], "inputs": [], "outputs": [],
        "chains": [{"instructions": [call(0, &[0, 1, 1, 1, 1, 1])]}], "delegates": [],
        "operators": [{"name": operator, "overload": overload}], "non_const_buffer_sizes": [0, 600]});
    build::file(&json!({"root": {"execution_plan": [plan]}}).to_string())
}

#[test]
fn kernels_with_scratch_memory_take_it_of_the_temporary_allocator() {
    let of =
        |file: &[u8], release| pools(file, release, PointerWidth::Bits32).swap_remove(0).temporary;
    let topk = of(&calling("aten::topk", "values"), NEWEST);
    let bound = PoolPart { name: "aten::topk.values", bytes: Some(800), is_bound: true };
    assert_eq!((topk.bytes, part(&topk, "aten::topk.values")), (800, Some(bound)));
    assert!(of(&calling("aten::add", "out"), NEWEST).is_exact());
    let convolution = calling("cortex_m::quantized_conv2d", "out");
    for (release, is_known) in [((1, 0), true), ((1, 1), false), ((1, 3), false), ((1, 4), true)] {
        assert_eq!(of(&convolution, release).is_exact(), is_known, "{release:?}");
    }
    let attention = calling("llama::custom_sdpa", "out");
    assert!(of(&attention, (1, 3)).is_exact() && !of(&attention, (1, 4)).is_exact());
    let unknown = of(&calling("cadence::quantized_conv2d_nchw", "out"), (1, 0));
    assert_eq!(unknown.unknown().collect::<Vec<_>>(), ["cadence operators"]);
}

/// The runtime refuses such a method. It has looked for no kernel by then.
#[test]
fn a_call_of_an_operator_that_does_not_exist_takes_no_memory_for_its_kernel() {
    let tensor = json!({"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": [3, 50],
        "dim_order": [0, 1], "allocation_info": {"memory_id": 1}}});
    let plan = json!({"name": "forward", "values": [tensor], "inputs": [], "outputs": [],
        "chains": [{"instructions": [call(7, &[0, 0])]}], "delegates": [],
        "operators": [{"name": "aten::add", "overload": "out"}], "non_const_buffer_sizes": [0, 600]});
    let file = build::file(&json!({"root": {"execution_plan": [plan]}}).to_string());
    let pools = pools(&file, NEWEST, PointerWidth::Bits64).swap_remove(0);
    assert_eq!(pools.temporary.bytes, 0);
}
