//! Values: their contents, and the lists that refer to other values.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::report::Findings;
use super::rule::{Rule, rules};
use super::site::Plan;
use super::{parallel, tensors};
use pte_core::PathComponent;
use pte_flat::bytes::narrow;
use pte_flat::cost;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::{Raw, Table, Vtable};
use pte_schema::program::view::{EValue, KernelTypes};
use pte_schema::program::{TensorDataLocation, TensorShapeDynamism, tag};

rules! {
    "values";

    VALUE_EMPTY = Error "value-empty"
        "No value is empty: one without content is Null."
        "Loading the method is refused, or reads through a null pointer."
        MADE_BY_HAND
        Crashes ["6.4", "7.4.12", "7.7.6", "7.7.7"];
    VALUE_UNKNOWN = Error "value-unknown"
        "Every value is of a kind that the runtime knows."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["7.4.12", "7.7.7"];
    LIST_ITEMS_MISSING = Error "list-items-missing"
        "A list has items, which may be empty."
        "Loading the method is refused, or reads through a null pointer."
        MADE_BY_HAND
        Crashes ["7.2.10", "7.4.7", "7.4.9", "7.4.10", "7.4.11", "7.7.6"];
    STRING_MISSING = Error "string-missing"
        "A String has a text, which may be empty."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["7.4.9", "7.7.6"];
    INT_LIST_INDEX = Error "int-list-index"
        "Every item of an IntList is the index of a value."
        "Loading the method is refused; older runtimes read wrong memory."
        MADE_BY_HAND
        Refuses ["7.4.7", "7.7.15"];
    INT_LIST_TYPE = Error "int-list-type"
        "Every item of an IntList is the index of an Int."
        "The kernel that reads the list aborts."
        MADE_BY_HAND
        Crashes ["6.4", "7.7.15", "8.2 de8ce55e18"];
    TENSOR_LIST_INDEX = Error "tensor-list-index"
        "Every item of a TensorList is the index of a value."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["7.2.11", "7.4.10", "8.2 010f8caa91"];
    TENSOR_LIST_TYPE = Error "tensor-list-type"
        "Every item of a TensorList is the index of a Tensor."
        "Loading the method is refused; older runtimes take another value for a tensor."
        MADE_BY_HAND
        Refuses ["7.2.12", "7.4.10", "8.2 010f8caa91", "8.2 de8ce55e18"];
    OPTIONAL_TENSOR_LIST_INDEX = Error "optional-tensor-list-index"
        "Every item of an OptionalTensorList is −1 or the index of a value."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["7.4.11", "7.7.15"];
    OPTIONAL_TENSOR_LIST_TYPE = Error "optional-tensor-list-type"
        "Every item of an OptionalTensorList is a Tensor or nothing."
        "Loading the method is refused; older runtimes take another value for a tensor."
        MADE_BY_HAND
        Refuses ["7.4.11", "7.7.15", "8.2 de8ce55e18"];
    LIST_FORWARD = Error "list-forward"
        "The tensors of a list come before it."
        "The runtime reads a value that it has not created yet: uninitialized memory."
        MADE_BY_HAND
        Misreads ["6.4", "7.4.10", "7.4.11", "7.7.15"];
    STRING_NUL = Warning "string-nul"
        "A String holds no NUL."
        "Readers of C strings see a shorter text."
        UNUSUAL
        Ignores ["7.7.11"];
}

/// The facts about a method's values that other rules use, found in one pass.
#[derive(Default)]
pub(super) struct Values {
    /// The tag of each value: 0 for an empty one.
    tags: Vec<u8>,
    /// The tensors that have no memory for their data before the program runs, by ascending index.
    unstored: Vec<u32>,
    /// The tensors whose data is external, by ascending index.
    externals: Vec<u32>,
    /// Whether any tensor is not STATIC.
    are_dynamic: bool,
}

impl Values {
    /// Returns whether any tensor may be resized.
    pub(super) fn are_dynamic(&self) -> bool {
        self.are_dynamic
    }

    /// Returns the tag of a value; `None` if there is no value at `index`.
    #[inline]
    pub(super) fn tag(&self, index: i64) -> Option<u8> {
        self.tags.get(usize::try_from(index).ok()?).copied()
    }

    /// Returns the tensors whose data is external.
    pub(super) fn externals(&self) -> &[u32] {
        &self.externals
    }

    /// Returns the tensors without a place for their data.
    pub(super) fn unstored(&self) -> &[u32] {
        &self.unstored
    }

    /// Returns whether every tensor has a place for its data.
    pub(super) fn are_stored(&self) -> bool {
        self.unstored.is_empty()
    }

    /// Returns whether the value is a tensor without a place for its data.
    pub(super) fn is_unstored(&self, index: i32) -> bool {
        cost::look_up("", self.unstored.len());
        u32::try_from(index).is_ok_and(|index| self.unstored.binary_search(&index).is_ok())
    }
}

/// Returns whether the value at `index` is a tensor whose data is in the file or in a `.ptd`, and is
/// not planned.
pub(super) fn is_constant(plan: &Plan<'_, '_>, index: i32) -> bool {
    let Some(tensor) = plan.tensor(index.into()) else { return false };
    let is_external = || {
        let extra = tensor.extra_tensor_info();
        extra.is_some_and(|extra| extra.location() == TensorDataLocation::EXTERNAL)
    };
    tensor.allocation_info().is_none() && (tensor.data_buffer_idx() != 0 || is_external())
}

/// Judges the values of a method.
pub(super) fn check(plan: &Plan<'_, '_>, out: &mut Findings) -> Values {
    if plan.len == 0 {
        return Values::default();
    }
    let parts = parallel::judge(narrow(plan.len), out, |range, out| part(plan, range, out));
    let mut values = Values::default();
    let mut lists = Vec::new();
    for (more, more_lists) in parts {
        values.tags.extend(more.tags);
        values.unstored.extend(more.unstored);
        values.externals.extend(more.externals);
        values.are_dynamic |= more.are_dynamic;
        lists.push(more_lists);
    }
    // A list may refer to later values, so lists are judged once every tag is known.
    for index in lists.into_iter().flatten() {
        let (raw, rules) = match plan.value(i64::from(index)) {
            Some(KernelTypes::IntList(list)) => (list.raw(), &INTS),
            Some(KernelTypes::TensorList(list)) => (list.raw(), &TENSORS),
            Some(KernelTypes::OptionalTensorList(list)) => (list.raw(), &OPTIONALS),
            _ => continue,
        };
        List { plan, values: &values, index, raw, rules }.check(out);
    }
    values
}

/// Judges the values of a range, each by itself. Returns the facts about these values, and the
/// indices of the lists among them that refer to other values.
///
/// Most values are plain. A block of values is searched for plain ones, kind by kind: a branch on
/// the kind of each value would be mispredicted, which costs more than the checks.
fn part(plan: &Plan<'_, '_>, range: Range<u32>, out: &mut Findings) -> (Values, Vec<u32>) {
    let mut part = Part { plan, values: Values::default(), lists: Vec::new() };
    part.values.tags.reserve(range.len());
    // A small method gets a small buffer: there may be millions of methods.
    let mut tensors = vec![(0, Raw::BARE); range.len().min(BLOCK)];
    let mut vtables = Vtables { value: Vtable::default(), tensor: Vtable::default() };
    for first in range.clone().step_by(BLOCK) {
        let block = first..range.end.min(first.saturating_add(narrow(BLOCK)));
        let plain = part.plain(block.clone(), &mut vtables, &mut tensors);
        debug_assert!(part.agrees(&plain, block.clone(), out), "findings in {block:?}");
        let all = u64::MAX >> BLOCK.saturating_sub(block.len());
        let mut left = all & !plain.stored;
        while left != 0 {
            let nth = left.trailing_zeros();
            let index = first.saturating_add(nth);
            match plain.unstored >> nth & 1 {
                0 => part.judge(index, out),
                _ => part.values.unstored.push(index),
            }
            left &= left.wrapping_sub(1);
        }
    }
    (part.values, part.lists)
}

/// The number of values in a block: the bits of a `u64`.
const BLOCK: usize = 64;

/// The plain values of a block, one bit for each value. Plain values need no other check.
struct Plain {
    /// Tensors without memory for their data.
    unstored: u64,
    /// All other plain values.
    stored: u64,
}

/// A cache of the vtables of the last value and the last tensor.
struct Vtables<'a> {
    value: Vtable<'a>,
    tensor: Vtable<'a>,
}

/// The values of a range, as judged so far.
struct Part<'l, 'p, 'a> {
    plan: &'l Plan<'p, 'a>,
    values: Values,
    lists: Vec<u32>,
}

impl<'a> Part<'_, '_, 'a> {
    /// Records the kinds of a block of values, and returns which of them are plain. `tensors` is a
    /// buffer for the tensors of the block.
    fn plain(
        &mut self,
        block: Range<u32>,
        vtables: &mut Vtables<'a>,
        tensors: &mut [(u32, Raw<'a>)],
    ) -> Plain {
        let values = self.plan.view.values().unwrap_or_default();
        let (mut plain, mut count) = (Plain { unstored: 0, stored: 0 }, 0usize);
        for (nth, index) in (0u32..).zip(block) {
            let value = values.raw_by(index, &mut vtables.value);
            let (tag, raw) =
                value.and_then(|value| value.tagged(EValue::DESC)).unwrap_or((0, Raw::BARE));
            self.values.tags.push(tag);
            let is_plain = matches!(tag, tag::Null | tag::Int | tag::Bool | tag::Double);
            plain.stored |= u64::from(is_plain) << nth;
            // If the value is no tensor, the next value overwrites the slot.
            if let Some(slot) = tensors.get_mut(count) {
                *slot = (nth, raw);
            }
            count = count.saturating_add(usize::from(tag == tag::Tensor));
        }
        for &(nth, raw) in tensors.iter().take(count) {
            let raw = raw.resolved_by(&mut vtables.tensor);
            if let KernelTypes::Tensor(tensor) = KernelTypes::of((tag::Tensor, raw)) {
                let stored = tensors::plain(self.plan, tensor);
                self.values.are_dynamic |= tensor.shape_dynamism() != TensorShapeDynamism::STATIC;
                plain.stored |= u64::from(stored == Some(true)) << nth;
                plain.unstored |= u64::from(stored == Some(false)) << nth;
            }
        }
        plain
    }

    /// Returns whether `judge` finds nothing in the values of `block` that `plain` marks. Debug
    /// builds check the marks with it.
    fn agrees(&self, plain: &Plain, block: Range<u32>, out: &Findings) -> bool {
        let is_plain = |(nth, _): &(u32, u32)| (plain.stored | plain.unstored) >> nth & 1 == 1;
        (0..).zip(block).filter(is_plain).all(|(nth, index)| {
            let (values, mut found) = (Values::default(), out.another());
            let mut part = Part { plan: self.plan, values, lists: Vec::new() };
            part.judge(index, &mut found);
            let Values { unstored, externals, .. } = part.values;
            let has_more = !found.is_empty() || !externals.is_empty();
            !has_more
                && part.lists.is_empty()
                && unstored.is_empty() == (plain.unstored >> nth & 1 == 0)
        })
    }

    /// Judges a value of any kind.
    fn judge(&mut self, index: u32, out: &mut Findings) {
        let plan = self.plan;
        let Some(held) = plan.value(index.into()) else {
            return plan.find_value(out, &VALUE_EMPTY, plan.raw(index), index, &[], || {
                format!("value {index} is empty")
            });
        };
        match held {
            KernelTypes::Null(_)
            | KernelTypes::Int(_)
            | KernelTypes::Bool(_)
            | KernelTypes::Double(_) => {}
            KernelTypes::Tensor(tensor) => {
                let data = tensors::check(plan, index, tensor, out);
                if !data.stored {
                    self.values.unstored.push(index);
                }
                if data.external {
                    self.values.externals.push(index);
                }
            }
            KernelTypes::String(string) => match string.string_val() {
                None => plan.find_value(out, &STRING_MISSING, string.raw(), index, &[], || {
                    "the String has no text".into()
                }),
                Some(text) if text.contains('\0') => {
                    plan.find_value(out, &STRING_NUL, string.raw(), index, &[], || {
                        format!("the text {} holds a NUL", Quoted(text))
                    });
                }
                Some(_) => {}
            },
            KernelTypes::BoolList(list) => {
                items(plan, list.raw(), index, list.items().is_some(), out);
            }
            KernelTypes::DoubleList(list) => {
                items(plan, list.raw(), index, list.items().is_some(), out);
            }
            KernelTypes::IntList(list) => {
                items(plan, list.raw(), index, list.items().is_some(), out);
                self.lists.push(index);
            }
            KernelTypes::TensorList(list) => {
                items(plan, list.raw(), index, list.items().is_some(), out);
                self.lists.push(index);
            }
            KernelTypes::OptionalTensorList(list) => {
                items(plan, list.raw(), index, list.items().is_some(), out);
                self.lists.push(index);
            }
            KernelTypes::Unknown(tag) => {
                plan.find_value(out, &VALUE_UNKNOWN, plan.raw(index), index, &[], || {
                    format!("a value of kind {tag}")
                });
            }
        }
    }
}

fn items(plan: &Plan<'_, '_>, list: Raw<'_>, index: u32, there: bool, out: &mut Findings) {
    if !there {
        let path = [PathComponent::Field("items")];
        plan.find_value(out, &LIST_ITEMS_MISSING, list, index, &path, || {
            "the list has no items".into()
        });
    }
}

/// A list of references to values.
struct List<'l, 'p, 'a> {
    plan: &'l Plan<'p, 'a>,
    values: &'l Values,
    index: u32,
    raw: Raw<'a>,
    rules: &'static Items,
}

/// The requirements on the items of one kind of list.
struct Items {
    out_of_range: &'static Rule,
    wrong_type: &'static Rule,
    tags: &'static [u8],
    /// Whether −1 stands for an absent item.
    none: bool,
    /// Whether the items have 8 bytes, not 4.
    wide: bool,
    want: &'static str,
    /// Whether the runtime reads the items when it uses the list, not when it creates the list.
    read_when_used: bool,
}

static INTS: Items = Items {
    out_of_range: &INT_LIST_INDEX,
    wrong_type: &INT_LIST_TYPE,
    tags: &[tag::Int],
    none: false,
    wide: true,
    want: "an Int",
    read_when_used: true,
};
static TENSORS: Items = Items {
    out_of_range: &TENSOR_LIST_INDEX,
    wrong_type: &TENSOR_LIST_TYPE,
    tags: &[tag::Tensor],
    none: false,
    wide: false,
    want: "a Tensor",
    read_when_used: false,
};
static OPTIONALS: Items = Items {
    out_of_range: &OPTIONAL_TENSOR_LIST_INDEX,
    wrong_type: &OPTIONAL_TENSOR_LIST_TYPE,
    tags: &[tag::Null, tag::Tensor],
    none: true,
    wide: false,
    want: "a Tensor or Null",
    read_when_used: false,
};

impl List<'_, '_, '_> {
    fn check(&self, out: &mut Findings) {
        if self.rules.wide {
            let items = self.raw.vector::<i64>(0).into_iter().flatten();
            (0..).zip(items).for_each(|(nth, item)| self.item(nth, item, out));
        } else {
            let items = self.raw.vector::<i32>(0).into_iter().flatten();
            (0..).zip(items).for_each(|(nth, item)| self.item(nth, item.into(), out));
        }
    }

    fn item(&self, nth: u32, item: i64, out: &mut Findings) {
        if self.rules.none && item == -1 {
            return;
        }
        let mut find = |rule, message: &dyn Fn() -> String| {
            let path = path!["items", nth];
            self.plan.find_value(out, rule, self.raw, self.index, &path, message);
        };
        let len = narrow(self.plan.len);
        match self.values.tag(item) {
            None => find(self.rules.out_of_range, &|| {
                format!("value {item} is asked for, and there are {len}")
            }),
            // Another rule reports values that are empty or unknown.
            Some(tag) if !(tag::Null..=tag::OptionalTensorList).contains(&tag) => {}
            Some(tag) if !self.rules.tags.contains(&tag) => find(self.rules.wrong_type, &|| {
                let name = self.plan.value(item).and_then(|value| value.name());
                let (name, want) = (name.unwrap_or_default(), self.rules.want);
                format!("value {item} is {name}, and {want} is wanted")
            }),
            Some(_) if !self.rules.read_when_used && item >= i64::from(self.index) => {
                find(&LIST_FORWARD, &|| {
                    format!(
                        "value {item} does not come before the list, which is value {}",
                        self.index
                    )
                })
            }
            Some(_) => {}
        }
    }
}
