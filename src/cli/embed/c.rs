//! Source in C and C++.

use core::fmt::Write;

use super::source::{Code, Source};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    C,
    Cpp,
}

/// Returns the array of a file's bytes. Its linkage is that of C, so the header is the same for both languages.
pub(super) fn code(source: &Source<'_>, language: Language) -> Code {
    let Source { symbol, alignment, section, needs, .. } = source;
    let [made, about] = source.about();
    let bytes = needs.bytes;
    let (open, align, close) = match language {
        Language::C => ("", format!("_Alignas({alignment})"), ""),
        Language::Cpp => ("extern \"C\" {\n\n", format!("alignas({alignment})"), "\n}\n"),
    };
    let section = section.map(|name| format!("__attribute__((section(\"{name}\")))\n"));
    let section = section.unwrap_or_default();
    let before = format!(
        "/* {made} */\n/* {about} */\n\n{open}extern const unsigned char {symbol}[{bytes}];\n\n\
         {align} {section}const unsigned char {symbol}[{bytes}] = {{\n"
    );
    Code { before, row: Some(row), after: format!("}};\n{close}") }
}

fn row(bytes: &[u8], text: &mut String) {
    text.push_str("   ");
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, " 0x{byte:02x},");
    }
    text.push('\n');
}
