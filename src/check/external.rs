//! Rules on a program together with the `.ptd` files that it is used with.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::data_file;
use super::payloads::{DELEGATE_KEY_UNRESOLVED, NamedSizes, RequestedKeys};
use super::report::Findings;
use super::rule::{Rule, rules};
use super::site::{Plan, external_key};
use super::values::Values;
use pte_core::limits::MOST_DIMENSIONS;
use pte_core::ptd::Generation;
use pte_core::{PathComponent, Ptd, Pte};
use pte_flat::bytes::index as at_index;
use pte_flat::cost;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::{Scalar, Table, Vector};
use pte_schema::program::view::{ExecutionPlan, KernelTypes, Tensor};

rules! {
    "external";

    EXTERNAL_UNRESOLVED = Error "external-unresolved"
        "Every EXTERNAL tensor's data is in one of the .ptd files."
        "Loading the method is refused."
        "Give the .ptd that was written with this program: `--with FILE` or `--with FOLDER`."
        Refuses ["2.4.15", "6.7", "7.4.3", "7.4.5", "7.7.21"];
    EXTERNAL_OPAQUE = Error "external-opaque"
        "The data of an EXTERNAL tensor has a shape."
        "The runtime reads the shape through a null pointer."
        "Use the .ptd that was written with this program."
        Crashes ["2.4.16", "7.4.6", "7.7.21", "7.7.24", "8.3.10"];
    EXTERNAL_LAYOUT = Error "external-layout"
        "The data of an EXTERNAL tensor has the tensor's dtype, sizes and dim order."
        "Loading the method is refused."
        "Use the .ptd that was written with this program."
        Refuses ["7.4.6", "7.7.21"];
    EXTERNAL_GENERATION = Error "external-generation"
        "A .ptd that a program is used with is of the current layout."
        "Runtimes from 0.7 on read an older one as their own layout, and find nothing or garbage."
        "`pte convert` writes the current layout."
        Misreads ["4.3"];
    EXTERNAL_KEY_CONFLICT = Error "external-key-conflict"
        "EXTERNAL tensors of one name have one dtype, sizes and dim order."
        "The data has one shape, so that loading a method with the other one is refused."
        "Give the tensors different names, and export the program again."
        Refuses ["7.4.6", "7.7.13"];
    KEY_IN_TWO_FILES = Error "key-in-two-files"
        "No key is in two of the files."
        "The runtime refuses to load them together; older ones take the first."
        "Keep the key in one of the files: `pte edit --remove-data` removes it from another."
        Refuses ["6.7", "7.6.19", "7.7.13"];
    EXTERNAL_NOT_JUDGED = Note "external-not-judged"
        "The .ptd files that a program needs are judged with it."
        "The runtime loads a method only with this data, and whether the data fits is not known."
        "Give the .ptd that was written with this program: `--with FILE` or `--with FOLDER`."
        Refuses ["6.7", "7.7.21", "7.7.23"]
        untrusted_upload "The data decides what the program does, and is not judged.";
    KEY_UNUSED = Note "key-unused"
        "Every tensor and blob of a .ptd is used by the program, as far as its delegates' payloads can be read."
        "It is loaded without need, or meant for another program."
        "If no other program uses it, `pte edit --remove-data` removes it."
        Ignores ["6.7"];
}

/// Judges a program together with the `.ptd` files that it is used with. Each of these files is
/// judged by itself elsewhere. `requested` are the keys that the payloads of the program request.
pub(crate) fn judge(
    pte: &Pte<'_>,
    data: &[Ptd<'_>],
    requested: &RequestedKeys,
    out: &mut Findings,
) {
    let mut files = Files::new(pte, data, out);
    for (nth, view) in (0..).zip(pte.program().execution_plan().into_iter().flatten()) {
        let plan = Plan::new(pte, nth, view);
        for (index, value) in plan.values() {
            let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
            let Some(key) = external_key(tensor) else { continue };
            files.resolve(&plan, index, tensor, key, out);
        }
    }
    if !requested.is_incomplete {
        files.unused(requested, out);
    }
}

/// Reports the data that a program needs from `.ptd` files that the caller did not give.
pub(super) fn report_unknown(
    pte: &Pte<'_>,
    tensors: &ExternalTensors<'_>,
    named: &NamedSizes<'_>,
    requested: &RequestedKeys,
    out: &mut Findings,
) {
    let &ExternalTensors { count, first, .. } = tensors;
    tensors.keys.iter().for_each(|key| out.add_missing(key));
    if let Some(ExternalTensor { nth, view, index, tensor, key }) = first {
        let path = path!["extra_tensor_info", "fully_qualified_name"];
        let plan = Plan::new(pte, nth, view);
        plan.find_value(out, &EXTERNAL_NOT_JUDGED, tensor.raw(), index, &path, || {
            let what = "in a .ptd that is not given";
            match count {
                1 => format!("the data of 1 tensor is {what}: {}", Quoted(key)),
                _ => {
                    format!("the data of {count} tensors is {what}, that of {} first", Quoted(key))
                }
            }
        });
    }
    // If keys were reported as Errors, the Note on the other keys is left out.
    if out.has(&DELEGATE_KEY_UNRESOLVED) {
        return;
    }
    // The first constant of a graph is reserved, and its key may be empty.
    let is_missing = |key: &&str| !key.is_empty() && !named.is_own(key);
    let (mut count, mut first) = (0u64, None);
    for key in requested.iter().filter(is_missing) {
        count = count.saturating_add(1);
        first.get_or_insert(key);
        if !tensors.has(key) {
            out.add_missing(key);
        }
    }
    if let Some(first) = first {
        let path = || vec![PathComponent::Field("program")];
        out.find(&EXTERNAL_NOT_JUDGED, 0, path, || {
            let what = "of a .ptd that is not given";
            match count {
                1 => format!("a delegate uses a key {what}: {}", Quoted(first)),
                _ => format!("delegates use {count} keys {what}, {} first", Quoted(first)),
            }
        });
    }
}

/// The `.ptd` files, with the first entry of each key.
struct Files<'d> {
    data: &'d [Ptd<'d>],
    first: BTreeMap<&'d str, FirstEntry>,
}

/// The first entry of a key, and whether a tensor requests it.
///
/// The struct is small because a file may have a key every 20 bytes.
struct FirstEntry {
    file: u32,
    nth: u32,
    used: bool,
}

impl<'d> Files<'d> {
    fn new(pte: &'d Pte<'d>, data: &'d [Ptd<'d>], out: &mut Findings) -> Self {
        let mut first: BTreeMap<&str, FirstEntry> = BTreeMap::new();
        let mut own = BTreeSet::new();
        for (key, _) in pte.named_data() {
            let Some(key) = key else { continue };
            cost::look_up(key, own.len());
            own.insert(key);
        }
        for (file, ptd) in (0..).zip(data) {
            out.data = Some(at_index(file));
            if ptd.generation() < Generation::Three {
                let path = || vec![PathComponent::Field("header")];
                out.find(&EXTERNAL_GENERATION, 0, path, || format!("{}", ptd.generation()));
            }
            for (nth, entry) in (0..).zip(ptd.entries()) {
                let Some(key) = entry.key() else { continue };
                cost::look_up(key, own.len());
                cost::look_up(key, first.len());
                let owned = own.contains(key);
                let earlier =
                    first.entry(key).or_insert(FirstEntry { file, nth, used: false }).file;
                if owned || earlier != file {
                    let path = || data_file::path(ptd, nth);
                    out.find(&KEY_IN_TWO_FILES, entry.offset(), path, || match owned {
                        true => format!("{} is in the program too", Quoted(key)),
                        false => format!("{} is in another .ptd too", Quoted(key)),
                    });
                }
            }
        }
        out.data = None;
        Self { data, first }
    }

    /// Reports keys that neither a tensor nor a payload requests.
    fn unused(&self, requested: &RequestedKeys, out: &mut Findings) {
        for (file, ptd) in (0..).zip(self.data) {
            out.data = Some(at_index(file));
            for (nth, entry) in (0..).zip(ptd.entries()) {
                let Some(key) = entry.key() else { continue };
                let here =
                    |found: &&FirstEntry| (found.file, found.nth, found.used) == (file, nth, false);
                cost::look_up(key, self.first.len());
                if self.first.get(key).filter(here).is_some() && !requested.has(key) {
                    let path = || data_file::path(ptd, nth);
                    out.find(&KEY_UNUSED, entry.offset(), path, || {
                        format!("{} is not used", Quoted(key))
                    });
                }
            }
        }
    }

    /// Judges a tensor and its data.
    fn resolve(
        &mut self,
        plan: &Plan<'_, '_>,
        index: u32,
        tensor: Tensor<'_>,
        key: &str,
        out: &mut Findings,
    ) {
        let path = path!["extra_tensor_info", "fully_qualified_name"];
        let mut find = |rule, message: &dyn Fn() -> String| {
            plan.find_value(out, rule, tensor.raw(), index, &path, message);
        };
        let shown = Quoted(key);
        cost::look_up(key, self.first.len());
        let Some(found) = self.first.get_mut(key) else {
            return find(&EXTERNAL_UNRESOLVED, &|| format!("{shown} is in none of the .ptd files"));
        };
        found.used = true;
        let ptd = self.data.get(at_index(found.file));
        let Some(layout) = ptd.and_then(|ptd| ptd.layout(found.nth)) else {
            return find(&EXTERNAL_OPAQUE, &|| format!("{shown} is a blob without a shape"));
        };
        if tensor.scalar_type() != layout.scalar_type {
            find(&EXTERNAL_LAYOUT, &|| {
                format!(
                    "{shown} is of dtype {}, and the tensor {}",
                    layout.scalar_type,
                    tensor.scalar_type()
                )
            });
        }
        let (ours, theirs) = (few(tensor.sizes()), few(layout.sizes));
        if ours != theirs {
            find(&EXTERNAL_LAYOUT, &|| {
                format!("{shown} has sizes {theirs:?}, and the tensor {ours:?}")
            });
        }
        let rank = theirs.len();
        let (ours, mut theirs) = (few(tensor.dim_order()), few(layout.dim_order));
        // The runtime compares only as many items of the dim order as there are sizes.
        theirs.truncate(rank);
        if ours != theirs {
            find(&EXTERNAL_LAYOUT, &|| {
                format!("{shown} has dim order {theirs:?}, and the tensor {ours:?}")
            });
        }
    }
}

/// Returns the first items of a list: at most one more than a valid shape has. Longer lists are
/// cut, because many tensors may share one long list.
fn few<T: Scalar>(numbers: Option<Vector<'_, T>>) -> Vec<T> {
    numbers.into_iter().flatten().take(MOST_DIMENSIONS.saturating_add(1)).collect()
}

/// The tensors that request keys.
#[derive(Default)]
pub(super) struct ExternalTensors<'a> {
    /// The number of tensors.
    count: u64,
    first: Option<ExternalTensor<'a>>,
    /// The keys that they request, sorted.
    keys: Vec<&'a str>,
}

impl ExternalTensors<'_> {
    fn has(&self, key: &str) -> bool {
        cost::look_up(key, self.keys.len());
        self.keys.binary_search(&key).is_ok()
    }
}

/// A tensor that requests a key.
#[derive(Clone, Copy)]
struct ExternalTensor<'a> {
    /// The index of the method that has the tensor.
    nth: u32,
    view: ExecutionPlan<'a>,
    /// The value index of the tensor in the method.
    index: u32,
    tensor: Tensor<'a>,
    key: &'a str,
}

/// The expected layout of each key. The first tensor that requests a key sets its layout.
#[derive(Default)]
pub(super) struct ExpectedLayouts<'a> {
    by_key: BTreeMap<&'a str, Tensor<'a>>,
    tensors: ExternalTensors<'a>,
}

impl<'a> ExpectedLayouts<'a> {
    /// Judges the tensors of a plan whose data is external.
    pub(crate) fn judge(&mut self, plan: &Plan<'_, 'a>, values: &Values, out: &mut Findings) {
        for &index in values.externals() {
            let Some(tensor) = plan.tensor(index.into()) else { continue };
            let Some(key) = external_key(tensor) else { continue };
            self.tensors.count = self.tensors.count.saturating_add(1);
            let external = ExternalTensor { nth: plan.nth, view: plan.view, index, tensor, key };
            self.tensors.first.get_or_insert(external);
            cost::look_up(key, self.by_key.len());
            let first = *self.by_key.entry(key).or_insert(tensor);
            let sizes = |tensor: Tensor<'a>| tensor.sizes().into_iter().flatten();
            let order = |tensor: Tensor<'a>| tensor.dim_order().into_iter().flatten();
            let same = first.scalar_type() == tensor.scalar_type()
                && sizes(first).eq(sizes(tensor))
                && order(first).eq(order(tensor));
            if !same {
                let path = path!["extra_tensor_info", "fully_qualified_name"];
                plan.find_value(out, &EXTERNAL_KEY_CONFLICT, tensor.raw(), index, &path, || {
                    format!("another tensor has the name {} and another shape", Quoted(key))
                });
            }
        }
    }

    /// Returns the tensors that request keys.
    pub(super) fn tensors(self) -> ExternalTensors<'a> {
        ExternalTensors { keys: self.by_key.into_keys().collect(), ..self.tensors }
    }
}

/// Returns the rule on data that was not given. A policy that [denies](super::Policy::deny) it requires all data.
#[must_use]
pub fn data_rule() -> &'static Rule {
    &EXTERNAL_NOT_JUDGED
}
