//! Writes `selected_operators.yaml` in the form of ExecuTorch's `gen_oplist`.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::usage::{OperatorUsage, UsageReport};
use pte_flat::quoted::{UntrustedString, is_harmless};

impl UsageReport {
    /// Returns the `selected_operators.yaml` of these programs, as ExecuTorch's `gen_oplist` writes
    /// it.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_yaml(&mut text);
        text
    }

    /// Writes the `selected_operators.yaml` of these programs, as ExecuTorch's `gen_oplist` writes
    /// it.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn write_yaml(&self, out: &mut impl Write) -> fmt::Result {
        let paths: Vec<_> = self.programs.iter().map(|program| &program.path).collect();
        write(out, &self.total.operators, &paths)
    }
}

/// Writes the document of these operators. `paths` are the programs that use them.
fn write(
    out: &mut impl Write,
    operators: &BTreeMap<UntrustedString, OperatorUsage>,
    paths: &[&UntrustedString],
) -> fmt::Result {
    // Keys are in the order of their names, as in PyYAML.
    out.write_str("build_features: []\ncustom_classes: []\n")?;
    let mut called = operators.iter().filter(|(_, operator)| operator.calls > 0).peekable();
    let none = called.peek().is_none();
    writeln!(out, "et_kernel_metadata:{}", if none { " {}" } else { "" })?;
    for (name, operator) in called {
        key(out, name.raw())?;
        operator.kernels.iter().try_for_each(|kernel| writeln!(out, "  - {kernel}"))?;
    }
    out.write_str("include_all_non_op_selectives: false\ninclude_all_operators: false\n")?;
    out.write_str("kernel_metadata: {}\n")?;
    writeln!(out, "operators:{}", if operators.is_empty() { " {}" } else { "" })?;
    for (name, operator) in operators {
        key(out, name.raw())?;
        out.write_str("    debug_info:\n")?;
        for path in operator.programs.iter().filter_map(|&nth| paths.get(nth)) {
            out.write_str("    - ")?;
            scalar(out, path.raw())?;
            out.write_char('\n')?;
        }
        out.write_str("    include_all_overloads: false\n    is_root_operator: true\n")?;
        out.write_str("    is_used_for_training: true\n")?;
    }
    Ok(())
}

/// Writes a key of the second level. A long key is marked with `?`, and its colon is on the next
/// line.
fn key(out: &mut impl Write, name: &str) -> fmt::Result {
    let long = name.len() > LONGEST_KEY;
    out.write_str(if long { "  ? " } else { "  " })?;
    scalar(out, name)?;
    out.write_str(if long { "\n  :\n" } else { ":\n" })
}

/// Writes a text without quotes if every YAML reader reads it as that text, otherwise in quotes.
fn scalar(out: &mut impl Write, text: &str) -> fmt::Result {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '/');
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
    // Words with a special meaning, such as `no` or `null`, have none of these characters.
    let no_word = text.contains(['.', '/', ':']);
    if begins && no_word && text.chars().all(plain) && !text.ends_with(':') {
        return out.write_str(text);
    }
    out.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(out, "\\{c}")?,
            // Readers disagree on which characters outside of ASCII are printable.
            c if c.is_ascii() && is_harmless(c) => out.write_char(c)?,
            c => write!(out, "\\U{:08x}", u32::from(c))?,
        }
    }
    out.write_char('"')
}

/// The length of the longest key that PyYAML does not mark.
const LONGEST_KEY: usize = 120;
