//! The options of QNN's delegates: a FlatBuffer in a compile spec.

use crate::error::Error;
use crate::limits::Limits;
use crate::verify;
use pte_flat::bytes::until_nul;
use pte_schema::program::view::{BackendDelegate, CompileSpec};
use pte_schema::qnn::view::QnnExecuTorchOptions;
use pte_schema::qnn_legacy::view::{FirstOptions, Options};

/// The key of the compile spec that has the options.
pub const KEY: &str = "qnn_compile_spec";

/// The options of a delegate.
#[derive(Debug)]
pub enum QnnOptions<'a> {
    /// Those of a release since 1.2.
    Current(QnnExecuTorchOptions<'a>),
    /// Those of an older release, which current ones misread.
    Legacy,
}

/// Returns the compile spec that the backend takes the options from, and its index.
pub fn spec(delegate: BackendDelegate<'_>) -> Option<(u32, CompileSpec<'_>)> {
    let specs = (0..).zip(delegate.compile_specs().into_iter().flatten());
    // The backend compares keys up to a NUL, and uses the last spec with this key.
    specs.filter(|(_, spec)| spec.key().is_some_and(|key| until_nul(key) == KEY)).last()
}

/// Proves options.
///
/// # Errors
///
/// The first defect, if the bytes are no options of any release.
pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<QnnOptions<'a>, Error> {
    let options = verify::read::<QnnExecuTorchOptions<'_>>(bytes, limits);
    // Options of releases up to 0.6 may verify as current ones. Their graph name is then in the
    // place of the library path.
    let is_current = |options: &QnnExecuTorchOptions<'_>| {
        options.log_level().name().is_some() && options.library_path().is_none_or(str::is_empty)
    };
    if !options.as_ref().is_ok_and(|(options, _)| is_current(options)) && is_legacy(bytes, limits) {
        return Ok(QnnOptions::Legacy);
    }
    options.map(|(options, _)| QnnOptions::Current(options))
}

/// Returns whether options are those of a release before 1.2.
fn is_legacy(bytes: &[u8], limits: &Limits) -> bool {
    let first = verify::read::<FirstOptions<'_>>(bytes, limits);
    first.is_ok_and(|(options, _)| options.library_path().is_some())
        || verify::read::<Options<'_>>(bytes, limits)
            .is_ok_and(|(options, _)| options.library_path().is_some())
}
