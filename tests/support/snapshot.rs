//! Golden files `snapshots/<name>.snap`, for tests in any module.

/// Compares `text` with the golden file `name`; `INSTA_UPDATE=always` rewrites it.
#[track_caller]
pub fn assert_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
