//! Delegates: their backend, payload and compile specs.

use alloc::string::ToString;

use super::report::Findings;
use super::resolve::{BASE_MISSING, rule_of};
use super::rule::rules;
use super::site::Plan;
use pte_core::{Backend, PathComponent};
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::Table;
use pte_schema::program::DataLocation;
use pte_schema::program::view::BackendDelegate;

rules! {
    "delegates";

    DELEGATE_ID_MISSING = Error "delegate-id-missing"
        "A delegate names its backend."
        "Loading the method is refused, and asking which backends it uses reads through a null pointer."
        MADE_BY_HAND
        Crashes ["7.3.14", "7.4.14", "7.7.6"];
    DELEGATE_ID_NUL = Warning "delegate-id-nul"
        "The name of a backend holds no NUL."
        "Runtimes read up to the NUL: the payload may go to another backend."
        UNUSUAL
        Ignores ["7.7.11"];
    DELEGATE_PAYLOAD_MISSING = Error "delegate-payload-missing"
        "A delegate says where its payload is, and the payload exists."
        "The runtime reads through a null pointer."
        MADE_BY_HAND
        Crashes ["7.4.16", "7.4.18", "7.7.6", "8.2 #19904", "8.3.12", "8.3.13"];
    DELEGATE_SPEC_KEY_MISSING = Error "delegate-spec-key-missing"
        "A compile spec has a key."
        "The runtime reads through a null pointer."
        MADE_BY_HAND
        Crashes ["6.6", "7.4.20", "7.7.6", "8.3.11"];
    DELEGATE_SPEC_VALUE_MISSING = Error "delegate-spec-value-missing"
        "A compile spec has a value, which may be empty."
        "The runtime reads through a null pointer."
        MADE_BY_HAND
        Crashes ["6.6", "7.4.20", "7.7.6", "8.3.11"];
    DELEGATE_SPECS_MISSING = Note "delegate-specs-missing"
        "A delegate has a list of compile specs, which may be empty."
        "Older runtimes read through a null pointer."
        "Export the program again with a current release."
        Ignores ["7.4.20", "8.2 77614768c8"];
    BACKEND_UNKNOWN = Note "backend-unknown"
        "A delegate's backend is one of ExecuTorch's."
        "Only a runtime with that backend loads the method, and what its payload does is not known."
        "Ask the writer of the file which runtime has this backend."
        Refuses ["7.4.14"]
        untrusted_upload "What the payload does is not known.";
}

pub(super) fn check(plan: &Plan<'_, '_>, out: &mut Findings) {
    for (nth, delegate) in (0..).zip(plan.view.delegates().into_iter().flatten()) {
        let base = path!["delegates", nth];
        if delegate.id().is_none() {
            plan.find(out, &DELEGATE_ID_MISSING, delegate.raw(), &base, || {
                "the delegate names no backend".into()
            });
        }
        if delegate.id().is_some_and(|id| id.contains('\0')) {
            plan.find(out, &DELEGATE_ID_NUL, delegate.raw(), &base, || {
                format!("the name {} holds a NUL", Quoted(delegate.id().unwrap_or_default()))
            });
        }
        if let Some(id) = delegate.id().filter(|id| Backend::of_id(id).is_none()) {
            plan.find(out, &BACKEND_UNKNOWN, delegate.raw(), &base, || {
                format!("the backend {} is not known", Quoted(id))
            });
        }
        payload(plan, &base, delegate, out);
        if delegate.compile_specs().is_none() {
            plan.find(out, &DELEGATE_SPECS_MISSING, delegate.raw(), &base, || {
                "the delegate has no list of compile specs".into()
            });
        }
        for (spec_nth, spec) in (0..).zip(delegate.compile_specs().into_iter().flatten()) {
            let [field, index] = base;
            let path = [
                field,
                index,
                PathComponent::Field("compile_specs"),
                PathComponent::Index(spec_nth),
            ];
            if spec.key().is_none() {
                plan.find(out, &DELEGATE_SPEC_KEY_MISSING, spec.raw(), &path, || {
                    "the compile spec has no key".into()
                });
            }
            if spec.value().is_none() {
                plan.find(out, &DELEGATE_SPEC_VALUE_MISSING, spec.raw(), &path, || {
                    format!("compile spec {} has no value", Quoted(spec.key().unwrap_or_default()))
                });
            }
        }
    }
}

fn payload(
    plan: &Plan<'_, '_>,
    base: &[PathComponent; 2],
    delegate: BackendDelegate<'_>,
    out: &mut Findings,
) {
    let [field, index] = *base;
    let path = [field, index, PathComponent::Field("processed")];
    let Some(processed) = delegate.processed() else {
        return plan.find(out, &DELEGATE_PAYLOAD_MISSING, delegate.raw(), base, || {
            "the delegate does not say where its payload is".into()
        });
    };
    match plan.pte.delegate_range(delegate) {
        Err(error) => plan.find(out, rule_of(&error), processed.raw(), &path, || error.to_string()),
        Ok(Some(_)) if processed.location() == DataLocation::SEGMENT && !plan.pte.has_base() => {
            plan.find(out, &BASE_MISSING, processed.raw(), &path, || {
                "a payload in a segment of a file that has no place for segments".into()
            });
        }
        Ok(Some(_)) => {}
        // A payload in a segment always has data, even if the data is empty.
        Ok(None) => plan.find(out, &DELEGATE_PAYLOAD_MISSING, processed.raw(), &path, || {
            format!("inline payload {} has no data", processed.index())
        }),
    }
}
