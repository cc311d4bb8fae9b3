//! A program and the `.ptd`s that it is used with.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::rule::rules;
use super::spot::Plan;
use super::values::Values;
use super::{Findings, Report, data};
use crate::error::Step;
use crate::flat::view::{Table, Vector};
use crate::limits::Limits;
use crate::ptd::{Entry, Generation};
use crate::schema::program::TensorDataLocation;
use crate::schema::program::view::{KernelTypes, Tensor};
use crate::{Ptd, Pte};

rules! {
    "external";

    EXTERNAL_UNRESOLVED = Error "external-unresolved"
        "Every EXTERNAL tensor's data is in one of the .ptd files."
        "Loading the method is refused."
        Refuses ["2.4.15", "6.7", "7.4.3", "7.4.5", "7.7.21"];
    EXTERNAL_OPAQUE = Error "external-opaque"
        "The data of an EXTERNAL tensor has a shape."
        "The runtime reads the shape through a null pointer."
        Crashes ["2.4.16", "7.4.6", "7.7.21", "7.7.24", "8.3.10"];
    EXTERNAL_LAYOUT = Error "external-layout"
        "The data of an EXTERNAL tensor has the tensor's dtype, sizes and dim order."
        "Loading the method is refused."
        Refuses ["7.4.6", "7.7.21"];
    EXTERNAL_GENERATION = Error "external-generation"
        "A .ptd that a program is used with is of the current layout."
        "Runtimes from 0.7 on read an older one as their own layout, and find nothing or garbage."
        Misreads ["4.3"];
    EXTERNAL_KEY_CONFLICT = Error "external-key-conflict"
        "EXTERNAL tensors of one name have one dtype, sizes and dim order."
        "The data has one shape, so that loading a method with the other one is refused."
        Refuses ["7.4.6", "7.7.13"];
    KEY_IN_TWO_FILES = Error "key-in-two-files"
        "No key is in two of the files."
        "The runtime refuses to load them together; older ones take the first."
        Refuses ["6.7", "7.6.19", "7.7.13"];
    KEY_UNUSED = Note "key-unused"
        "Every tensor of a .ptd is used by the program."
        "It is loaded for nothing, or meant for another program."
        Ignores ["6.7"];
}

impl Pte<'_> {
    /// Judges this program and the `.ptd` files that it is used with as a whole: what each is by
    /// itself is not judged again.
    ///
    /// ```
    /// # fn main() -> pte::Result<()> {
    /// # let program = include_bytes!("../../tests/data/pte/external_all.pte");
    /// # let data = include_bytes!(
    /// #     "../../tests/data/ptd/external_all.default_external_constant.ptd"
    /// # );
    /// let (program, data) = (pte::Pte::read(program)?, pte::Ptd::read(data)?);
    /// let limits = pte::Limits::UNTRUSTED;
    /// assert!(program.check_with_data(&[data], &limits).findings().is_empty());
    /// let alone = program.check_with_data(&[], &limits);
    /// assert_eq!(alone.findings()[0].rule.id, "external-unresolved");
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_with_data(&self, data: &[Ptd<'_>], limits: &Limits) -> Report {
        let mut out = Findings::new(limits);
        let files = Files::new(self, data, &mut out);
        let mut used: BTreeMap<&str, ()> = BTreeMap::new();
        for (nth, view) in (0..).zip(self.program().execution_plan().into_iter().flatten()) {
            let plan = Plan::new(self, nth, view);
            for (index, value) in plan.values() {
                let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
                let Some(key) = external_key(tensor) else { continue };
                used.insert(key, ());
                resolve(&plan, index, tensor, key, &files, &mut out);
            }
        }
        // Delegates may ask for any key, and do not say so in the program.
        let mut plans = self.program().execution_plan().into_iter().flatten();
        if plans.all(|plan| plan.delegates().is_none_or(|delegates| delegates.is_empty())) {
            for (key, Found { file, ptd, nth, entry }) in &files.entries {
                out.data = Some(*file);
                if entry.layout().is_some() && !used.contains_key(key) {
                    let path = || data::path(ptd, *nth);
                    out.find(&KEY_UNUSED, entry.offset(), path, || format!("{key:?} is not used"));
                }
            }
        }
        out.report
    }
}

/// Every key of the `.ptd` files.
struct Files<'d> {
    entries: BTreeMap<&'d str, Found<'d>>,
}

/// An entry, and where it is.
struct Found<'d> {
    file: usize,
    ptd: &'d Ptd<'d>,
    nth: u32,
    entry: Entry<'d>,
}

impl<'d> Files<'d> {
    fn new(pte: &'d Pte<'d>, data: &'d [Ptd<'d>], out: &mut Findings) -> Self {
        let mut entries: BTreeMap<&str, Found<'_>> = BTreeMap::new();
        let mut owner: BTreeMap<&str, usize> = BTreeMap::new();
        owner.extend(pte.named_data().filter_map(|(key, _)| Some((key?, usize::MAX))));
        for (file, ptd) in data.iter().enumerate() {
            out.data = Some(file);
            if ptd.generation() < Generation::Three {
                let path = || vec![Step::Field("header")];
                out.find(&EXTERNAL_GENERATION, 0, path, || format!("{}", ptd.generation()));
            }
            for (nth, entry) in (0..).zip(ptd.entries()) {
                let Some(key) = entry.key() else { continue };
                let earlier = *owner.entry(key).or_insert(file);
                if earlier != file {
                    let path = || data::path(ptd, nth);
                    out.find(&KEY_IN_TWO_FILES, entry.offset(), path, || match earlier {
                        usize::MAX => format!("{key:?} is in the program too"),
                        _ => format!("{key:?} is in another .ptd too"),
                    });
                }
                entries.entry(key).or_insert(Found { file, ptd, nth, entry });
            }
        }
        out.data = None;
        Self { entries }
    }
}

/// The first tensor of each key, to hold the others against: they want the same data.
#[derive(Default)]
pub(super) struct Wanted<'a>(BTreeMap<&'a str, Tensor<'a>>);

impl<'a> Wanted<'a> {
    /// Judges the tensors of a plan whose data is external.
    pub(super) fn judge(&mut self, plan: &Plan<'_, 'a>, values: &Values, out: &mut Findings) {
        for &index in values.externals() {
            let Some(KernelTypes::Tensor(tensor)) = plan.value(index.into()) else { continue };
            let Some(key) = external_key(tensor) else { continue };
            let first = *self.0.entry(key).or_insert(tensor);
            let sizes = |tensor: Tensor<'a>| tensor.sizes().into_iter().flatten();
            let order = |tensor: Tensor<'a>| tensor.dim_order().into_iter().flatten();
            let same = first.scalar_type() == tensor.scalar_type()
                && sizes(first).eq(sizes(tensor))
                && order(first).eq(order(tensor));
            if !same {
                let steps = [Step::Field("extra_tensor_info"), Step::Field("fully_qualified_name")];
                plan.find_value(out, &EXTERNAL_KEY_CONFLICT, tensor.raw(), index, &steps, || {
                    format!("another tensor has the name {key:?} and another shape")
                });
            }
        }
    }
}

/// The key of a tensor whose data is external and has a name.
fn external_key(tensor: Tensor<'_>) -> Option<&str> {
    let extra = tensor.extra_tensor_info()?;
    match extra.location() {
        TensorDataLocation::EXTERNAL => extra.fully_qualified_name(),
        _ => None,
    }
}

fn resolve(
    plan: &Plan<'_, '_>,
    index: u32,
    tensor: Tensor<'_>,
    key: &str,
    files: &Files<'_>,
    out: &mut Findings,
) {
    let steps = [Step::Field("extra_tensor_info"), Step::Field("fully_qualified_name")];
    let mut find = |rule, message: &dyn Fn() -> String| {
        plan.find_value(out, rule, tensor.raw(), index, &steps, message);
    };
    let Some(Found { entry, .. }) = files.entries.get(key) else {
        return find(&EXTERNAL_UNRESOLVED, &|| format!("{key:?} is in none of the .ptd files"));
    };
    let Some(layout) = entry.layout() else {
        return find(&EXTERNAL_OPAQUE, &|| format!("{key:?} is a blob without a shape"));
    };
    let sizes = |sizes: Option<Vector<'_, i32>>| -> Vec<i32> {
        sizes.into_iter().flatten().take(17).collect()
    };
    let order = |order: Option<Vector<'_, u8>>| -> Vec<u8> {
        order.into_iter().flatten().take(17).collect()
    };
    if tensor.scalar_type() != layout.scalar_type {
        find(&EXTERNAL_LAYOUT, &|| {
            format!(
                "{key:?} is of dtype {}, and the tensor {}",
                layout.scalar_type,
                tensor.scalar_type()
            )
        });
    }
    let (ours, theirs) = (sizes(tensor.sizes()), sizes(layout.sizes));
    if ours != theirs {
        find(&EXTERNAL_LAYOUT, &|| {
            format!("{key:?} has sizes {theirs:?}, and the tensor {ours:?}")
        });
    }
    let (ours, theirs) = (order(tensor.dim_order()), order(layout.dim_order));
    if ours != theirs {
        find(&EXTERNAL_LAYOUT, &|| {
            format!("{key:?} has dim order {theirs:?}, and the tensor {ours:?}")
        });
    }
}
