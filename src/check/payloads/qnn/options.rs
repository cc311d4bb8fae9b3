//! The options in the compile specs of delegates of QNN. The backend does not verify them.

use alloc::string::String;

use super::super::payload_path;
use super::{QNN_LIBRARY, QNN_OLD, QNN_OPTIONS};
use crate::report::Findings;
use crate::rule::Rule;
use crate::site::Plan;
use pte_core::payload::qnn::options::{self, QnnOptions};
use pte_core::{Backend, Limits, PathComponent};
use pte_flat::bytes::wide;
use pte_flat::quoted::Quoted;
use pte_flat::view::Table;
use pte_schema::program::view::{BackendDelegate, CompileSpec};
use pte_schema::qnn::view::QnnExecuTorchOptions;
use pte_schema::qnn::{QnnExecuTorchBackendType, QnnExecuTorchLogLevel};

/// Judges the options of the QNN delegates of a method. Options may overlap, so `pay` charges their bytes to a
/// budget, and returns `false` if it is exceeded.
pub(in crate::payloads) fn judge_method(
    plan: &Plan<'_, '_>,
    limits: &Limits,
    pay: &mut impl FnMut(u64) -> bool,
    out: &mut Findings,
) {
    for (nth, delegate) in (0..).zip(plan.view.delegates().into_iter().flatten()) {
        if delegate.id().and_then(Backend::of_id) == Some(Backend::Qnn) {
            judge(&Site { plan, nth, delegate }, limits, pay, out);
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
fn judge(
    site: &Site<'_, '_, '_>,
    limits: &Limits,
    pay: &mut impl FnMut(u64) -> bool,
    out: &mut Findings,
) {
    let Some((nth, spec)) = options::spec(site.delegate) else {
        return site.find(None, &QNN_OPTIONS, || format!("no compile spec {}", options::KEY), out);
    };
    let mut find = |rule, message| site.find(Some((nth, spec)), rule, || message, out);
    // A spec without a value is reported by another rule.
    let Some(value) = spec.value() else { return };
    let bytes = value.bytes();
    if !pay(wide(bytes.len())) {
        return find(&QNN_OPTIONS, "the options overlap, and would be read more often".into());
    }
    match options::read(bytes, limits) {
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
