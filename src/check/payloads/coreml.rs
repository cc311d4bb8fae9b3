//! Rules on payloads of Core ML: the file system, the call, the model, and its weights.
//!
//! The runtime is in docs/format.md §11.12. Core ML itself runs on Apple's systems alone, so the reader of coremltools
//! stands for it.

use alloc::borrow::Cow;
use alloc::string::String;
use core::ops::Range;

use super::named::is_digest;
use super::{BackendRules, Bytes, Judge, Outcome, PayloadSite, Subject, reason};
use crate::rule::rules;
use crate::site::Plan;
use pte_core::Backend;
use pte_core::payload::coreml::mil::{Constant, Model};
use pte_core::payload::coreml::{Blob, Metadata, Package};
use pte_core::payload::graph::Datatype;
use pte_core::payload::{Section, Sections, Unreadable};
use pte_flat::bytes::{len_of, u32_at};
use pte_flat::cost;
use pte_flat::quoted::Quoted;
use pte_schema::scalar::ScalarType;

mod operators;
mod program;

rules! {
    "coreml";

    COREML_ARCHIVE = Error "coreml-archive"
        "A payload of Core ML is a tree of files with plain names, or names data that is one; it has a model and `metadata.json`."
        "The runtime refuses it, reads outside of its table of contents, or writes files outside of the model's folder."
        LOWER_AGAIN
        Misreads ["11.12"];
    COREML_CALL = Error "coreml-call"
        "A call of a delegate of Core ML has a tensor for each input and output that `metadata.json` names."
        "The runtime reads past the arguments, or refuses an argument."
        LOWER_AGAIN
        Misreads ["11.12"];
    COREML_MODEL = Error "coreml-model"
        "The model in a payload of Core ML is a message of Core ML's specification."
        "No reader accepts it."
        LOWER_AGAIN
        Refuses ["11.12"];
    COREML_WEIGHTS = Error "coreml-weights"
        "The weights of a model of Core ML are in its files, with the bytes that their types need."
        "coremltools refuses the model. Core ML may read other bytes as weights."
        LOWER_AGAIN
        Refuses ["11.12"];
    COREML_PROGRAM = Warning "coreml-program"
        "An ML Program has known operators, defines each value once, before it is used, and has the inputs and outputs that `metadata.json` names."
        "Core ML refuses the model when it is compiled on the device."
        LOWER_AGAIN
        Refuses ["11.12"];
}

pub(super) const JUDGED: BackendRules = BackendRules {
    unreadable: &COREML_ARCHIVE,
    ..BackendRules::of(Backend::CoreMl, RULES, judge).with_requested_keys()
};

/// Judges a payload. Every fault is a finding of the rules here, unless the payload has no delegate to report it at.
fn judge(judge: &mut Judge<'_>, payload: &Subject<'_>, bytes: &mut Bytes<'_>) -> Outcome {
    let Some(sections) = payload.sections(Backend::CoreMl, bytes) else { return Ok(()) };
    let sections = sections?;
    let reference = sections.sections.iter().find(|section| section.name == "reference");
    let Some(reference) = reference else {
        let place = judge.place(payload, payload.start, "model");
        return archive(&mut PayloadSite { judge, payload, place }, sections, bytes);
    };
    let Some((file, key)) = referred(judge, reference) else {
        judge.report(payload.users, &COREML_ARCHIVE, || {
            let key = reference.key.as_deref().unwrap_or_default();
            format!("the payload refers to the named data {}, which is missing", Quoted(key))
        });
        return Ok(());
    };
    judge.requested.add(core::iter::once(key.as_str()));
    let Some(file) = file else { return Ok(()) };
    let subject =
        Subject { users: payload.users, start: file.start, head: &[], len: len_of(&file) };
    match subject.sections(Backend::CoreMl, bytes) {
        None | Some(Err(Unreadable::Sections { .. })) => Ok(()),
        Some(Err(why)) => {
            judge.report(payload.users, &COREML_ARCHIVE, || {
                format!("in the named data {}: {}", Quoted(&key), reason(&why))
            });
            Ok(())
        }
        Some(Ok(sections)) => {
            let place = judge.place(payload, file.start, "model");
            archive(&mut PayloadSite { judge, payload, place }, sections, bytes)
        }
    }
}

/// Returns the range of the named data with a model, and its key; `None` if the data is missing. Data of a `.ptd` has
/// no range.
fn referred(judge: &Judge<'_>, section: &Section) -> Option<(Option<Range<u64>>, String)> {
    let key = section.key.clone()?;
    match judge.named.get(&key, || is_digest(&key)) {
        super::NamedSize::Missing => None,
        _ => {
            let own = judge.named.own_range(&key);
            Some((own, key))
        }
    }
}

/// Judges a file system: its files, the calls, and its model.
fn archive(
    site: &mut PayloadSite<'_, '_, '_>,
    sections: Sections,
    bytes: &mut Bytes<'_>,
) -> Outcome {
    let (start, package) = (site.place.start, Package::new(sections));
    let mut read = |range: Range<u64>| {
        bytes.read(start.saturating_add(range.start)..start.saturating_add(range.end))
    };
    let Some(range) = package.model() else {
        if !package.is_compiled() {
            site.find(&COREML_ARCHIVE, 0, || "the payload has no model".into());
        }
        return Ok(());
    };
    let metadata = package.metadata().and_then(&mut read);
    let metadata = metadata.and_then(|bytes| Metadata::read(&bytes));
    if let Some((plan, _)) = site.judge.delegate(site.payload.users.first()) {
        let names =
            metadata.as_ref().and_then(|all| all.method(plan.view.name().unwrap_or_default()));
        if names.is_none_or(|names| names.outputs.is_empty()) {
            let message = "metadata.json does not name the inputs and outputs of the method";
            site.find(&COREML_ARCHIVE, 0, || message.into());
        }
    }
    if let Some(metadata) = &metadata {
        let count = |plan: &Plan<'_, '_>| {
            let method = plan.view.name().unwrap_or_default();
            cost::look_up(method, 1);
            metadata.count(method)
        };
        site.judge.arguments(site.payload.users, &COREML_CALL, count, unfit);
    }
    let at = range.start;
    let Some(model_bytes) = read(range) else { return Ok(()) };
    let model = match Model::read(&model_bytes) {
        Err(why) if site.payload.users.is_empty() => return Err(why),
        Err(why) => {
            site.find(&COREML_MODEL, at, || reason(&why));
            return Ok(());
        }
        Ok(model) => model,
    };
    let weights = &mut |constant: Constant<'_>| wrong_weights(&package, constant, &mut read);
    program::judge(&model, metadata.as_ref(), weights, &mut |rule, near, message| {
        site.find(rule, at.saturating_add(model.position(near)), message);
    });
    Ok(())
}

/// Returns what an argument is that the runtime does not take; `None` for a tensor that it takes.
fn unfit(plan: &Plan<'_, '_>, nth: usize, arg: i32) -> Option<String> {
    let Some(tensor) = plan.tensor(arg.into()) else {
        return Some(format!("argument {nth} is {}", plan.kind_name(arg).unwrap_or("nothing")));
    };
    let dtype = tensor.scalar_type();
    (!TAKEN.contains(&dtype))
        .then(|| format!("argument {nth} is of {dtype}, which the runtime does not take"))
}

/// Returns what is wrong with a constant whose elements are in a file.
fn wrong_weights<'b>(
    package: &Package,
    constant: Constant<'_>,
    read: &mut impl FnMut(Range<u64>) -> Option<Cow<'b, [u8]>>,
) -> Option<String> {
    let place = constant.blob()?;
    let (name, at) = (Quoted(place.file), place.offset);
    let Some(file) = package.weights(place.file) else {
        return Some(format!("the payload has no file {name}"));
    };
    let size = len_of(&file);
    let Some(end) = at.checked_add(Blob::METADATA).filter(|end| *end <= size) else {
        return Some(format!("metadata at {at:#x} of {name}, which has {size} bytes"));
    };
    let metadata = read(file.start.saturating_add(at)..file.start.saturating_add(end))?;
    let Some(blob) = Blob::read(&metadata).filter(|blob| blob.sentinel == Blob::SENTINEL) else {
        return Some(format!("no metadata of weights at {at:#x} of {name}"));
    };
    let header = read(file.start..file.start.saturating_add(8).min(file.end))?;
    if u32_at(&header, 4) != Some(Blob::VERSION) {
        return Some(format!("{name} is not of version {}", Blob::VERSION));
    }
    let datatype = constant.of().datatype().and_then(Datatype::name);
    if let Some(datatype) = datatype.filter(|datatype| !blob.is_of(datatype)) {
        return Some(format!(
            "weights of the datatype {}, and their type is {datatype}",
            blob.datatype
        ));
    }
    let Range { start, end } = blob.range.clone();
    if end > size {
        return Some(format!(
            "weights at {start:#x} to {end:#x} of {name}, which has {size} bytes"
        ));
    }
    let (len, needed) = (end.saturating_sub(start), constant.of().bytes()?);
    (len != needed).then(|| format!("weights of {len} bytes, and their type needs {needed}"))
}

/// The dtypes of arguments that the runtime takes.
static TAKEN: [ScalarType; 8] = [
    ScalarType::BOOL,
    ScalarType::BYTE,
    ScalarType::SHORT,
    ScalarType::INT,
    ScalarType::LONG,
    ScalarType::HALF,
    ScalarType::FLOAT,
    ScalarType::DOUBLE,
];
