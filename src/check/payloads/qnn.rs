//! Delegates of QNN: the options in their compile specs, and the header of their payloads.
//!
//! The backend verifies neither (docs/format.md §11.10). PyPI's packages for Linux contain it.

use alloc::string::String;

use super::{BackendRules, Bytes, Judge, Subject, payload_path, reason, wide};
use crate::report::Findings;
use crate::rule::{Rule, rules};
use crate::site::Plan;
use pte_core::payload::Unreadable;
use pte_core::payload::qnn_options::{self, QnnOptions};
use pte_core::{Backend, Limits, PathComponent};
use pte_flat::bytes::{array_at, len_of};
use pte_flat::cost;
use pte_flat::quoted::Quoted;
use pte_flat::view::Table;
use pte_schema::program::view::{BackendDelegate, CompileSpec, KernelTypes};
use pte_schema::qnn::view::QnnExecuTorchOptions;
use pte_schema::qnn::{QnnExecuTorchBackendType, QnnExecuTorchLogLevel};

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
        Crashes ["11.10"];
    QNN_LIBRARY = Warning "qnn-library"
        "The options of a delegate of QNN name no library."
        "The runtime loads the library that the file names, and runs its code."
        "Do not load the program unless you know the library."
        Ignores ["11.10"];
}

/// The number of bytes that the backend reads at the start of any payload.
const HEADER: u64 = 20;
/// The name of the section that is a context binary with a signature.
const CONTEXT: &str = "context binary";

pub(super) const JUDGED: BackendRules =
    BackendRules { backend: Backend::Qnn, rules: RULES, has_keys: true, judge: judge_payload };

/// Judges a payload, and then the calls of its delegates.
fn judge_payload(
    judge: &mut Judge<'_, '_, '_, '_>,
    payload: &Subject<'_>,
    bytes: &mut Bytes<'_>,
) -> Result<(), Unreadable> {
    let &Subject { users, start, head, len } = payload;
    if len < HEADER {
        let message = || format!("a payload of {len} bytes: the backend reads {HEADER}");
        judge.report(users, &QNN_PAYLOAD, message);
        return Ok(());
    }
    let sections = match payload.sections(Backend::Qnn, bytes) {
        Some(Ok(found)) => found.sections,
        Some(Err(why)) if users.is_empty() => return Err(why),
        Some(Err(why)) => {
            judge.report(users, &QNN_PAYLOAD, || reason(&why));
            return Ok(());
        }
        None => return Ok(()),
    };
    // Payloads of releases 0.6 and 0.7, and those without a header, have no signature.
    if sections.first().is_some_and(|section| section.name == CONTEXT) {
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
            plan.find_instruction(judge.out, &QNN_CALL, instruction, &[], message);
        }
    }
    Ok(())
}

/// Judges the options of the QNN delegates of a method. Options may overlap, so `pay` charges their bytes to a
/// budget, and returns `false` if it is exceeded.
pub(super) fn judge(
    plan: &Plan<'_, '_>,
    limits: &Limits,
    pay: &mut impl FnMut(u64) -> bool,
    out: &mut Findings,
) {
    for (nth, delegate) in (0..).zip(plan.view.delegates().into_iter().flatten()) {
        if delegate.id().and_then(Backend::of_id) == Some(Backend::Qnn) {
            options(&Site { plan, nth, delegate }, limits, pay, out);
        }
    }
}

/// A delegate, for findings about its options.
struct Site<'s, 'p, 'a> {
    plan: &'s Plan<'p, 'a>,
    nth: u32,
    delegate: BackendDelegate<'a>,
}

impl Site<'_, '_, '_> {
    fn find(
        &self,
        spec: Option<(u32, CompileSpec<'_>)>,
        rule: &'static Rule,
        message: impl FnOnce() -> String,
        out: &mut Findings,
    ) {
        let [delegates, nth, _] = payload_path(self.nth);
        match spec {
            Some((index, spec)) => {
                let field = PathComponent::Field("compile_specs");
                let path = [delegates, nth, field, PathComponent::Index(index)];
                self.plan.find(out, rule, spec.raw(), &path, message);
            }
            None => self.plan.find(out, rule, self.delegate.raw(), &[delegates, nth], message),
        }
    }
}

/// Judges the options of a delegate.
fn options(
    site: &Site<'_, '_, '_>,
    limits: &Limits,
    pay: &mut impl FnMut(u64) -> bool,
    out: &mut Findings,
) {
    let Some((nth, spec)) = qnn_options::spec(site.delegate) else {
        return site.find(
            None,
            &QNN_OPTIONS,
            || format!("no compile spec {}", qnn_options::KEY),
            out,
        );
    };
    let mut find = |rule, message| site.find(Some((nth, spec)), rule, || message, out);
    // A spec without a value is reported by another rule.
    let Some(value) = spec.value() else { return };
    let bytes = value.bytes();
    if !pay(wide(bytes.len())) {
        return find(&QNN_OPTIONS, "the options overlap, and would be read more often".into());
    }
    match qnn_options::read(bytes, limits) {
        Ok(QnnOptions::Legacy) => {
            find(&QNN_OLD, "the options are of a release before 1.2".into());
        }
        Err(error) => {
            let at = error.offset();
            find(&QNN_OPTIONS, format!("at byte {at:#x} of the options: {error}"));
        }
        Ok(QnnOptions::Current(options)) => {
            if let Some(wrong) = wrong(options) {
                find(&QNN_OPTIONS, wrong.into());
            }
            if let Some(library) = library(options) {
                find(&QNN_LIBRARY, format!("the options name the library {}", Quoted(library)));
            }
        }
    }
}

/// Returns what is wrong with options.
fn wrong(options: QnnExecuTorchOptions<'_>) -> Option<&'static str> {
    use QnnExecuTorchBackendType as Type;
    let Some(chip) = options.soc_info() else { return Some("no soc_info") };
    let Some(backend) = options.backend_options() else { return Some("no backend_options") };
    if options.library_path().is_none() {
        return Some("no library_path");
    }
    // The backend logs this Bool as if it were a string.
    if options.dump_intermediate_outputs()
        && options.log_level() >= QnnExecuTorchLogLevel::kLogLevelInfo
    {
        return Some(
            "dump_intermediate_outputs at a log level that prints it: the backend reads it as a string",
        );
    }
    match backend.backend_type() {
        Type::kHtpBackend if backend.htp_options().is_none() => Some("no htp_options"),
        Type::kHtpBackend if chip.htp_info().is_none() => Some("no htp_info"),
        Type::kGpuBackend if backend.gpu_options().is_none() => Some("no gpu_options"),
        Type::kLpaiBackend if backend.lpai_options().is_none() => Some("no lpai_options"),
        Type::kLpaiBackend if chip.lpai_info().is_none() => Some("no lpai_info"),
        _ => None,
    }
}

/// Returns a library that the options name.
fn library(options: QnnExecuTorchOptions<'_>) -> Option<&str> {
    let packages = options.op_package_options().and_then(|all| all.op_package_infos());
    let packages = packages.into_iter().flatten().filter_map(|package| package.op_package_path());
    options.library_path().into_iter().chain(packages).find(|path| !path.is_empty())
}
