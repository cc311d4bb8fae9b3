//! Data references: every constant, initial value and reference to a segment resolves to bytes of
//! the file.

use alloc::string::ToString;

use super::report::Findings;
use super::rule::{Rule, rules};
use super::site::Plan;
use pte_core::{Error, ErrorKind, PathComponent, Storage};
use pte_flat::view::Table;
use pte_schema::program::view::Tensor;

rules! {
    "resolve";

    CONSTANT_INDEX = Error "constant-index"
        "A tensor's constant or initial data exists in the file."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["6.1", "7.6.1", "7.6.2", "7.6.8", "7.7.19", "7.7.20", "8.3.19"];
    DATA_OUT_OF_BOUNDS = Error "data-out-of-bounds"
        "A tensor's data lies within its segment, and is as long as its shape asks."
        "Loading the method is refused; runtimes before 1.0 read past the segment."
        MADE_BY_HAND
        Refuses [
            "6.1", "7.6.1", "7.6.2", "7.6.11", "7.6.12", "7.7.6", "7.7.19", "8.2 e59c0bd901",
            "8.2 ad9f38192d", "8.2 beca948cc9", "8.3.7",
        ];
    SEGMENT_INDEX = Error "segment-index"
        "A reference to a segment is the index of a segment."
        "Loading what refers to it is refused."
        MADE_BY_HAND
        Refuses [
            "2.4.12", "7.4.19", "7.6.4", "7.6.5", "7.6.9", "7.6.10", "7.6.13", "7.7.23", "7.7.24",
            "8.2 54645a8bf8",
        ];
    BASE_MISSING = Error "base-missing"
        "A file with references to segments says where its segments begin, even if they are empty."
        "Loading what refers to it is refused."
        MADE_BY_HAND
        Refuses ["7.6.3", "7.6.8"];
    DELEGATE_DATA_INDEX = Error "delegate-data-index"
        "A delegate's inline payload exists in the file."
        "Loading the method is refused; without any list of them the runtime reads through a null pointer."
        MADE_BY_HAND
        Crashes ["6.6", "7.4.18", "7.7.23", "8.2 #19904", "8.3.13"];
    DELEGATE_LOCATION = Error "delegate-location"
        "A delegate's payload is INLINE or in a SEGMENT."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["6.6", "7.4.17", "7.7.23"];
}

/// Returns the rule that a failed resolution breaks. The id of the rule is the code of the error.
pub(super) fn rule_of(error: &Error) -> &'static Rule {
    RULES.iter().copied().find(|rule| rule.id == error.code()).unwrap_or(&DATA_OUT_OF_BOUNDS)
}

/// Judges the place of the data of a tensor that has `size` bytes.
pub(super) fn storage(
    plan: &Plan<'_, '_>,
    index: u32,
    tensor: Tensor<'_>,
    size: Option<u64>,
    out: &mut Findings,
) {
    // Another rule reports a shape without a size.
    let Some(size) = size else { return };
    let path = [PathComponent::Field("data_buffer_idx")];
    let error = match plan.pte.storage_of(tensor, || Ok(size)) {
        Err(error) => error,
        Ok(Storage::Planned { initial: Some(_), .. }) if !plan.pte.has_base() => {
            return plan.find_value(out, &BASE_MISSING, tensor.raw(), index, &path, || {
                "initial data in a file that has no place for segments".into()
            });
        }
        Ok(_) => return,
    };
    // Another rule already reports the index of the constant segment.
    if matches!(error.kind(), ErrorKind::SegmentIndex { .. }) && tensor.allocation_info().is_none()
    {
        return;
    }
    plan.find_value(out, rule_of(&error), tensor.raw(), index, &path, || error.to_string());
}
