//! Source for the GNU assembler, which reads the file itself: for large files.

use std::path::Path;

use super::source::{Code, Source, literal};

/// Returns the source that includes the file at `path`, from its byte `start`.
pub(super) fn code(source: &Source<'_>, path: &Path, start: u64) -> Code {
    let Source { symbol, alignment, section, needs, .. } = source;
    let [made, about] = source.about();
    let bytes = needs.bytes;
    let section = section.map_or_else(|| format!(".rodata.{symbol}"), Into::into);
    let path = literal(path.as_os_str().as_encoded_bytes());
    // The types are written with %, since @ begins a comment for Arm.
    let before = format!(
        "/* {made} */\n/* {about} */\n\n    .section {section}, \"a\", %progbits\n    .balign {alignment}\n    \
         .global {symbol}\n    .type {symbol}, %object\n    .size {symbol}, {bytes}\n{symbol}:\n    \
         .incbin {path}, {start}, {bytes}\n\n    .section .note.GNU-stack, \"\", %progbits\n"
    );
    Code { before, ..Code::default() }
}
