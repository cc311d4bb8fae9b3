//! The packages that upstream publishes, and what each links.

use alloc::vec::Vec;

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
    pub fn backends(&self, release: Release) -> Option<Vec<&'static str>> {
        let backends = self.backends.unwrap_or(Facts::of(release).backends);
        (!backends.is_empty()).then(|| backends.to_vec())
    }
}
