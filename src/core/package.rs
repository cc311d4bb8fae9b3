//! The packages that upstream publishes, and what each links.

use alloc::collections::BTreeSet;
use alloc::string::String;
use core::fmt;

use crate::release::{Facts, Release};

/// A package with a built runtime.
#[derive(Debug)]
pub struct Package {
    /// The name: `wheel`, `android` or `ios`.
    pub name: &'static str,
    /// The kernel libraries that it has, or has as frameworks of their own, by
    /// [`name`](crate::operators::Library::name).
    pub kernels: &'static [&'static str],
    /// The backends that it has; `None` if [`Facts`] lists them for each release.
    backends: Option<&'static [&'static str]>,
}

/// The published packages, from release 1.0 on.
///
/// Their contents are in upstream's `tools/cmake/preset/pybind.cmake` (and the registry of the wheel), `android.cmake`
/// with `extension/android/CMakeLists.txt`, and `apple_common.cmake` with `scripts/build_apple_frameworks.sh`. The
/// wheel registers its quantized and LLM operators when the Python modules `executorch.kernels.quantized` and
/// `executorch.extension.llm.custom_ops` are imported. An iOS app links the frameworks that it names. Android's
/// packages with Vulkan or QNN are others.
pub static PACKAGES: &[Package] = &[
    Package { name: "wheel", kernels: ALL, backends: None },
    Package { name: "android", kernels: ALL, backends: Some(&["XnnpackBackend"]) },
    Package {
        name: "ios",
        kernels: ALL,
        backends: Some(&["CoreMLBackend", "MPSBackend", "XnnpackBackend"]),
    },
];

const ALL: &[&str] = &["prim", "portable", "optimized", "quantized", "llm"];

impl Package {
    /// Returns the package with this name.
    pub fn of_name(name: &str) -> Option<&'static Self> {
        PACKAGES.iter().find(|package| package.name == name)
    }

    /// Returns the backends of the package in `release`; `None` if they are not known.
    pub fn backends(&self, release: Release) -> Option<&'static [&'static str]> {
        let backends = self.backends.unwrap_or(Facts::of(release).backends);
        (!backends.is_empty()).then_some(backends)
    }
}

/// The error of a package whose backends in a release are not known.
#[derive(Clone, Copy, Debug)]
pub struct UnknownBackends {
    package: &'static str,
    release: Release,
}

impl fmt::Display for UnknownBackends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self { package, .. }, (major, minor)) = (self, self.release);
        write!(f, "the backends of {package:?} in release {major}.{minor} are not known: name them")
    }
}

impl core::error::Error for UnknownBackends {}

/// Returns the ids of backends from a list of ids and of packages, which stand for their backends in `release`.
///
/// # Errors
///
/// A package whose backends in `release` are not known.
pub fn backends(names: &[String], release: Release) -> Result<BTreeSet<String>, UnknownBackends> {
    let mut ids = BTreeSet::new();
    for name in names {
        match Package::of_name(name) {
            None => _ = ids.insert(name.clone()),
            Some(package) => {
                let known = package.backends(release);
                let known = known.ok_or(UnknownBackends { package: package.name, release })?;
                ids.extend(known.iter().map(|&id| String::from(id)));
            }
        }
    }
    Ok(ids)
}
