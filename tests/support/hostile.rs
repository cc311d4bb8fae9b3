//! Families of files that are costly: to check, as each attacks the rules of one or more subjects, or to
//! show.

use crate::tables::{At, Builder, Field, Version, number};
use Field::{Number, To};

mod data;
mod payloads;
mod programs;
mod rules;

/// A file, and the `.ptd` files that it is judged with.
#[derive(Debug)]
pub struct Made(pub Vec<u8>, pub Vec<Vec<u8>>);

/// A family of files of any size.
pub struct Family {
    pub name: String,
    /// The subjects that it attacks: the file of size `n` breaks one rule of each at least n / 16 times.
    pub subjects: &'static [&'static str],
    make: Box<dyn Fn(Version, usize) -> Made>,
}

/// A family that attacks rules: the name, the subjects and the maker.
type RuleFamily = (&'static str, &'static [&'static str], fn(Builder, usize) -> Made);

impl Family {
    fn new(name: impl Into<String>, make: impl Fn(Version, usize) -> Made + 'static) -> Self {
        Self { name: name.into(), subjects: &[], make: Box::new(make) }
    }

    fn program(name: &str, make: impl Fn(Builder, usize) -> Made + 'static) -> Self {
        Self::new(name, move |version, n| make(version.pte(), n))
    }

    /// Returns the file of size `n`.
    pub fn make(&self, n: usize) -> Made {
        (self.make)(Version::First, n)
    }

    /// Returns the largest file that has at most `size` bytes, and the second version of it.
    pub fn of_size(&self, size: usize) -> [Vec<u8>; 2] {
        let fits = |n: usize| self.make(n).0.len() <= size;
        let mut too_large = 2;
        while fits(too_large) {
            too_large *= 2;
        }
        let mut n = too_large / 2;
        while too_large - n > n.div_ceil(32) {
            let middle = n.midpoint(too_large);
            *(if fits(middle) { &mut n } else { &mut too_large }) = middle;
        }
        [Version::First, Version::Second].map(|version| (self.make)(version, n).0)
    }
}

/// Returns all families.
pub fn families() -> Vec<Family> {
    let rules = rules::FAMILIES.iter().chain(payloads::FAMILIES);
    let rules =
        rules.map(|&(name, subjects, make)| Family { subjects, ..Family::program(name, make) });
    rules.chain(programs::families()).chain(data::families()).collect()
}

/// Returns a program with the lists `lists`, and `data` after the FlatBuffer.
fn root(mut b: Builder, lists: &[(&str, At)], data: &[u8]) -> Made {
    let root = b.lists("Program", lists);
    Made(b.finish(root, data), vec![])
}

/// Returns a program with the methods `plans`.
fn program(mut b: Builder, plans: Vec<At>) -> Made {
    let plans = b.tables(plans);
    root(b, &[("execution_plan", plans)], &[])
}

/// Returns a value of a graph that is input `nth`.
fn input(b: &mut Builder, nth: usize) -> At {
    let fields = [
        ("datatype", Number(1)),
        ("external_id", number(nth)),
        ("flags", Number(1)),
        ("id_out", number(nth)),
    ];
    b.held("XValue", "XNNTensorValue", &fields)
}

/// Returns a program that calls a delegate `n` times, with these arguments.
fn delegated(v: Version, payload: &[u8], n: usize, args: &[usize]) -> Made {
    delegated_to(v, "XnnpackBackend", payload, n, args)
}

fn delegated_to(v: Version, backend: &str, payload: &[u8], n: usize, args: &[usize]) -> Made {
    let mut b = v.pte();
    let call = delegate_call(&mut b, args.iter().copied());
    with_delegates(b, (backend, payload), 1, &[], vec![], vec![call; n])
}

/// Returns a program with one method, as of [`method`], in which one delegate is listed `n` times.
fn with_delegates(
    mut b: Builder,
    (backend, payload): (&str, &[u8]),
    n: usize,
    lists: &[(&str, At)],
    values: Vec<At>,
    instructions: Vec<At>,
) -> Made {
    let data = b.bytes(payload);
    let data = b.lists("BackendDelegateInlineData", &[("data", data)]);
    let payloads = b.tables([data]);
    let id = b.text(backend);
    let reference = b.table("BackendDelegateDataReference", &[]);
    let delegate = b.lists("BackendDelegate", &[("id", id), ("processed", reference)]);
    let delegates = b.tables(vec![delegate; n]);
    let lists = [&[("delegates", delegates)], lists].concat();
    let plan = method(&mut b, &lists, values, instructions);
    let plans = b.tables([plan]);
    root(b, &[("execution_plan", plans), ("backend_delegate_data", payloads)], &[])
}

/// Returns a program with one method, which has the lists `lists`, the values `values`, and one
/// chain of `instructions`.
fn one_plan(mut b: Builder, lists: &[(&str, At)], values: Vec<At>, instructions: Vec<At>) -> Made {
    let plan = method(&mut b, lists, values, instructions);
    program(b, vec![plan])
}

fn method(b: &mut Builder, lists: &[(&str, At)], values: Vec<At>, instructions: Vec<At>) -> At {
    let instructions = b.tables(instructions);
    let chain = b.lists("Chain", &[("instructions", instructions)]);
    let (values, chains) = (b.tables(values), b.tables([chain]));
    b.lists("ExecutionPlan", &[&[("values", values), ("chains", chains)], lists].concat())
}

/// Returns a program with the method `plan` and constants at `offsets` of a segment that holds `bytes`.
fn with_constants(
    mut b: Builder,
    plan: At,
    offsets: impl Iterator<Item = usize>,
    bytes: &[u8],
) -> Made {
    let offsets = b.longs(offsets);
    let constants = b.lists("SubsegmentOffsets", &[("offsets", offsets)]);
    let segment = b.table("DataSegment", &[("size", number(bytes.len()))]);
    let (segments, plans) = (b.tables([segment]), b.tables([plan]));
    root(
        b,
        &[("execution_plan", plans), ("segments", segments), ("constant_segment", constants)],
        bytes,
    )
}

/// Returns a program with one method that has the same chain `n` times.
fn chains(mut b: Builder, values: Vec<At>, instructions: &[At], n: usize) -> Made {
    let instructions = b.tables(instructions.iter().copied());
    let chain = b.lists("Chain", &[("instructions", instructions)]);
    let (values, chains) = (b.tables(values), b.tables(vec![chain; n]));
    let plan = b.lists("ExecutionPlan", &[("values", values), ("chains", chains)]);
    program(b, vec![plan])
}

/// Returns a call of the operator `operator`.
fn call(b: &mut Builder, operator: usize, args: impl IntoIterator<Item = usize>) -> At {
    let args = b.numbers(args);
    b.held("Instruction", "KernelCall", &[("op_index", number(operator)), ("args", To(args))])
}

fn delegate_call(b: &mut Builder, args: impl IntoIterator<Item = usize>) -> At {
    let args = b.numbers(args);
    b.held("Instruction", "DelegateCall", &[("args", To(args))])
}

/// Returns a list with the same operator `n` times.
fn operator(b: &mut Builder, name: &str, n: usize) -> At {
    let (name, overload) = (b.text(name), b.text("out"));
    let operator = b.lists("Operator", &[("name", name), ("overload", overload)]);
    b.tables(vec![operator; n])
}

/// Returns a program that calls `aten::as_strided_copy` on a tensor of `n` dimensions, at least
/// `n` times. `behind` follows the name of the operator.
fn strides(mut b: Builder, n: usize, behind: &str) -> Made {
    let operators = operator(&mut b, &format!("aten::as_strided_copy{behind}"), 1);
    let (sizes, order) = (b.numbers(vec![1; n]), b.bytes(&vec![0; n]));
    let place = b.table("AllocationDetails", &[]);
    let fields = [("sizes", To(sizes)), ("dim_order", To(order)), ("allocation_info", To(place))];
    let tensor = b.held("EValue", "Tensor", &fields);
    let items = b.longs([0]);
    let list = b.held("EValue", "IntList", &[("items", To(items))]);
    let int = b.held("EValue", "Int", &[("int_val", Number(1))]);
    let call = call(&mut b, 0, [1, 2, 2, 0, 1, 1]);
    let calls = vec![call; n.max(behind.len())];
    one_plan(b, &[("operators", operators)], vec![int, tensor, list], calls)
}

/// Returns a root with `n` nested segments: each lies in the next one.
fn segments(b: &mut Builder, root: &str, n: usize) -> At {
    let segments = b.each(0..n, |b, nth| {
        let fields = [("offset", number(n - nth - 1)), ("size", number(2 * nth + 1))];
        b.table("DataSegment", &fields)
    });
    let segments = b.tables(segments);
    let mut fields = vec![("segments", To(segments))];
    if root == "FlatTensor" {
        fields.push(("named_data", To(b.tables([]))));
    }
    b.table(root, &fields)
}

/// Returns a tensor whose data is external.
fn external(b: &mut Builder, key: &str, rank: usize) -> At {
    let (name, sizes) = (b.text(key), b.numbers(vec![1; rank]));
    let order = b.bytes(&(0..rank as u8).collect::<Vec<_>>());
    let fields = [("fully_qualified_name", To(name)), ("location", Number(1))];
    let extra = b.table("ExtraTensorInfo", &fields);
    let fields = [("sizes", To(sizes)), ("dim_order", To(order)), ("extra_tensor_info", To(extra))];
    b.held("EValue", "Tensor", &fields)
}

/// Returns an entry of a `.ptd`.
fn entry(b: &mut Builder, key: &str, rank: usize) -> At {
    let (key, sizes, order) = (b.text(key), b.numbers(vec![1; rank]), b.bytes(&vec![0; rank]));
    let layout = b.lists("TensorLayout", &[("sizes", sizes), ("dim_order", order)]);
    b.lists("NamedData", &[("key", key), ("tensor_layout", layout)])
}

/// Returns a `.ptd` of `entries`, all in one segment.
fn entries(mut b: Builder, entries: Vec<At>) -> Vec<u8> {
    let segment = b.table("DataSegment", &[("size", Number(8))]);
    let (segments, entries) = (b.tables([segment]), b.tables(entries));
    let root = b.lists("FlatTensor", &[("segments", segments), ("named_data", entries)]);
    b.finish(root, &[0; 8])
}

/// Returns a block of an Ethos-U stream. The data of one with the flag 1 is a key.
pub fn vela_block(name: &str, flag: u8, data: &[u8]) -> Vec<u8> {
    let mut block = name.as_bytes().to_vec();
    block.resize(16, 0);
    block.extend((data.len() as u32).to_le_bytes());
    block.push(flag);
    block.resize(32, 0);
    block.extend(data);
    block.resize(block.len().next_multiple_of(16), 0);
    block
}
