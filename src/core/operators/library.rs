//! The kernel libraries of upstream: which of them registers an operator, and the CMake target to link.

use super::kernels::kernel;
use super::registered;
use super::registration::{OLDEST_LISTED, Registered};
use crate::release::{NEWEST, Release};

/// A kernel library of upstream.
#[derive(Debug)]
pub struct Library {
    /// The short name: `portable`.
    pub name: &'static str,
    /// The CMake target that registers its kernels. Its whole archive is to be linked: nothing refers to a kernel.
    pub target: &'static str,
    operators: Operators,
}

/// The operators of a library.
#[derive(Debug)]
enum Operators {
    /// Operators of the list `KERNELS`: those that [`of_table`] finds in this library.
    OfTable,
    /// Other lists, sorted by full name.
    Listed(&'static [Registered]),
}

use Operators::{Listed, OfTable};

/// The kernel libraries. The first that has an operator is the one to link for it: the smallest runtimes link prim and
/// portable.
///
/// The targets are in upstream's `CMakeLists.txt` beside each list of operators, that of `optimized` in
/// `configurations/CMakeLists.txt`; `runtime/executor` links the prim operators into `executorch`.
pub static LIBRARIES: &[Library] = &[
    Library { name: "prim", target: "executorch", operators: OfTable },
    Library { name: "portable", target: "portable_ops_lib", operators: OfTable },
    Library {
        name: "optimized",
        target: "optimized_native_cpu_ops_lib",
        operators: Listed(registered::OPTIMIZED),
    },
    Library { name: "quantized", target: "quantized_ops_lib", operators: OfTable },
    Library { name: "llm", target: "custom_ops", operators: Listed(registered::LLM) },
    Library {
        name: "cortex_m",
        target: "cortex_m_ops_lib",
        operators: Listed(registered::CORTEX_M),
    },
    Library { name: "cadence", target: "cadence_ops_lib", operators: Listed(registered::CADENCE) },
];

impl Library {
    /// Returns the library with this short name or this CMake target.
    pub fn of_name(name: &str) -> Option<&'static Self> {
        LIBRARIES.iter().find(|library| library.name == name || library.target == name)
    }

    /// Returns the library to link for an operator, if any library of `release` registers it.
    pub fn to_link(operator: &str, release: Release) -> Option<&'static Self> {
        LIBRARIES.iter().find(|library| library.has(operator, release))
    }

    /// Returns whether any library of any release registers the operator.
    pub fn any_has(operator: &str) -> bool {
        LIBRARIES.iter().any(|library| library.releases(operator).is_some())
    }

    /// Returns whether the library registers the operator in `release`. Releases before 1.0 are taken for 1.0, those
    /// after the newest known one for that one.
    pub fn has(&self, operator: &str, release: Release) -> bool {
        let release = release.clamp(OLDEST_LISTED, NEWEST);
        self.releases(operator).is_some_and(|(since, until)| {
            since <= release && until.is_none_or(|until| release < until)
        })
    }

    /// Returns the first release whose library has the operator, and the first later one that lacks it again.
    fn releases(&self, operator: &str) -> Option<(Release, Option<Release>)> {
        match self.operators {
            OfTable if of_table(operator) == Some(self.name) => {
                Some((kernel(operator)?.since, None))
            }
            OfTable => None,
            Listed(rows) => {
                let found = rows.binary_search_by(|row| row.operator.cmp(operator)).ok()?;
                rows.get(found).map(|row| (row.since, row.until))
            }
        }
    }
}

/// Returns the name of the library that has an operator of the list `KERNELS`; `None` if only other lists may have it.
fn of_table(operator: &str) -> Option<&'static str> {
    match operator.split_once("::")?.0 {
        "executorch_prim" => Some("prim"),
        "quantized_decomposed" => Some("quantized"),
        _ if PRIM_OF_ATEN.contains(&operator) => Some("prim"),
        _ if NOT_PORTABLE.contains(&operator) => None,
        _ => Some("portable"),
    }
}

/// The operators of ATen that the library prim has.
static PRIM_OF_ATEN: [&str; 3] =
    ["aten::_local_scalar_dense", "aten::sym_numel", "aten::sym_size.int"];

/// The kernels that only the library optimized has, and an example of a custom operator.
static NOT_PORTABLE: [&str; 5] = [
    "aten::_fft_c2r.out",
    "aten::_fft_r2c.out",
    "aten::allclose.Tensor",
    "aten::allclose.out",
    "aten::linear.out",
];

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::operators::KERNELS;
    use crate::release::RELEASES;

    #[test]
    fn rows_are_sorted_and_their_releases_are_known() {
        for library in LIBRARIES {
            let Listed(rows) = library.operators else { continue };
            assert!(
                !rows.is_empty() && rows.is_sorted_by(|one, next| one.operator < next.operator)
            );
            for Registered { operator, since, until } in rows {
                assert!((OLDEST_LISTED..=NEWEST).contains(since), "{operator}");
                assert!(until.is_none_or(|until| *since < until && until <= NEWEST), "{operator}");
            }
        }
    }

    /// A library has an operator from its first release on, up to the one before it lacks it.
    #[test]
    fn a_library_has_an_operator_from_release_to_release() {
        let releases = RELEASES.iter().map(|facts| facts.release);
        let releases: Vec<_> =
            releases.filter(|of| (OLDEST_LISTED..=NEWEST).contains(of)).collect();
        let mut ended = 0;
        for library in LIBRARIES {
            let Listed(rows) = library.operators else { continue };
            for Registered { operator, since, until } in rows {
                let has: Vec<_> =
                    releases.iter().copied().filter(|of| library.has(operator, *of)).collect();
                let end = until.unwrap_or((99, 0));
                let mut expected = releases.clone();
                expected.retain(|of| of >= since && *of < end);
                assert_eq!(has, expected, "{operator}");
                ended += usize::from(until.is_some());
            }
        }
        assert!(ended > 0);
    }

    #[test]
    fn every_operator_with_a_signature_has_a_library() {
        let without: Vec<_> =
            KERNELS.iter().map(|row| row.name).filter(|name| !Library::any_has(name)).collect();
        // Upstream's example of a custom operator, which only its ahead-of-time library registers.
        assert_eq!(without, ["aten::allclose.Tensor", "aten::allclose.out"]);
    }

    #[test]
    fn the_first_library_that_has_an_operator_is_the_one_to_link() {
        let link = |operator| Library::to_link(operator, NEWEST).map(|library| library.name);
        assert_eq!(link("aten::sym_size.int"), Some("prim"));
        assert_eq!(link("aten::add.out"), Some("portable"));
        assert_eq!(link("aten::_fft_r2c.out"), Some("optimized"));
        assert_eq!(link("quantized_decomposed::add.out"), Some("quantized"));
        assert_eq!(link("llama::custom_sdpa.out"), Some("llm"));
        assert_eq!(link("mine::op.out"), None);
        assert_eq!(Library::to_link("llama::gated_delta_rule.out", (1, 4)).map(|of| of.name), None);
    }
}
