//! The kind of a file: a program, a data file, or something else that is judged in part.

use alloc::string::String;

use super::report::Findings;
use super::rule::rules;
use pte_core::PathComponent;

rules! {
    "kind";

    FILE_KIND = Note "file-kind"
        "A file is a program or a data file, and not a bundled program, a payload, a package, a profile or an ETRecord."
        "Only a part of it is judged: the program in a bundle, the graph or the structure of others."
        "Of a bundle, check the program alone: `pte extract --bundled` writes it. Of others, trust the rest as you trust who made it."
        Ignores ["10"]
        untrusted_upload "Only a part of such a file is judged: the rest may be anything.";
}

/// Reports a file of another kind. The message `judged` names the part that is judged.
pub(super) fn report(judged: impl FnOnce() -> String, out: &mut Findings) {
    out.find(&FILE_KIND, 0, || vec![PathComponent::Field("header")], judged);
}
