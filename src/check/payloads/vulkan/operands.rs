//! The calls in a graph, each by itself: the operator, and the kinds of its arguments.

use super::values::{Kind, Values};
use super::{Site, VULKAN_CUSTOM, VULKAN_INDEX, VULKAN_MISSING, VULKAN_OPERAND, VULKAN_OPERATOR};
use crate::release::{OPERATOR_NEWER, is_newer};
use crate::report::Findings;
use pte_core::payload::vulkan::VulkanOperator;
use pte_flat::cost;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::{Table, Vector};
use pte_schema::vulkan::VkMemoryLayout;

/// Judges the operator and the arguments of each call.
pub(super) fn judge(
    site: &Site<'_, '_>,
    values: &Values,
    out: &mut Findings,
    notes: &mut Findings,
) {
    for (nth, call) in (0u32..).zip(site.graph.chain().into_iter().flatten()) {
        let path = path!["chain", nth];
        let (Some(name), Some(args)) = (call.name(), call.args()) else {
            site.place.find(out, &VULKAN_MISSING, call.raw(), &path, || {
                "the call has no name or no args".into()
            });
            continue;
        };
        cost::charge(args.len());
        if let Some(id) = args.iter().find(|&id| values.kind(id).is_none()) {
            site.place.find(out, &VULKAN_INDEX, call.raw(), &path, || {
                format!("value {id} is out of range: the graph has {}", values.len())
            });
            continue;
        }
        let Some(operator) = VulkanOperator::of(name) else {
            let is_custom = !VulkanOperator::is_of_known_namespace(name);
            let (rule, out) = match is_custom {
                true => (&VULKAN_CUSTOM, &mut *notes),
                false => (&VULKAN_OPERATOR, &mut *out),
            };
            site.place.find(out, rule, call.raw(), &path, || {
                format!("no release has the operator {}", Quoted(name))
            });
            continue;
        };
        if let Some(release) = site.release.filter(|release| *release < operator.since) {
            site.place.find(notes, &OPERATOR_NEWER, call.raw(), &path, || {
                is_newer(name, operator.since, release)
            });
        }
        let Some(arguments) = operator.arguments() else { continue };
        if args.len() != arguments.len() {
            site.place.find(out, &VULKAN_OPERAND, call.raw(), &path, || {
                format!("{name} takes {} arguments: found {}", arguments.len(), args.len())
            });
            continue;
        }
        let wrong = (0u32..).zip(args.iter().zip(arguments)).find_map(|(at, (id, argument))| {
            let kind = values.kind(id)?;
            (!kind.fits(argument)).then_some((at, id, kind, argument))
        });
        if let Some((at, id, layout)) = unpacked(site, values, operator, args) {
            site.place.find(out, &VULKAN_OPERAND, call.raw(), &path, || {
                format!("argument {at} of {name} is value {id} with the memory layout {layout}: expected TENSOR_CHANNELS_PACKED")
            });
        }
        if let Some((at, id, kind, argument)) = wrong {
            site.place.find(out, &VULKAN_OPERAND, call.raw(), &path, || {
                format!(
                    "argument {at} of {name} is value {id}, {}: expected {argument}",
                    kind.name()
                )
            });
        }
    }
}

/// Returns the first image of a call that is not packed by channels, if the operator takes no other. The backend
/// chooses the layout of a tensor for which the graph has none. Constants are packed as the operator needs them, and a
/// convolution of lines is another kernel.
fn unpacked(
    site: &Site<'_, '_>,
    values: &Values,
    operator: &VulkanOperator,
    args: Vector<'_, i32>,
) -> Option<(u32, i32, VkMemoryLayout)> {
    let weights = args.get(1).and_then(|id| site.tensor(u32::try_from(id).ok()?));
    let is_of_lines =
        weights.is_some_and(|weights| weights.dims().is_some_and(|dims| dims.len() == 3));
    if !operator.packs_channels() || is_of_lines {
        return None;
    }
    (0u32..).zip(args).find_map(|(at, id)| {
        let tensor = values.kind(id).filter(|kind| *kind == Kind::Tensor);
        let layout = tensor.and(site.tensor(u32::try_from(id).ok()?))?.memory_layout();
        let is_other = [VkMemoryLayout::TENSOR_WIDTH_PACKED, VkMemoryLayout::TENSOR_HEIGHT_PACKED];
        is_other.contains(&layout).then_some((at, id, layout))
    })
}
