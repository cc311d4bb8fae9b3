//! Graphs of Vulkan: what single flipped bits do, and the checks that a fixture each does not show.

use core::fmt::Write;
use std::collections::{BTreeMap, BTreeSet};

use pte::check::Severity;
use pte::flat::json::Options;
use pte::payload::{Tables, TablesPlace};
use pte::{Backend, Check, Limits, Pte};
use serde_json::{Value, json};

use super::fixtures::{is_broken, judge};
use crate::support::files;
use crate::support::fixture::Fixture;
use crate::support::snapshot::assert_snapshot;

mod shapes;

/// A bit of each byte of the graphs is flipped. The others are in fields that the backend does not read, in numbers
/// that may have any value, or between tables.
#[test]
fn most_flipped_bits_of_a_graph_are_errors() {
    let mut golden = String::new();
    for name in ["vulkan_conv", "vulkan_cat"] {
        let bytes = files::read(format!("tests/data/pte/{name}.pte")).unwrap();
        let Flips { all, errors, unseen } = Flips::of(&bytes);
        let share = errors * 100 / all;
        writeln!(golden, "{name}: {errors} of {all} flips are Errors, {share} %. The others:")
            .unwrap();
        for (what, count) in unseen {
            writeln!(golden, "  {count:3} {what}").unwrap();
        }
        assert!(share >= 40, "{golden}");
    }
    assert_snapshot("vulkan-flips", &golden);
}

/// What flipped bits do.
#[derive(Default)]
struct Flips {
    all: usize,
    errors: usize,
    /// The flips without an Error, by what they change.
    unseen: BTreeMap<String, usize>,
}

impl Flips {
    /// Flips a bit of each byte of the first payload's graph.
    fn of(bytes: &[u8]) -> Self {
        let program = Pte::read(bytes).unwrap();
        assert_eq!(program.check().count(Severity::Error), 0);
        let payload = program.payloads().next().unwrap().unwrap().range();
        let (from, to) = (payload.start as usize, payload.end as usize);
        let place = TablesPlace::of_payload(Backend::Vulkan, &bytes[from..to], (to - from) as u64);
        let place = place.unwrap().unwrap();
        let tables = |bytes: &[u8]| {
            let region = &bytes[from + place.range.start as usize..from + place.range.end as usize];
            let mut text = String::new();
            let tables = Tables::read(&place, region, &Limits::UNTRUSTED).unwrap();
            let options = Options { pretty: false, blob: |_: &[u8]| None };
            tables.write_json(options, 0, &mut text).unwrap();
            serde_json::from_str::<Value>(&text).unwrap()
        };
        let whole = tables(bytes);
        let mut flips = Self::default();
        for at in from + place.range.start as usize..from + place.range.end as usize {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1 << (at % 8);
            let report = Pte::read(&damaged).unwrap().check();
            flips.all += 1;
            if report.count(Severity::Error) > 0 {
                flips.errors += 1;
                continue;
            }
            let warned = report.count(Severity::Warning) > 0;
            let what =
                change(&whole, &tables(&damaged)).unwrap_or_else(|| "bytes between tables".into());
            let what = if warned { format!("{what} (with a Warning)") } else { what };
            *flips.unseen.entry(what).or_default() += 1;
        }
        flips
    }
}

/// Returns the first field that differs, without the indices before it.
fn change(before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            // Whether serde_json sorts keys depends on the packages that are built together.
            let keys: BTreeSet<_> = before.keys().collect();
            keys.into_iter().find_map(|key| {
                let (old, new) = (before.get(key)?, after.get(key));
                let Some(new) = new else { return Some(key.clone()) };
                let inner = change(old, new)?;
                let named = !["value", "values"].contains(&key.as_str());
                Some(match inner.is_empty() || !named {
                    true if named => key.clone(),
                    _ if !named && !inner.is_empty() => inner,
                    _ => format!("{key}.{inner}"),
                })
            })
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            before.iter().zip(after).find_map(|(before, after)| change(before, after))
        }
        (before, after) => (before != after).then(String::new),
    }
}

/// Returns the findings in the program of `base/vulkan.json`, after a change of its graph.
fn judged(change: impl FnOnce(&mut Value)) -> Vec<(String, String)> {
    let Fixture(mut program) = Fixture::read("base/vulkan").unwrap();
    change(&mut program["data"][0]["vulkan"]);
    judge(&Fixture(program))
}

#[test]
fn values_are_what_the_backend_has() {
    type Change = fn(&mut Value);
    let changes: [(&str, &str, Change); 12] = [
        ("vulkan-missing", "no dims", |g| {
            drop(tensor(g, 3).as_object_mut().unwrap().remove("dims"))
        }),
        ("vulkan-missing", "no output_ids", |g| {
            drop(g.as_object_mut().unwrap().remove("output_ids"))
        }),
        ("vulkan-missing", "no items", |g| {
            g["values"][2] = json!({"value_type": "IntList", "value": {}})
        }),
        ("vulkan-value", "datatype", |g| tensor(g, 3)["datatype"] = json!(8)),
        ("vulkan-value", "staging", |g| tensor(g, 3)["staging_datatype"] = json!(-1)),
        ("vulkan-value", "layout", |g| tensor(g, 3)["memory_layout"] = json!(7)),
        ("vulkan-value", "FLOAT32 has the memory layout", |g| {
            tensor(g, 3)["memory_layout"] = json!(3)
        }),
        ("vulkan-size", "9 dimensions", |g| {
            tensor(g, 0)["dims"] = json!([1, 1, 1, 1, 1, 1, 1, 2, 3])
        }),
        ("vulkan-size", "5 dimensions", |g| tensor(g, 3)["dims"] = json!([1, 1, 1, 2, 3])),
        ("vulkan-size", "elements", |g| tensor(g, 3)["dims"] = json!([65536, 65536])),
        ("vulkan-constant", "out of range", |g| tensor(g, 0)["constant_id"] = json!(1)),
        ("vulkan-value", "is a constant", |g| g["input_ids"] = json!([0])),
    ];
    for (rule, part, change) in changes {
        is_broken(&judged(change), rule, part);
    }
}

#[test]
fn lists_name_values() {
    let with = |items: Value| {
        judged(move |graph| {
            let values = graph["values"].as_array_mut().unwrap();
            values.push(json!({"value_type": "ValueList", "value": {"items": items}}));
            graph["chain"][1] = json!({"name": "aten.cat.default", "args": [5, 2, 4]});
        })
    };
    assert_eq!(with(json!([3])), []);
    assert_eq!(with(json!([])), []);
    is_broken(&with(json!([3, 6])), "vulkan-index", "value 6");
    is_broken(&with(json!([3, 2])), "vulkan-operand", "expected a list of tensors");
    is_broken(&with(json!([4])), "vulkan-order", "reads value 4");
}

#[test]
fn tensors_are_written_before_they_are_read() {
    let unwritten = judged(|graph| graph["input_ids"] = json!([]));
    assert!(unwritten.iter().all(|(rule, _)| rule == "vulkan-order"), "{unwritten:?}");
    let output = judged(|graph| drop(graph["chain"].as_array_mut().unwrap().pop()));
    is_broken(&output, "vulkan-order", "an output of the graph");
    // The output of an unknown operator may be any of its arguments.
    let custom = judged(|graph| graph["chain"][0]["name"] = json!("my.add.default"));
    is_broken(&custom, "vulkan-custom", "my.add.default");
}

#[test]
fn an_operator_is_newer_than_a_release() {
    let Fixture(mut program) = Fixture::read("base/vulkan").unwrap();
    program["data"][0]["vulkan"]["chain"][1]["name"] = json!("aten.log10.default");
    let found = |release: Value| {
        let mut program = program.clone();
        program["runtime"] = release;
        judge(&Fixture(program))
    };
    let newer = "aten.log10.default came with release 1.5, and the file is for 1.4";
    is_broken(&found(json!([1, 4])), "operator-newer", newer);
    assert_eq!(found(json!([1, 5])), []);
}

/// A prepacked constant is there at each run.
#[test]
fn a_prepacked_constant_shares_no_memory() {
    let with = |object: i32| {
        judged(move |graph| {
            graph["chain"][0] = json!({"name": "et_vk.prepack.default", "args": [0, 3]});
            graph["input_ids"] = json!([]);
            tensor(graph, 3)["mem_obj_id"] = json!(object);
        })
    };
    // The delegate's call still has an input.
    is_broken(&with(-1), "vulkan-args", "0 inputs and 1 outputs");
    is_broken(&with(0), "vulkan-memory", "memory object 0");
}

fn tensor(graph: &mut Value, nth: usize) -> &mut Value {
    &mut graph["values"][nth]["value"]
}

/// Returns the findings in the same program, after a change of its graph and of its method. Its tensors have room for
/// eight bytes an element.
fn judged_with(change: impl FnOnce(&mut Value, &mut Value)) -> Vec<(String, String)> {
    let Fixture(mut program) = Fixture::read("base/vulkan").unwrap();
    let mut graph = program["data"][0]["vulkan"].take();
    let plan = &mut program["root"]["execution_plan"][0];
    plan["values"][1]["val"]["allocation_info"]["memory_offset_low"] = json!(128);
    plan["non_const_buffer_sizes"] = json!([0, 256]);
    change(&mut graph, plan);
    program["data"][0]["vulkan"] = graph;
    judge(&Fixture(program))
}

/// The argument has the datatype of the staging buffer; without one, that of the graph's tensor.
#[test]
fn each_datatype_of_a_tensor_takes_its_own_dtypes() {
    let rows: [(&str, &[&str]); 8] = [
        ("BOOL", &["BOOL"]),
        ("UINT8", &["BYTE"]),
        ("INT8", &["CHAR"]),
        ("INT32", &["INT", "LONG"]),
        ("INT64", &["LONG"]),
        ("FLOAT16", &["HALF"]),
        ("FLOAT32", &["HALF", "FLOAT", "DOUBLE"]),
        ("FLOAT64", &["DOUBLE"]),
    ];
    let all =
        ["BYTE", "CHAR", "SHORT", "INT", "LONG", "HALF", "FLOAT", "DOUBLE", "BOOL", "BFLOAT16"];
    for (datatype, taken) in rows {
        for dtype in all {
            for has_staging in [true, false] {
                let found = judged_with(|graph, plan| {
                    let input = tensor(graph, 1);
                    let field = if has_staging { "staging_datatype" } else { "datatype" };
                    input["staging_datatype"] = json!("UNSET");
                    input[field] = json!(datatype);
                    plan["values"][0]["val"]["scalar_type"] = json!(dtype);
                });
                match taken.contains(&dtype) {
                    true => assert_eq!(found, [], "{dtype} for {datatype}"),
                    false => is_broken(&found, "vulkan-args", &format!("it is of {dtype}")),
                }
            }
        }
    }
}

/// Outputs have their full sizes until an input is smaller than the graph allows, or an integer may change them.
#[test]
fn outputs_are_as_large_as_the_inputs_make_them() {
    let found = |input: [u32; 2], output: [u32; 2], dynamism: &str, has_integer: bool| {
        judged_with(|graph, plan| {
            let integer = json!({"value_type": "SymInt", "value": {"value": 1}});
            graph["values"].as_array_mut().unwrap().extend(has_integer.then_some(integer));
            plan["values"][0]["val"]["sizes"] = json!(input);
            plan["values"][1]["val"]["sizes"] = json!(output);
            plan["values"][1]["val"]["shape_dynamism"] = json!(dynamism);
        })
    };
    for dynamism in ["STATIC", "DYNAMIC_BOUND"] {
        assert_eq!(found([2, 3], [2, 3], dynamism, false), []);
        assert_eq!(found([1, 3], [1, 3], dynamism, false), []);
        assert_eq!(found([1, 3], [2, 3], dynamism, false), []);
        assert_eq!(found([2, 3], [1, 3], dynamism, true), []);
        is_broken(&found([3, 3], [2, 3], dynamism, false), "vulkan-args", "a size of 3");
    }
    is_broken(&found([2, 3], [1, 3], "STATIC", false), "vulkan-args", "it has a size of 1");
    is_broken(&found([2, 3], [1, 3], "DYNAMIC_BOUND", false), "vulkan-args", "room for 3 elements");
    for is_small in [false, true] {
        let input = if is_small { [1, 3] } else { [2, 3] };
        is_broken(&found(input, [3, 3], "STATIC", false), "vulkan-args", "it has a size of 3");
    }
}

/// A tensor with the memory object of an earlier one is an error exactly if that one is in use when it begins. Random
/// chains are compared with a search for such pairs.
#[test]
fn tensors_share_memory_only_one_after_the_other() {
    let mut random = Random(0x5eed_f00d);
    let mut shared = [0, 0];
    for _ in 0..400 {
        let calls = 1 + random.below(5);
        let objects: Vec<i32> = (0..=calls).map(|_| random.below(4) as i32 - 1).collect();
        // The tensors are the values from 1 on. The first is the input, the one written last the output.
        let (mut chain, mut lives) = (Vec::new(), vec![None; objects.len()]);
        lives[0] = Some((0, 0));
        let mut output = 0;
        for call in 1..=calls {
            let written: Vec<_> = (0..lives.len()).filter(|&nth| lives[nth].is_some()).collect();
            let from = written[random.below(written.len())];
            output = random.below(lives.len());
            chain.push(json!({"name": "aten.relu.default", "args": [from + 1, output + 1]}));
            lives[from] = lives[from].map(|(first, _)| (first, call));
            lives[output] = Some((lives[output].map_or(call, |(first, _)| first), call));
        }
        lives[output] = lives[output].map(|(first, _)| (first, calls + 1));
        let mut lives: Vec<_> = objects
            .iter()
            .zip(&lives)
            .filter_map(|(&object, life)| life.map(|(first, last)| (first, last, object)))
            .filter(|&(.., object)| object >= 0)
            .collect();
        lives.sort_unstable();
        // The tensors that begin while an earlier one is in use.
        let late = lives.iter().enumerate().filter(|(nth, (first, _, object))| {
            let mut earlier = lives[..*nth].iter();
            earlier.any(|(_, last, other)| other == object && first <= last)
        });
        let late = late.count();
        let found = judged(|graph| {
            let mut values = vec![graph["values"][0].clone()];
            for object in &objects {
                let mut value = graph["values"][1].clone();
                value["value"]["mem_obj_id"] = json!(object);
                values.push(value);
            }
            // Objects are counted up to the number of values.
            values.extend([
                json!({"value_type": "Null", "value": {}}),
                json!({"value_type": "Null", "value": {}}),
            ]);
            graph["values"] = json!(values);
            graph["chain"] = json!(chain);
            graph["output_ids"] = json!([output + 1]);
        });
        assert_eq!(found.len(), late, "{objects:?} {chain:?}: {found:?}");
        assert!(found.iter().all(|(rule, _)| rule == "vulkan-memory"), "{found:?}");
        shared[usize::from(late > 0)] += 1;
    }
    assert!(shared.iter().all(|&count| count > 50), "{shared:?}");
}

/// A generator of pseudorandom numbers, the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// The items of a list are in use as long as the list. A prepacked constant is in use from the start to the end.
#[test]
fn memory_is_in_use_through_lists_and_from_run_to_run() {
    let with = |objects: [i32; 5], chain: Value, output: u32| {
        judged(move |graph| {
            let values = graph["values"].as_array_mut().unwrap();
            let (constant, integer) = (values[0].clone(), values[2].clone());
            let of = |object: &i32| {
                let mut value = values[1].clone();
                value["value"]["mem_obj_id"] = json!(object);
                value
            };
            let tensors: Vec<_> = objects.iter().map(of).collect();
            let list = json!({"value_type": "ValueList", "value": {"items": [1]}});
            *values = vec![constant];
            values.extend(tensors);
            values.extend([integer, list]);
            graph["input_ids"] = json!([1]);
            graph["output_ids"] = json!([output]);
            graph["chain"] = chain;
        })
    };
    let relu = |from: u32, to: u32| json!({"name": "aten.relu.default", "args": [from, to]});
    let join = |to: u32| json!({"name": "aten.cat.default", "args": [7, 6, to]});
    let pack = |to: u32| json!({"name": "et_vk.prepack.default", "args": [0, to]});
    // Value 1, the item of the list, is read by the last call.
    let chain = json!([join(2), relu(2, 3), join(4)]);
    assert_eq!(with([0, 1, 2, 3, -1], chain.clone(), 4), []);
    is_broken(
        &with([0, 1, 0, 3, -1], chain, 4),
        "vulkan-memory",
        "memory object 0 has value 1 until call 2",
    );
    let chain = json!([relu(1, 2), relu(2, 3), pack(4)]);
    assert_eq!(with([0, 1, 2, 3, -1], chain.clone(), 3), []);
    for object in 0..3 {
        let found = with([0, 1, 2, object, -1], chain.clone(), 3);
        is_broken(&found, "vulkan-memory", &format!("memory object {object}"));
    }
}

/// Indices of a tensor may be left out, those of a list that has to be joined may not.
#[test]
fn some_lists_may_have_nulls() {
    let found = |name: &str, args: Value, items: Value| {
        judged(|graph| {
            let values = graph["values"].as_array_mut().unwrap();
            values.push(json!({"value_type": "Null", "value": {}}));
            values.push(json!({"value_type": "ValueList", "value": {"items": items}}));
            graph["chain"] = json!([
                {"name": name, "args": args},
                {"name": "aten.relu.default", "args": [1, 4]},
            ]);
            tensor(graph, 4)["mem_obj_id"] = json!(2);
        })
    };
    for items in [json!([1]), json!([5, 1]), json!([5, 5])] {
        assert_eq!(found("aten.index.Tensor", json!([1, 6, 3]), items), []);
    }
    is_broken(
        &found("aten.index.Tensor", json!([1, 6, 3]), json!([2])),
        "vulkan-operand",
        "expected a list of tensors or Nulls",
    );
    is_broken(
        &found("aten.cat.default", json!([6, 2, 3]), json!([1, 5])),
        "vulkan-operand",
        "expected a list of tensors",
    );
}

/// Kernels of images that are packed by channels throw for others. Where the graph has no layout, the backend chooses.
#[test]
fn images_are_packed_by_channels() {
    let found = |name: &str, layouts: [&str; 2]| {
        judged(|graph| {
            let values = graph["values"].as_array_mut().unwrap();
            values.push(json!({"value_type": "IntList", "value": {"items": [0]}}));
            graph["chain"] = json!([{"name": name, "args": [1, 5, 4]}]);
            for (nth, layout) in [(1, layouts[0]), (4, layouts[1])] {
                tensor(graph, nth)["memory_layout"] = json!(layout);
            }
            tensor(graph, 4)["mem_obj_id"] = json!(2);
        })
    };
    let (channels, width) = ("TENSOR_CHANNELS_PACKED", "TENSOR_WIDTH_PACKED");
    for layouts in [[channels, channels], ["DEFAULT_LAYOUT", channels]] {
        assert_eq!(found("aten.flip.default", layouts), []);
    }
    for layouts in [[width, channels], [channels, width], [channels, "TENSOR_HEIGHT_PACKED"]] {
        is_broken(&found("aten.flip.default", layouts), "vulkan-operand", "TENSOR_CHANNELS_PACKED");
        assert_eq!(found("aten.squeeze_copy.dims", layouts), []);
    }
}

/// A graph's tensor has fewer than 2^31 elements.
#[test]
fn the_elements_of_a_tensor_are_bounded() {
    let with = |dims: Value| {
        judged(|graph| {
            tensor(graph, 3)["dims"] = dims.clone();
            tensor(graph, 3)["storage_type"] = json!("BUFFER");
            tensor(graph, 4)["mem_obj_id"] = json!(2);
            graph["chain"] = json!([{"name": "aten.relu.default", "args": [1, 4]}]);
        })
    };
    assert_eq!(with(json!([0x7fff_ffff])), []);
    is_broken(&with(json!([0x8000_0000u32])), "vulkan-size", "2147483648 elements");
}
