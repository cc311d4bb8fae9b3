//! Delegates of QNN: the options in their compile specs, and the header of their payloads.
//!
//! The backend verifies neither (docs/format.md §11.10). PyPI's packages for Linux contain it.

use super::{BackendRules, Bytes, Judge, Outcome, Subject};
use crate::rule::rules;
use pte_core::Backend;
use pte_flat::bytes::{array_at, len_of};
use pte_flat::cost;
use pte_schema::program::view::KernelTypes;

pub(super) mod options;

rules! {
    "qnn";

    QNN_OPTIONS = Error "qnn-options"
        "The last compile spec `qnn_compile_spec` of a delegate of QNN has options: the chip, the processor with its own options, and a library_path, which may be empty."
        "The backend reads through a null pointer, or past the options."
        LOWER_AGAIN
        Crashes ["11.10"];
    QNN_PAYLOAD = Error "qnn-payload"
        "A payload of QNN has 20 bytes at least, and the context binary that its header declares."
        "The backend reads past the payload."
        LOWER_AGAIN
        Misreads ["11.10"];
    QNN_SIGNATURE = Error "qnn-signature"
        "Payloads of QNN with the same signature are the same."
        "The runtime uses the graphs of the payload that it loads first for calls of the other."
        LOWER_AGAIN
        Misreads ["11.10"];
    QNN_CALL = Error "qnn-call"
        "The arguments of a call of a payload of QNN are tensors."
        "The runtime aborts."
        LOWER_AGAIN
        Crashes ["11.10", "8.2 #22237"];
    QNN_OLD = Warning "qnn-old"
        "The options of a delegate of QNN are those of a release since 1.2."
        "Releases since 1.2 read older options as others: they refuse them or crash."
        "Lower the model again with a current release, or run it with the release that wrote it."
        Crashes ["11.10"]
        untrusted_upload "A current runtime reads the options as others, a library among them.";
    QNN_LIBRARY = Warning "qnn-library"
        "The options of a delegate of QNN name no library."
        "The runtime loads the library that the file names, and runs its code."
        "Do not load the program unless you know the library."
        Ignores ["11.10"]
        untrusted_upload "The runtime would run code that is not in the file.";
}

/// The number of bytes that the backend reads at the start of any payload.
const HEADER: u64 = 20;
/// The name of the section that is a context binary with a signature.
const CONTEXT: &str = "context binary";

pub(super) const JUDGED: BackendRules = BackendRules {
    unreadable: &QNN_PAYLOAD,
    ..BackendRules::of(Backend::Qnn, RULES, judge).with_requested_keys()
};

/// Judges a payload, and then the calls of its delegates.
fn judge(judge: &mut Judge<'_>, payload: &Subject<'_>, bytes: &mut Bytes<'_>) -> Outcome {
    let &Subject { users, start, head, len } = payload;
    if len < HEADER {
        let message = || format!("a payload of {len} bytes: the backend reads {HEADER}");
        judge.report(users, &QNN_PAYLOAD, message);
        return Ok(());
    }
    let Some(sections) = payload.sections(Backend::Qnn, bytes) else { return Ok(()) };
    // Payloads of releases 0.6 and 0.7, and those without a header, have no signature.
    if sections?.sections.first().is_some_and(|section| section.name == CONTEXT) {
        let signature = array_at(head, 4).map(u64::from_le_bytes).unwrap_or_default();
        let own = start..start.saturating_add(len);
        let first = judge.qnn_signatures.entry(signature).or_insert_with(|| own.clone()).clone();
        if first != own {
            let is_same = len_of(&own) == len_of(&first)
                // Bytes that are not in memory are not compared.
                && match (bytes.read(first), bytes.read(own)) {
                    (Some(first), Some(own)) => first == own,
                    _ => true,
                };
            if !is_same {
                let message = || "another payload has the same signature".into();
                judge.report(users, &QNN_SIGNATURE, message);
            }
        }
    }
    for ((plan, _), instruction, call) in judge.calls(users) {
        let args = call.args().unwrap_or_default();
        cost::charge(args.len());
        let is_tensor = |arg: i32| match plan.value(arg.into()) {
            // Other rules report an argument that does not exist.
            None | Some(KernelTypes::Tensor(_)) => true,
            Some(_) => false,
        };
        if let Some((nth, arg)) = args.iter().enumerate().find(|(_, arg)| !is_tensor(*arg)) {
            let kind = plan.kind_name(arg).unwrap_or("nothing");
            let message = || format!("argument {nth} is {kind}: the runtime takes a Tensor");
            plan.find_instruction(judge.out, &QNN_CALL, &instruction, &[], message);
        }
    }
    Ok(())
}
