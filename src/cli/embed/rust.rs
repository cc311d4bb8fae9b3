//! A Rust module, with the bytes and what the header has.

use core::fmt::Write;

use pte::firmware::MethodRequirements;
use pte::summary::ValueSummary;

use super::source::{Code, Source};

/// Returns the module.
pub(super) fn code(source: &Source<'_>) -> Code {
    let Source { alignment, section, needs, sha256, .. } = source;
    let [made, about] = source.about();
    let bytes = needs.bytes;
    let mut before = format!(
        "//! {made}\n//! {about}\n\n\
         /// A method: its name, the bytes of its arenas as pairs of memory id and size, and the bytes of its inputs\n\
         /// and outputs, which are 0 if it is no tensor.\n\
         pub struct Method {{\n    pub name: &'static str,\n    pub arenas: &'static [(u32, usize)],\n    \
         pub inputs: &'static [usize],\n    pub outputs: &'static [usize],\n}}\n\n\
         /// The bytes of the file, aligned.\n#[repr(C, align({alignment}))]\n\
         pub struct Program(pub [u8; SIZE]);\n\n\
         pub const SIZE: usize = {bytes};\n\
         pub const SHA256: &str = \"{sha256}\";\n\n"
    );
    write_facts(source, &mut before);
    if let Some(name) = section {
        before.push_str(&format!("#[unsafe(link_section = \"{name}\")]\n"));
    }
    before.push_str("pub static PROGRAM: Program = Program(*b\"\\\n");
    Code { before, row: Some(row), after: "\");\n".into() }
}

/// Writes the constants. Names are escaped to ASCII, and cannot end a literal.
fn write_facts(source: &Source<'_>, text: &mut String) {
    let needs = source.needs;
    text.push_str(&format!("pub const METHODS: [Method; {}] = [\n", needs.methods.len()));
    for method in &needs.methods {
        let arenas = method.arenas.iter().map(|arena| format!("({}, {})", arena.id, arena.bytes));
        let sizes = |values: &[ValueSummary]| {
            let bytes = values.iter().map(|value| MethodRequirements::bytes_of(value).unwrap_or(0));
            bytes.map(|bytes| bytes.to_string()).collect::<Vec<_>>().join(", ")
        };
        text.push_str(&format!(
            "    Method {{\n        name: \"{}\",\n        arenas: &[{}],\n        inputs: &[{}],\n        \
             outputs: &[{}],\n    }},\n",
            method.name().escape_default(),
            arenas.collect::<Vec<_>>().join(", "),
            sizes(&method.summary.inputs),
            sizes(&method.summary.outputs),
        ));
    }
    let usage = &needs.usage.total;
    text.push_str(
        "];\n\n/// The operators to register, with the codes of the dtypes of their tensors.\n",
    );
    text.push_str(&format!(
        "pub const OPERATORS: [(&str, &[i8]); {}] = [\n",
        usage.operators.len()
    ));
    for (name, operator) in &usage.operators {
        let codes = operator.dtypes.iter().map(|dtype| dtype.0.to_string());
        let (name, codes) = (name.raw().escape_default(), codes.collect::<Vec<_>>().join(", "));
        text.push_str(&format!("    (\"{name}\", &[{codes}]),\n"));
    }
    text.push_str(&format!("];\n\npub const BACKENDS: [&str; {}] = [\n", usage.backends.len()));
    for id in usage.backends.keys() {
        text.push_str(&format!("    \"{}\",\n", id.raw().escape_default()));
    }
    text.push_str("];\n\n");
}

fn row(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "\\x{byte:02x}");
    }
    // A backslash at the end of a line skips the line break.
    text.push_str("\\\n");
}
