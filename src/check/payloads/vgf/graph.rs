//! Whether the resources of a segment are the tensors that the graph in its code expects.

use alloc::string::String;
use alloc::vec::Vec;

use pte_core::payload::vgf::{self, GraphInterface, GraphTensor};
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_flat::view::List;
use pte_schema::vgf::view::{ModelResourceTableEntry, SegmentInfo};

/// Returns where a segment's resources are unlike the tensors of the graph in its code. `constants` has the resource of
/// each constant of the payload. Bindings without a tensor, such as images, are not compared.
pub(super) fn unlike(
    segment: SegmentInfo<'_>,
    interface: &GraphInterface,
    resources: List<'_, ModelResourceTableEntry<'_>>,
    constants: &[u32],
) -> Option<String> {
    let sets = segment.set_infos().into_iter().flatten();
    for slot in sets.flat_map(|set| set.bindings().into_iter().flatten()) {
        let (binding, nth) = (slot.binding(), slot.mrt_index());
        cost::look_up("", interface.bindings.len());
        if let Some(tensor) = interface.bindings.get(&binding)
            && let Some(why) = resources.get(index(nth)).and_then(|of| other_type(tensor, of))
        {
            return Some(format!("binding {binding}, resource {nth}: {why}"));
        }
    }
    let used = segment.constants().unwrap_or_default();
    for (&nth, tensor) in &interface.constants {
        let Some(constant) = used.get(index(nth)) else {
            return Some(format!("the code has constant {nth}, and the segment {}", used.len()));
        };
        let resource = constants.get(index(constant)).and_then(|nth| resources.get(index(*nth)));
        if let Some(why) = resource.and_then(|of| other_type(tensor, of)) {
            return Some(format!("constant {nth}: {why}"));
        }
    }
    None
}

/// Returns the name of a format without its sign: integers of code have none.
fn signless(format: &str) -> &str {
    format.strip_suffix("_UINT").or(format.strip_suffix("_SINT")).unwrap_or(format)
}

/// Returns how a resource differs from the tensor that code expects.
fn other_type(tensor: &GraphTensor, of: ModelResourceTableEntry<'_>) -> Option<String> {
    let have = vgf::format(of.vk_format()).map(|(name, _)| name);
    if let (Some(want), Some(have)) = (tensor.format(), have)
        && signless(want) != signless(have)
    {
        return Some(format!("the code expects {want}, and the resource is {have}"));
    }
    let want = tensor.sizes.as_ref()?;
    let have = of.description().and_then(|of| of.shape()).unwrap_or_default();
    let is_equal = |(want, have): (&u32, i64)| *want == 0 || i64::from(*want) == have;
    // Converters give a scalar one dimension in code, and none in its resource.
    let is_scalar = have.is_empty() && matches!(want[..], [0 | 1]);
    let is_same = want.len() == have.len() && want.iter().zip(have).all(is_equal);
    let is_same = is_same || is_scalar;
    (!is_same).then(|| {
        let have: Vec<_> = have.iter().take(want.len().saturating_add(1)).collect();
        format!("the code expects the shape {want:?}, and the resource has {have:?}")
    })
}
