//! A progress bar on standard error, for work that takes over a second.

#[cfg(not(target_family = "wasm"))]
pub(super) use bar::Progress;
#[cfg(target_family = "wasm")]
pub(super) use none::Progress;

#[cfg(not(target_family = "wasm"))]
mod bar {
    use core::time::Duration;
    use std::io::{self, IsTerminal};
    use std::time::Instant;

    use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

    /// A progress bar, which is shown on a terminal only.
    pub(in super::super) struct Progress {
        bar: Option<ProgressBar>,
        begun: Instant,
    }

    impl Progress {
        /// Creates the bar for `total` units of work, such as `bytes` or `files`.
        pub(in super::super) fn new(is_shown: bool, unit: &'static str, total: u64) -> Self {
            let bar = (is_shown && io::stderr().is_terminal()).then(|| {
                let template = match unit {
                    "bytes" => "{wide_bar} {bytes} of {total_bytes}, {eta} left",
                    _ => "{wide_bar} {pos} of {len} {msg}, {eta} left",
                };
                let bar = ProgressBar::hidden().with_message(unit);
                bar.set_length(total);
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style);
                }
                bar
            });
            Self { bar, begun: Instant::now() }
        }

        /// Creates a counter of units whose total is not known.
        #[cfg(feature = "scan")]
        pub(in super::super) fn counter(is_shown: bool, unit: &'static str) -> Self {
            let progress = Self::new(is_shown, unit, 0);
            if let Some(bar) = &progress.bar {
                bar.unset_length();
                if let Ok(style) = ProgressStyle::with_template("{pos} {msg}, {per_sec}") {
                    bar.set_style(style);
                }
            }
            progress
        }

        /// Records that `done` more units are done.
        pub(in super::super) fn add(&self, done: u64) {
            let Some(bar) = &self.bar else { return };
            if bar.is_hidden() && self.begun.elapsed() > Duration::from_secs(1) {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            bar.inc(done);
        }
    }

    impl Drop for Progress {
        fn drop(&mut self) {
            if let Some(bar) = &self.bar {
                bar.finish_and_clear();
            }
        }
    }
}

/// As WebAssembly, the command has no terminal.
#[cfg(target_family = "wasm")]
mod none {
    /// Shows nothing.
    pub(in super::super) struct Progress;

    impl Progress {
        /// Does nothing: there is no terminal.
        pub(in super::super) fn new(_: bool, _: &'static str, _: u64) -> Self {
            Self
        }

        /// Does nothing: there is no terminal.
        pub(in super::super) fn add(&self, _: u64) {}
    }
}
