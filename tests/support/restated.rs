//! The properties of a sound file, checked by brute force over the tables, without the rules and the resolver.
//! Numbers are wide enough that no sum overflows.

use pte::flat::view::Vector;
use pte::ptd::Root;
use pte::schema::program::view::{
    BackendDelegate, DataSegment, ExecutionPlan, InstructionArguments, KernelTypes,
    SubsegmentOffsets, Tensor,
};
use pte::schema::program::{DataLocation, TensorDataLocation, tag};
use pte::schema::scalar::ScalarType;
use pte::{Ptd, Pte};

/// Bytes of an element, by the dtype's code (format.md §5).
const ELEMENT: [i128; 30] =
    [1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 4, 8];

/// The length of a file and the base offset of its segments.
struct Whole {
    len: i128,
    base: i128,
}

pub fn program(pte: &Pte<'_>) {
    let root = pte.program();
    let base = pte.header().map_or(0, |header| header.segment_base_offset);
    let whole = Whole { len: pte.file_len().into(), base: base.into() };
    assert_eq!(root.version(), 0);
    assert!(whole.len >= 64);
    let segments: Vec<_> = root.segments().unwrap_or_default().into_iter().collect();
    for segment in &segments {
        let end = i128::from(segment.offset()) + i128::from(segment.size());
        assert!(segment.size() == 0 || whole.base > 0 && whole.base + end <= whole.len);
    }
    for named in root.named_data().unwrap_or_default() {
        assert!(named.key().is_some(), "a key");
        assert!(is_index(named.segment_index().into(), segments.len()), "named data");
    }
    let plans = root.execution_plan();
    assert!(plans.is_some(), "a list of methods");
    for view in plans.unwrap_or_default() {
        Plan { pte, view, segments: &segments, tags: tags(view) }.hold();
    }
}

pub fn data(ptd: &Ptd<'_>) {
    let segment = |index: u32| ptd.segment_range(index).ok().map(|range| range.end - range.start);
    match ptd.root() {
        Root::Current(root) => {
            for named in root.named_data().unwrap_or_default() {
                let size = segment(named.segment_index());
                assert!(named.key().is_some() && size.is_some(), "{named:?}");
                if let Some(shape) = named.tensor_layout() {
                    let bytes = shaped(shape.scalar_type(), shape.sizes(), shape.dim_order());
                    assert!(size.is_some_and(|size| bytes <= size.into()), "{named:?}");
                }
            }
        }
        Root::Legacy(root) => {
            for tensor in root.tensors().unwrap_or_default() {
                let size = segment(tensor.segment_index());
                assert!(tensor.fully_qualified_name().is_some(), "{tensor:?}");
                let bytes = shaped(tensor.scalar_type(), tensor.sizes(), tensor.dim_order());
                let end = i128::from(tensor.offset()) + bytes;
                assert!(size.is_some_and(|size| end <= size.into()), "{tensor:?}");
            }
            for blob in root.named_data().unwrap_or_default() {
                assert!(blob.key().is_some() && segment(blob.segment_index()).is_some());
            }
        }
    }
}

/// A method, and the tags of its values.
struct Plan<'p, 'a> {
    pte: &'p Pte<'a>,
    view: ExecutionPlan<'a>,
    segments: &'p [DataSegment<'a>],
    tags: Vec<u8>,
}

fn tags(plan: ExecutionPlan<'_>) -> Vec<u8> {
    let values = plan.values().unwrap_or_default().into_iter();
    values.map(|value| value.val().map_or(0, |held| held.tag())).collect()
}

impl Plan<'_, '_> {
    fn hold(&self) {
        let view = self.view;
        assert!(view.name().is_some() && view.values().is_some(), "a name and values");
        assert!(view.inputs().is_some() && view.outputs().is_some(), "inputs and outputs");
        assert!(view.delegates().is_some(), "a list of delegates");
        assert!(self.tags.iter().all(|tag| (tag::Null..=tag::OptionalTensorList).contains(tag)));
        for (index, value) in view.values().unwrap_or_default().into_iter().enumerate() {
            self.value(i64::try_from(index).unwrap_or(-1), value.val());
        }
        let ends = [view.inputs(), view.outputs()].map(Option::unwrap_or_default);
        for index in ends.into_iter().flatten() {
            assert!(self.tag(index.into()).is_some_and(|tag| tag <= tag::String), "an end");
        }
        let arenas = view.non_const_buffer_sizes();
        assert!(arenas.is_some_and(|sizes| sizes.iter().skip(1).all(|size| size >= 0)));
        view.delegates().unwrap_or_default().iter().for_each(|delegate| self.delegate(delegate));
        assert!(
            view.operators().unwrap_or_default().iter().all(|operator| operator.name().is_some())
        );
        let chains = view.chains().unwrap_or_default();
        assert!(!chains.is_empty(), "a chain");
        for chain in chains {
            assert!(chain.instructions().is_some(), "a list of instructions");
            for instruction in chain.instructions().unwrap_or_default() {
                self.instruction(instruction.instr_args());
            }
        }
    }

    fn tag(&self, index: i64) -> Option<u8> {
        self.tags.get(usize::try_from(index).ok()?).copied()
    }

    fn value(&self, index: i64, held: Option<KernelTypes<'_>>) {
        let before = |item: i64, kind: u8| item < index && self.tag(item) == Some(kind);
        match held {
            Some(KernelTypes::Tensor(tensor)) => self.tensor(tensor),
            Some(KernelTypes::String(string)) => assert!(string.string_val().is_some()),
            Some(KernelTypes::IntList(list)) => {
                let mut items = list.items().into_iter().flatten();
                assert!(
                    list.items().is_some() && items.all(|item| self.tag(item) == Some(tag::Int))
                );
            }
            Some(KernelTypes::DoubleList(list)) => assert!(list.items().is_some()),
            Some(KernelTypes::BoolList(list)) => assert!(list.items().is_some()),
            Some(KernelTypes::TensorList(list)) => {
                let mut items = list.items().into_iter().flatten().map(i64::from);
                assert!(list.items().is_some() && items.all(|item| before(item, tag::Tensor)));
            }
            Some(KernelTypes::OptionalTensorList(list)) => {
                let mut items = list.items().into_iter().flatten().map(i64::from);
                let legal = |item| before(item, tag::Tensor) || before(item, tag::Null);
                assert!(list.items().is_some() && items.all(|item| item == -1 || legal(item)));
            }
            _ => {}
        }
    }

    fn tensor(&self, tensor: Tensor<'_>) {
        let bytes = shaped(tensor.scalar_type(), tensor.sizes(), tensor.dim_order());
        assert_eq!(tensor.storage_offset(), 0);
        let place = tensor.allocation_info();
        if let Some(place) = place {
            let low = i128::from(place.memory_offset_low());
            let offset = low + i128::from(place.memory_offset_high()) * (1 << 32);
            let arenas = self.view.non_const_buffer_sizes().unwrap_or_default();
            let arena = usize::try_from(place.memory_id()).ok().and_then(|id| arenas.get(id));
            assert!(place.memory_id() > 0 && arena.is_some_and(|a| offset + bytes <= a.into()));
        }
        if let Some(extra) = tensor.extra_tensor_info()
            && extra.location() == TensorDataLocation::EXTERNAL
        {
            assert!(extra.fully_qualified_name().is_some(), "a key");
            return;
        }
        let (root, index) = (self.pte.program(), tensor.data_buffer_idx());
        let Some(nth) = usize::try_from(index).ok().filter(|&nth| nth > 0) else { return };
        let offsets = root.constant_segment().filter(|list| !is_empty(*list));
        match (place, offsets) {
            (None, Some(list)) => self.piece(list, nth, bytes),
            (None, None) => {
                let buffer = root.constant_buffer().unwrap_or_default().get(nth);
                let there = buffer.map(|buffer| buffer.storage().unwrap_or_default().len());
                assert!(there.is_some_and(|there| bytes <= wide(there)), "{tensor:?}");
            }
            (Some(_), _) => {
                let list = root.mutable_data_segments().unwrap_or_default().get(0);
                assert!(list.is_some(), "{tensor:?}");
                list.into_iter().for_each(|list| self.piece(list, nth, bytes));
            }
        }
    }

    /// Checks that data of a length lies in its segment.
    fn piece(&self, list: SubsegmentOffsets<'_>, nth: usize, bytes: i128) {
        let offset = list.offsets().unwrap_or_default().get(nth).map(i128::from);
        let index = usize::try_from(list.segment_index()).ok();
        let size = index.and_then(|index| Some(self.segments.get(index)?.size()));
        let end = offset.map(|offset| offset + bytes);
        assert!(end.zip(size).is_some_and(|(end, size)| end <= size.into()), "{list:?}, {nth}");
    }

    fn delegate(&self, delegate: BackendDelegate<'_>) {
        assert!(delegate.id().is_some() && delegate.processed().is_some(), "{delegate:?}");
        let specs = delegate.compile_specs().unwrap_or_default();
        assert!(specs.iter().all(|spec| spec.key().is_some() && spec.value().is_some()));
        let Some(at) = delegate.processed() else { return };
        let blobs = self.pte.program().backend_delegate_data().unwrap_or_default();
        let index = usize::try_from(at.index()).unwrap_or(usize::MAX);
        match at.location() {
            DataLocation::INLINE => {
                assert!(blobs.get(index).is_some_and(|blob| blob.data().is_some()));
            }
            DataLocation::SEGMENT => assert!(index < self.segments.len()),
            other => panic!("a payload in {other}"),
        }
    }

    fn instruction(&self, args: Option<InstructionArguments<'_>>) {
        let values = |args: Option<Vector<'_, i32>>| {
            let mut indices = args.into_iter().flatten().map(i64::from);
            args.is_some() && indices.all(|index| self.tag(index).is_some())
        };
        let (operators, delegates) = (self.view.operators(), self.view.delegates());
        match args {
            Some(InstructionArguments::KernelCall(call)) => {
                assert!(is_index(call.op_index().into(), operators.unwrap_or_default().len()));
                assert!(values(call.args()), "{call:?}");
            }
            Some(InstructionArguments::DelegateCall(call)) => {
                let index = call.delegate_index().into();
                assert!(is_index(index, delegates.unwrap_or_default().len()));
                assert!(values(call.args()), "{call:?}");
            }
            Some(InstructionArguments::MoveCall(call)) => {
                let kinds = [call.move_from(), call.move_to()].map(|index| self.tag(index.into()));
                assert!(kinds.iter().all(|kind| kind.is_some_and(|kind| kind <= tag::String)));
            }
            // A move may have changed its type.
            Some(InstructionArguments::JumpFalseCall(call)) => {
                assert!(self.tag(call.cond_value_index().into()).is_some(), "{call:?}");
            }
            Some(InstructionArguments::FreeCall(call)) => {
                assert!(self.tag(call.value_index().into()).is_some(), "{call:?}");
            }
            other => panic!("{other:?}"),
        }
    }
}

fn is_empty(list: SubsegmentOffsets<'_>) -> bool {
    list.offsets().unwrap_or_default().is_empty()
}

/// Checks the properties of a shape, and returns its bytes.
fn shaped(
    dtype: ScalarType,
    sizes: Option<Vector<'_, i32>>,
    order: Option<Vector<'_, u8>>,
) -> i128 {
    assert!(sizes.is_some() && order.is_some(), "sizes and a dim order");
    let sizes: Vec<i32> = sizes.unwrap_or_default().into_iter().collect();
    // For a .ptd, entries past the sizes are ignored.
    let order = order.unwrap_or_default().into_iter().take(sizes.len());
    let mut order: Vec<u8> = order.collect();
    order.sort_unstable();
    assert!(order.iter().copied().eq((0..16).take(sizes.len())), "{order:?} of {sizes:?}");
    assert!(sizes.iter().all(|&size| size >= 0), "{sizes:?}");
    let element = usize::try_from(dtype.0).ok().and_then(|code| ELEMENT.get(code));
    assert!(element.is_some(), "dtype {}", dtype.0);
    if sizes.contains(&0) {
        return 0;
    }
    let element = element.copied().unwrap_or(1);
    let bytes = sizes.iter().fold(element, |bytes, &size| bytes.saturating_mul(size.into()));
    assert!(bytes <= u64::MAX.into(), "{bytes} bytes");
    bytes
}

fn is_index(index: i64, len: usize) -> bool {
    usize::try_from(index).is_ok_and(|index| index < len)
}

fn wide(len: usize) -> i128 {
    i128::try_from(len).unwrap_or(i128::MAX)
}
