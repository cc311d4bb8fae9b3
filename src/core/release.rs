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
}

/// The known releases, oldest first.
pub static RELEASES: &[Facts] = &[
    Facts::new((0, 1), "0.1.0"),
    Facts::new((0, 2), "0.2.0"),
    Facts::new((0, 3), "0.3.0"),
    Facts::new((0, 4), "0.4.0"),
    Facts::new((0, 5), "0.5.0"),
    Facts::new((0, 6), "0.6.0"),
    Facts::new((0, 7), "0.7.0"),
    Facts::new((1, 0), "1.0.1"),
    Facts::new((1, 1), "1.1.0"),
    Facts { backends: &["QnnBackend", "XnnpackBackend"], ..Facts::new((1, 2), "1.2.0") },
    Facts {
        backends: &["OpenvinoBackend", "QnnBackend", "XnnpackBackend"],
        ..Facts::new((1, 3), "1.3.1")
    },
    Facts {
        backends: &["OpenvinoBackend", "QnnBackend", "VgfBackend", "XnnpackBackend"],
        ..Facts::new((1, 4), "1.4.1")
    },
    LAST,
];

/// The newest known release. For a release newer than this one, these facts are used.
const LAST: Facts = Facts {
    backends: &["OpenvinoBackend", "QnnBackend", "XnnpackBackend"],
    ..Facts::new((1, 5), "1.5.1")
};

/// A rule whose severity differs between releases (format.md §1.3, §4.3, §11.3).
#[derive(Debug)]
pub struct Exception {
    /// The rule's id.
    pub rule: &'static str,
    /// What the releases do that the rule's severity does not say: they refuse files that break a rule below Error
    /// (`true`), or accept files that break an Error (`false`).
    pub is_refused: bool,
    /// The first of the releases.
    pub since: Release,
    /// The last of the releases; `None` if all later ones are meant.
    pub last: Option<Release>,
}

/// All exceptions. A new release has those of the one before.
pub static EXCEPTIONS: &[Exception] = &[
    Exception::accepted("external-generation", (0, 5), Some((0, 6))),
    Exception::refused("xnnpack-named-referenced", (0, 6), Some((1, 4))),
    Exception::refused("old-generation", (0, 7), None),
    Exception::refused("constants-inline", (1, 5), None),
];

/// The number of the newest known release.
pub const NEWEST: Release = LAST.release;

/// The version of the newest known release.
pub const NEWEST_VERSION: &str = LAST.version;

/// Returns whether the wheel of a release was run: its backends and the dtypes of its kernels are known.
pub fn was_run(release: Release) -> bool {
    RELEASES.iter().any(|facts| facts.release == release && !facts.backends.is_empty())
}

impl Facts {
    const fn new(release: Release, version: &'static str) -> Self {
        Self { release, version, backends: &[] }
    }

    /// Returns the facts of `release`. Those of a later release are taken to be those of [`NEWEST`].
    pub fn of(release: Release) -> &'static Self {
        RELEASES.iter().rfind(|facts| facts.release <= release).unwrap_or(&LAST)
    }
}

impl Exception {
    const fn refused(rule: &'static str, since: Release, last: Option<Release>) -> Self {
        Self { rule, is_refused: true, since, last }
    }

    const fn accepted(rule: &'static str, since: Release, last: Option<Release>) -> Self {
        Self { rule, is_refused: false, since, last }
    }

    /// Returns the exceptions for `release`.
    pub fn of(release: Release) -> impl Iterator<Item = &'static Self> {
        EXCEPTIONS
            .iter()
            .filter(move |one| one.since <= release && one.last.is_none_or(|last| release <= last))
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
