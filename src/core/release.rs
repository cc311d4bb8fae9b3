//! The releases of the runtime, and what holds for each of them.
//!
//! Fields, enum values and operators name the release that brought them where they are declared, and the table of
//! operators has the dtypes of each release. All other facts are here. `docs/new-release.md` is the check-list for a
//! new release.

/// A release of the runtime: its major and minor number.
pub type Release = (u32, u32);

/// What holds for a release.
#[derive(Debug)]
pub struct Facts {
    /// The release.
    pub release: Release,
    /// The version of its newest wheel on PyPI, or of its tag.
    pub version: &'static str,
    /// The backends in its wheel for Linux on x86-64; empty if the wheel was not run (see [`was_run`]).
    pub backends: &'static [&'static str],
    /// The rules of lower severity that are Errors for this release (format.md §1.3, §4.3, §11.3).
    pub refuses: &'static [&'static str],
    /// The rules of severity Error that are Notes for this release (format.md §4.3).
    pub accepts: &'static [&'static str],
}

/// The known releases, oldest first.
pub static RELEASES: &[Facts] = &[
    Facts::new((0, 1), "0.1.0"),
    Facts::new((0, 2), "0.2.0"),
    Facts::new((0, 3), "0.3.0"),
    Facts::new((0, 4), "0.4.0"),
    Facts { accepts: &["external-generation"], ..Facts::new((0, 5), "0.5.0") },
    Facts {
        accepts: &["external-generation"],
        refuses: &["xnnpack-named-referenced"],
        ..Facts::new((0, 6), "0.6.0")
    },
    Facts { refuses: BEFORE_1_5, ..Facts::new((0, 7), "0.7.0") },
    Facts { refuses: BEFORE_1_5, ..Facts::new((1, 0), "1.0.1") },
    Facts { refuses: BEFORE_1_5, ..Facts::new((1, 1), "1.1.0") },
    Facts {
        refuses: BEFORE_1_5,
        backends: &["QnnBackend", "XnnpackBackend"],
        ..Facts::new((1, 2), "1.2.0")
    },
    Facts {
        refuses: BEFORE_1_5,
        backends: &["OpenvinoBackend", "QnnBackend", "XnnpackBackend"],
        ..Facts::new((1, 3), "1.3.1")
    },
    Facts {
        refuses: BEFORE_1_5,
        backends: &["OpenvinoBackend", "QnnBackend", "VgfBackend", "XnnpackBackend"],
        ..Facts::new((1, 4), "1.4.1")
    },
    LAST,
];

/// The newest known release. For a release newer than this one, these facts are used.
const LAST: Facts = Facts {
    refuses: &["constants-inline", "old-generation"],
    backends: &["OpenvinoBackend", "QnnBackend", "XnnpackBackend"],
    ..Facts::new((1, 5), "1.5.1")
};

/// The number of the newest known release.
pub const NEWEST: Release = LAST.release;

/// The version of the newest known release.
pub const NEWEST_VERSION: &str = LAST.version;

const BEFORE_1_5: &[&str] = &["old-generation", "xnnpack-named-referenced"];

/// Returns whether the wheel of a release was run: its backends and the dtypes of its kernels are known.
pub fn was_run(release: Release) -> bool {
    RELEASES.iter().any(|facts| facts.release == release && !facts.backends.is_empty())
}

impl Facts {
    const fn new(release: Release, version: &'static str) -> Self {
        Self { release, version, backends: &[], refuses: &[], accepts: &[] }
    }

    /// Returns the facts of `release`. Those of a later release are taken to be those of [`NEWEST`].
    pub fn of(release: Release) -> &'static Self {
        RELEASES.iter().rfind(|facts| facts.release <= release).unwrap_or(&LAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_sorted_and_their_versions_begin_with_their_numbers() {
        assert!(RELEASES.is_sorted_by(|one, next| one.release < next.release));
        assert_eq!(RELEASES.last().map(|facts| facts.release), Some(NEWEST));
        for facts in RELEASES {
            let (major, minor) = facts.release;
            assert!(facts.version.starts_with(&format!("{major}.{minor}.")));
            assert_eq!(Facts::of(facts.release).release, facts.release);
        }
        assert_eq!(Facts::of((9, 0)).release, NEWEST);
    }
}
