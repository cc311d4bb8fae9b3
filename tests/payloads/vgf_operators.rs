//! Operators of graphs in VGF's code, whose operands are right or wrong.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pte::check::Checker;
use pte::flat::desc::Schema;
use pte::schema::tosa::Op;
use pte::schema::vgf::desc;
use serde_json::json;

use super::vgf::{lines_of, sample};
use crate::support::build;
use crate::support::snapshot::assert_snapshot;

/// Code with one operator.
///
/// Operands are written `FP32[2,3]` for an input of the graph, `INT32[2]=1,2` for a constant tensor, `INT32=1` and
/// `BOOL=1` for a number, `FP32[2]@0` for a constant of the segment, `FP32[2]?` for a value that is not known before
/// the code is specialized, `type` for a type and `none` for what nothing defines.
#[derive(Default)]
struct Code {
    words: Vec<u32>,
    /// The body of the graph.
    body: Vec<u32>,
    /// The last id.
    last: u32,
    /// The ids of types and constants, by what they are.
    known: BTreeMap<String, u32>,
    inputs: u32,
}

const SET: u32 = 1;
const GRAPH: u32 = 2;

fn add(words: &mut Vec<u32>, opcode: u32, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | opcode);
    words.extend(operands);
}

fn text(text: &str) -> Vec<u32> {
    let padded = format!("{text:\0<width$}", width = text.len() / 4 * 4 + 4);
    let words = padded.as_bytes().chunks(4).map(|word| word.try_into().unwrap());
    words.map(u32::from_le_bytes).collect()
}

impl Code {
    fn next(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// Returns the id of a type or a constant. The operands `[type, 0, …]` get the id in place of the 0.
    fn once(&mut self, opcode: u32, operands: &[u32], at: usize) -> u32 {
        let key = format!("{opcode} {operands:?}");
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = self.next();
        let mut operands = operands.to_vec();
        operands.insert(at, id);
        add(&mut self.words, opcode, &operands);
        self.known.insert(key, id);
        id
    }

    fn element(&mut self, name: &str) -> u32 {
        match name {
            "BOOL" => self.once(20, &[], 0),
            "FP16" => self.once(22, &[16], 0),
            "FP32" => self.once(22, &[32], 0),
            "FP64" => self.once(22, &[64], 0),
            "BF16" => self.once(22, &[16, 0], 0),
            "FP8E4M3" => self.once(22, &[8, 4214], 0),
            "FP8E5M2" => self.once(22, &[8, 4215], 0),
            name => self.once(21, &[name.strip_prefix("INT").unwrap().parse().unwrap(), 0], 0),
        }
    }

    fn number(&mut self, name: &str, value: i64) -> u32 {
        let of = self.element(name);
        match name {
            "BOOL" => self.once(if value == 0 { 42 } else { 41 }, &[of], 1),
            "INT64" => self.once(43, &[of, value as u32, (value >> 32) as u32], 1),
            "FP32" => self.once(43, &[of, (value as f32).to_bits()], 1),
            _ => self.once(43, &[of, value as u32], 1),
        }
    }

    /// Returns the id of a type of tensors: `FP32[2,3]`. A size of -1 is not known.
    fn tensor(&mut self, operand: &str) -> u32 {
        let (name, sizes) = operand.trim_end_matches(']').split_once('[').unwrap();
        let sizes: Vec<i64> = sizes.split(',').map(|size| size.parse().unwrap()).collect();
        let element = self.element(name);
        let rank = self.number("INT32", sizes.len() as i64);
        let array = self.element("INT32");
        let array = self.once(28, &[array, rank], 0);
        let sizes: Vec<_> = sizes
            .into_iter()
            .map(|size| match size {
                -1 => self.once(50, &[array, 7], 1),
                size => self.number("INT32", size),
            })
            .collect();
        let shape = self.once(44, &[&[array], &sizes[..]].concat(), 1);
        self.once(4163, &[element, rank, shape], 0)
    }

    fn operand(&mut self, operand: &str) -> u32 {
        if operand == "type" {
            return self.element("FP32");
        }
        if operand == "none" {
            return 9999;
        }
        if let Some(tensor) = operand.strip_suffix('?') {
            let of = self.tensor(tensor);
            return self.once(1, &[of], 1);
        }
        if let Some((tensor, number)) = operand.split_once('@') {
            let of = self.tensor(tensor);
            return self.once(4181, &[of, number.parse().unwrap()], 1);
        }
        let Some((of, values)) = operand.split_once('=') else {
            let (of, nth) = (self.tensor(operand), self.number("INT32", self.inputs.into()));
            self.inputs += 1;
            let id = self.next();
            add(&mut self.body, 4184, &[of, id, nth]);
            return id;
        };
        let values: Vec<i64> = values.split(',').map(|value| value.parse().unwrap()).collect();
        let Some((name, _)) = of.split_once('[') else { return self.number(of, values[0]) };
        let tensor = self.tensor(of);
        let numbers: Vec<_> = values.iter().map(|value| self.number(name, *value)).collect();
        self.once(44, &[&[tensor], &numbers[..]].concat(), 1)
    }

    /// Returns the code with an operator.
    fn of((op, operands, output): Case<'_>) -> Vec<u32> {
        let mut code = Self { last: GRAPH, ..Self::default() };
        let operands: Vec<_> = operands.split(' ').map(|operand| code.operand(operand)).collect();
        let types: Vec<_> = output.split(';').map(|output| code.tensor(output)).collect();
        let of = if types.len() == 1 { types[0] } else { code.once(30, &types, 0) };
        let op = (0..200).find(|nth| Op(nth + 1).name() == Some(op)).unwrap_or(200);
        let id = code.next();
        add(&mut code.body, 12, &[&[of, id, SET, op], &operands[..]].concat());
        code.whole()
    }

    /// Returns the words of the code.
    fn whole(self) -> Vec<u32> {
        let mut words = vec![0x0723_0203, 0x1_0600, 0, self.last + 1, 0];
        add(&mut words, 11, &[&[SET], &text("TOSA.001000.1")[..]].concat());
        words.extend(self.words);
        add(&mut words, 4182, &[&[GRAPH], &text("graph_partition_0")[..]].concat());
        add(&mut words, 4183, &[0, GRAPH]);
        words.extend(self.body);
        add(&mut words, 4186, &[]);
        words
    }
}

/// Returns the sample with other code.
fn with_code(words: &[u32]) -> Vec<u8> {
    let (_, payload) = sample();
    let section = |at: usize| {
        let number =
            |at: usize| u64::from_le_bytes(payload[at..][..8].try_into().unwrap()) as usize;
        payload[number(at)..][..number(at + 8)].to_vec()
    };
    let schema = Schema { root: &desc::ModuleTable, ..desc::SCHEMA };
    let module = json!({
        "type": "GRAPH", "name": "graph", "entry_point": "graph_partition_0", "code_type": "SPIRV",
        "code": {"words": words}
    });
    let modules = build::write_graph(&schema, &json!({ "modules": [module] }));
    build::vgf([modules, section(32), section(48), section(64)], 5)
}

/// Returns what is wrong with the operators of code.
fn wrong(words: &[u32]) -> Vec<String> {
    let report = Checker::new().check_payload(&with_code(words)).unwrap();
    let found = report.findings().iter().filter(|found| found.rule.id == "vgf-operator");
    // The graph is alone here, without the variables of its interface.
    let messages = found.map(|found| found.message.clone());
    messages.filter(|message| !message.starts_with("the graph has no")).collect()
}

/// Integers of code have no sign, and TOSA's are signed. Writers leave the high bits of small ones 0.
#[test]
fn constants_in_code_of_vgf_have_the_sign_and_the_encoding_of_tosa() {
    let of_code = |case: Case<'_>| {
        let lines = lines_of(&with_code(&Code::of(case)));
        lines.into_iter().find(|line| line.starts_with(case.0)).unwrap()
    };
    let clamp = of_code(("CLAMP", "INT8=184 INT8=43 INT32=1 INT8[2]", "INT8[2]"));
    assert!(clamp.contains(" min_val=-72 max_val=43 "), "{clamp}");
    let clamp = of_code(("CLAMP", "INT16=65535 INT16=7 INT32=1 INT16[2]", "INT16[2]"));
    assert!(clamp.contains(" min_val=-1 max_val=7 "), "{clamp}");
    for (name, expected) in [("FP8E5M2", "0.875"), ("FP8E4M3", "1.375")] {
        let operands = format!("{name}[2] INT64[2]=1,1 {name}[1]=59");
        let pad = of_code(("PAD", &operands, &format!("{name}[4]")));
        assert!(pad.contains(&format!(" pad_const=[{expected}]")), "{pad}");
    }
}

/// An operator, its operands, and its outputs.
type Case<'c> = (&'c str, &'c str, &'c str);

/// The emulation layer runs each of these.
const SOUND: &[Case<'static>] = &[
    ("ABS", "FP32[2,3]", "FP32[2,3]"),
    ("ADD", "FP32[2,3] FP32[1,3]", "FP32[2,3]"),
    ("ADD", "FP32[2,3] FP32[1,-1]", "FP32[2,3]"),
    ("ADD", "FP32[2,3] FP32[1,3]@0", "FP32[2,3]"),
    ("ADD", "FP32[2,3] FP32[1,3]?", "FP32[2,3]"),
    // A scalar has one dimension.
    ("ARGMAX", "INT32=0 INT32=1 FP32[2]", "INT32[1]"),
    (
        "AVG_POOL2D",
        "INT32[2]=2,2 INT32[2]=2,2 INT32[4]=0,0,0,0 INT32=1 INT8[1,4,4,2] INT8[1]=3 INT8[1]=3",
        "INT8[1,2,2,2]",
    ),
    ("CLAMP", "INT8=-1 INT8=1 INT32=1 INT8[3]", "INT8[3]"),
    ("CONCAT", "INT32=1 FP32[2,3] FP32[2,1] FP32[2,1]", "FP32[2,5]"),
    ("FFT2D", "BOOL=0 BOOL=0 FP32[1,4,8] FP32[1,4,8]", "FP32[1,4,8];FP32[1,4,8]"),
    // INT16 and INT8 make INT48.
    (
        "CONV2D",
        "INT32[4]=1,1,1,1 INT32[2]=2,2 INT32[2]=1,1 INT32=4 BOOL=0 INT16[1,5,5,3] INT8[8,3,3,3]@0 INT64[8]@1 INT16[1]=0 INT8[1]=3",
        "INT64[1,3,3,8]",
    ),
    ("MUL", "FP32[2,3] FP32[2,3] INT8[1]=0", "FP32[2,3]"),
    ("NEGATE", "FP32[2] FP32[1]=0 FP32[1]=0", "FP32[2]"),
    ("PAD", "FP8E5M2[2,3] INT32[4]=0,1,2,0 FP8E5M2[1]=0", "FP8E5M2[3,5]"),
    (
        "RESCALE",
        "BOOL=1 INT32=1 BOOL=0 BOOL=0 BOOL=0 INT32[2,3] INT32[1]=0 INT8[1]=2 INT32[1]=0 INT8[1]=2",
        "INT8[2,3]",
    ),
    ("RESHAPE", "FP32[2,3] INT32[1]=6", "FP32[6]"),
    (
        "RESIZE",
        "INT32=1 FP32[1,2,2,1] INT32[4]=4,2,4,2 INT32[2]=-1,-1 INT32[2]=1,1",
        "FP32[1,4,4,1]",
    ),
    ("TRANSPOSE", "INT32[2]=1,0 BF16[2,3]", "BF16[3,2]"),
];

const WRONG: &[Case<'static>] = &[
    ("CUSTOM", "FP32[2]", "FP32[2]"),
    ("SCAN", "FP32[2]", "FP32[2]"),
    ("ADD", "FP32[2,3]", "FP32[2,3]"),
    ("ADD", "FP32[2,3] FP32[2,3] FP32[2,3]", "FP32[2,3]"),
    ("ADD", "FP32[2,3] FP32[2,3]", "FP32[2,3];FP32[2,3]"),
    ("ADD", "FP32[2,3] none", "FP32[2,3]"),
    ("ADD", "FP32[2,3] type", "FP32[2,3]"),
    ("ADD", "FP32[2,3] FP32=1", "FP32[2,3]"),
    ("ADD", "FP32[2,3] FP16[2,3]", "FP32[2,3]"),
    ("ADD", "FP32[2,3] FP32[2]", "FP32[2,3]"),
    ("ADD", "FP32[2,3] FP32[2,3]", "FP32[2,4]"),
    ("ADD", "FP64[2,3] FP64[2,3]", "FP64[2,3]"),
    ("ARGMAX", "INT32=2 INT32=1 FP32[2,3]", "INT32[2]"),
    ("ARGMAX", "INT32=1 INT32=3 FP32[2,3]", "INT32[2]"),
    ("ARGMAX", "FP32[1] INT32=1 FP32[2,3]", "INT32[2]"),
    ("ARGMAX", "INT32[1]=1 INT32=1 FP32[2,3]", "INT32[2]"),
    ("ARGMAX", "INT32=1 INT32=1", "INT32[2]"),
    ("ARGMAX", "FP32=1 INT32=1 FP32[2,3]", "INT32[2]"),
    ("ARGMAX", "BOOL=1 INT32=1 FP32[2,3]", "INT32[2]"),
    ("RFFT2D", "INT32=0 FP32[1,4,8]", "FP32[1,4,5];FP32[1,4,5]"),
    ("TRANSPOSE", "INT32=0 FP32[2]", "FP32[2]"),
    ("TRANSPOSE", "FP32[1]=0 FP32[2]", "FP32[2]"),
    ("CLAMP", "INT32=-1 INT8=1 INT32=1 INT8[3]", "INT8[3]"),
    ("CONCAT", "INT32=1 FP32[2,3] FP32[3,1]", "FP32[2,4]"),
    ("CONCAT", "INT32=1", "FP32[2,4]"),
    ("FFT2D", "BOOL=0 BOOL=0 FP32[1,4,6] FP32[1,4,6]", "FP32[1,4,6];FP32[1,4,6]"),
    ("FFT2D", "BOOL=0 BOOL=0 FP32[1,4,8] FP32[1,4,8]", "FP32[1,4,8];FP32[1,4,4]"),
    ("FFT2D", "BOOL=0 BOOL=0 FP32[1,4,8] FP32[1,4,8]", "FP32[1,4,8]"),
    (
        "AVG_POOL2D",
        "INT32[2]=2,2 INT32[2]=2,0 INT32[4]=0,0,0,0 INT32=1 INT8[1,4,4,2] INT8[1]=3 INT8[1]=3",
        "INT8[1,2,2,2]",
    ),
    (
        "AVG_POOL2D",
        "INT32[2]=2,2 INT32=2 INT32[4]=0,0,0,0 INT32=1 INT8[1,4,4,2] INT8[1]=3 INT8[1]=3",
        "INT8[1,2,2,2]",
    ),
    (
        "AVG_POOL2D",
        "INT32[2]=2,2 INT32[2]=2,2 INT32[4]=0,0,0,0 INT32=9 INT8[1,4,4,2] INT8[1]=3 INT8[1]=3",
        "INT8[1,2,2,2]",
    ),
    ("MUL", "FP32[2,3] FP32[2,3] INT8[1]", "FP32[2,3]"),
    ("MUL", "FP32[2,3] FP32[2,3] FP32[1]=0", "FP32[2,3]"),
    ("NEGATE", "FP32[2] FP32[1]=1 FP32[1]=0", "FP32[2]"),
    ("NEGATE", "INT16[2] INT16[1]=1 INT16[1]=0", "INT16[2]"),
    ("NEGATE", "BF16[2] BF16[1]=1 BF16[1]=0", "BF16[2]"),
    ("NEGATE", "FP32[2] FP32[1] FP32[1]=0", "FP32[2]"),
    ("PAD", "FP32[2,3] INT32[2]=0,1 FP32[1]=0", "FP32[3,3]"),
    (
        "RESCALE",
        "BOOL=1 INT32=1 BOOL=1 BOOL=0 BOOL=0 INT32[2,3] INT32[1]=0 INT8[1]=2 INT32[1]=0 INT8[1]=2",
        "INT8[2,3]",
    ),
    ("RESHAPE", "FP32[2,3] INT32[1]=7", "FP32[6]"),
    ("RESHAPE", "FP32[2,3] INT32[1]", "FP32[6]"),
    ("SLICE", "FP32[2,6] INT32[2]=0,4 INT32[2]=2,3", "FP32[2,3]"),
    ("TRANSPOSE", "INT32[2]=1,1 FP32[2,3]", "FP32[3,2]"),
    ("TRANSPOSE", "INT32[2]@0 FP32[2,3]", "FP32[3,2]"),
];

#[test]
fn operators_in_code_have_operands_that_the_specification_gives() {
    for case in SOUND {
        assert_eq!(wrong(&Code::of(*case)), [""; 0], "{case:?}");
    }
    let mut text = String::new();
    for case @ (op, operands, output) in WRONG {
        writeln!(text, "{op} ({}) -> {output}", operands.replace(' ', ", ")).unwrap();
        let found = wrong(&Code::of(*case));
        assert!(!found.is_empty(), "{case:?}");
        found.iter().for_each(|message| writeln!(text, "  {message}").unwrap());
    }
    assert_snapshot("vgf-operators", &text);
}

/// Returns the place of the operands of the instructions with this opcode in the sample's payload.
fn places(payload: &[u8], opcode: u32, words: u32) -> Vec<usize> {
    let first = (words << 16 | opcode).to_le_bytes();
    let found = payload.windows(4).enumerate().filter(|(_, word)| *word == first);
    found.map(|(at, _)| at + 4).collect()
}

/// Returns what is wrong with the operators of the sample's payload with other words.
fn changed(changes: &[(usize, u32)]) -> Vec<String> {
    let (_, mut payload) = sample();
    for (at, word) in changes {
        payload[*at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    let report = Checker::new().check_payload(&payload).unwrap();
    let found = report.findings().iter().filter(|found| found.rule.id == "vgf-operator");
    found.map(|found| found.message.clone()).collect()
}

#[test]
fn inputs_and_outputs_of_code_have_the_types_of_their_variables() {
    let (_, payload) = sample();
    let word = |at: usize| u32::from_le_bytes(payload[at..at + 4].try_into().unwrap());
    let [input] = places(&payload, 4184, 4)[..] else { panic!() };
    let [output] = places(&payload, 4185, 3)[..] else { panic!() };
    assert_eq!(changed(&[]), [""; 0]);
    // The first type of tensors is that of the input, and the last id is not defined.
    let other_type = places(&payload, 4163, 5).last().map(|at| word(*at)).unwrap();
    let found = changed(&[(input, other_type)]);
    assert!(found[0].starts_with("operator 0: RESHAPE: "), "{found:?}");
    assert_eq!(found[1], "input 0 has another datatype or shape than its variable");
    assert_eq!(changed(&[(input + 8, other_type)]), ["the index of an input is no constant"]);
    // A constant number.
    let number = places(&payload, 43, 4).into_iter().find(|at| word(at + 8) > 2).unwrap();
    let message = format!("the graph has no input {}", word(number + 8));
    assert_eq!(changed(&[(input + 8, word(number + 4))]), [message]);
    assert_eq!(changed(&[(output, 9999)]), ["output 0 is not defined"]);
    assert_eq!(changed(&[(output, other_type)]), ["output 0 is no tensor"]);
    let value = word(input + 4);
    let message = "output 0 has another datatype or shape than its variable";
    assert_eq!(changed(&[(output, value)]), [message]);
}

#[test]
fn operands_in_code_are_defined_before() {
    let (_, payload) = sample();
    // The two operators that multiply: the first one reads what the second one makes.
    let word = |at: usize| u32::from_le_bytes(payload[at..at + 4].try_into().unwrap());
    let [first, second, ..] = places(&payload, 12, 8)[..] else { panic!() };
    let found = changed(&[(first + 16, word(second + 4))]);
    assert_eq!(found, ["operator 3: MUL: input1 is not defined before"]);
    // Another set of instructions.
    let found = changed(&[(first + 8, word(first))]);
    assert_eq!(found, ["operator 3: unknown operator 27"]);
}

/// Several results are parts of one value.
#[test]
fn parts_of_several_results_in_code_have_their_types() {
    let transform = "BOOL=0 BOOL=0 FP32[1,4,8] FP32[1,4,8]";
    let with = |change: &dyn Fn(&mut [u32])| {
        let mut code = Code { last: GRAPH, ..Code::default() };
        let operands: Vec<_> = transform.split(' ').map(|operand| code.operand(operand)).collect();
        let (of, other) = (code.tensor("FP32[1,4,8]"), code.tensor("FP32[2]"));
        let several = code.once(30, &[of, of], 0);
        let (made, part, sum) = (code.next(), code.next(), code.next());
        add(&mut code.body, 12, &[&[several, made, SET, 5], &operands[..]].concat());
        let mut extract = [of, part, made, 1];
        change(&mut extract);
        if extract[0] == 0 {
            extract[0] = other;
        }
        add(&mut code.body, 81, &extract);
        add(&mut code.body, 12, &[of, sum, SET, 14, part, part]);
        wrong(&code.whole())
    };
    assert_eq!(with(&|_| {}), [""; 0]);
    let undefined = ["operator 1: ADD: input1 is not defined before"];
    assert_eq!(with(&|extract| extract[0] = 0), undefined, "another type");
    assert_eq!(with(&|extract| extract[3] = 2), undefined, "there are two parts");
    assert_eq!(with(&|extract| extract[2] = SET), undefined, "no value");
    assert_eq!(with(&|extract| extract[2] = 3), undefined, "no several results");
}
