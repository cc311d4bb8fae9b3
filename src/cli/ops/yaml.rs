//! `selected_operators.yaml`, the list of operators that ExecuTorch's selective build takes: written
//! as its `gen_oplist` writes it, and read in as much as says which operators are built.

use core::fmt::{self, Write};
use std::collections::BTreeSet;

use pte::quoted::{UntrustedString, is_harmless};

use super::count::Operator;

/// Writes the document of these operators. `files` are the programs that use them.
pub(super) fn write<'o>(
    out: &mut impl Write,
    operators: impl Iterator<Item = (&'o UntrustedString, &'o Operator)> + Clone,
    files: &[UntrustedString],
) -> fmt::Result {
    // Keys in the order of their names, as PyYAML has them.
    out.write_str("build_features: []\ncustom_classes: []\n")?;
    let mut called = operators.clone().filter(|(_, operator)| operator.calls > 0).peekable();
    let none = called.peek().is_none();
    writeln!(out, "et_kernel_metadata:{}", if none { " {}" } else { "" })?;
    for (name, operator) in called {
        key(out, name.raw())?;
        operator.kernels.iter().try_for_each(|kernel| writeln!(out, "  - {kernel}"))?;
    }
    out.write_str("include_all_non_op_selectives: false\ninclude_all_operators: false\n")?;
    out.write_str("kernel_metadata: {}\n")?;
    let mut operators = operators.peekable();
    writeln!(out, "operators:{}", if operators.peek().is_none() { " {}" } else { "" })?;
    for (name, operator) in operators {
        key(out, name.raw())?;
        out.write_str("    debug_info:\n")?;
        for file in operator.files.iter().filter_map(|&nth| files.get(nth)) {
            out.write_str("    - ")?;
            scalar(out, file.raw())?;
            out.write_char('\n')?;
        }
        out.write_str("    include_all_overloads: false\n    is_root_operator: true\n")?;
        out.write_str("    is_used_for_training: true\n")?;
    }
    Ok(())
}

/// A key of the second level. One that is too long to stand before its colon is marked.
fn key(out: &mut impl Write, name: &str) -> fmt::Result {
    let long = name.len() > LONGEST_KEY;
    out.write_str(if long { "  ? " } else { "  " })?;
    scalar(out, name)?;
    out.write_str(if long { "\n  :\n" } else { ":\n" })
}

/// A text: bare where every reader takes it for that text, otherwise in quotes.
fn scalar(out: &mut impl Write, text: &str) -> fmt::Result {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '/');
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
    // A word such as `no` or `null` has none of these.
    let no_word = text.contains(['.', '/', ':']);
    if begins && no_word && text.chars().all(plain) && !text.ends_with(':') {
        return out.write_str(text);
    }
    out.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(out, "\\{c}")?,
            // Of others than ASCII, readers differ in what may be printed.
            c if c.is_ascii() && is_harmless(c) => out.write_char(c)?,
            c => write!(out, "\\U{:08x}", u32::from(c))?,
        }
    }
    out.write_char('"')
}

/// Operators that a build has.
#[derive(Debug, Default)]
pub(super) struct List {
    names: BTreeSet<String>,
    /// Those without an overload that stand for all of theirs.
    with_overloads: BTreeSet<String>,
    all: bool,
}

/// What is wrong with a list, and in which line.
pub(super) type Wrong = (usize, &'static str);

impl List {
    /// Reads a list of names, one on each line, or a `selected_operators.yaml`.
    pub(super) fn read(text: &str) -> Result<Self, Wrong> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let yaml = |line: &str| {
            ["operators:", "include_all_operators:", "et_kernel_metadata:"]
                .iter()
                .any(|key| line.starts_with(key))
        };
        match text.lines().any(yaml) {
            true => Self::read_yaml(text),
            false => Self::read_names(text),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        let root = name.split_once('.').map_or(name, |(root, _)| root);
        self.all || self.names.contains(name) || self.with_overloads.contains(root)
    }

    fn read_names(text: &str) -> Result<Self, Wrong> {
        let mut list = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            let name = line.split_once('#').map_or(line, |(name, _)| name).trim();
            if name.contains(char::is_whitespace) {
                return Err((number, "this is no operator's name, such as aten::add.out"));
            }
            if !name.is_empty() {
                list.names.insert(name.into());
            }
        }
        Ok(list)
    }

    /// Of the document only two levels matter, so lines are enough to tell them apart.
    fn read_yaml(text: &str) -> Result<Self, Wrong> {
        let mut list = Self::default();
        // How far the operators' names are set in, from the first of them on.
        let (mut inside, mut level, mut name) = (false, None, String::new());
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim_end();
            let bare = line.trim_start();
            if bare.is_empty() || bare.starts_with('#') || bare == "---" {
                continue;
            }
            let depth = line.len().saturating_sub(bare.len());
            if depth == 0 {
                let (key, value) = entry(bare).ok_or((number, NO_KEY))?;
                (inside, level) = (key == "operators", None);
                match key.as_str() {
                    "operators" if !["", "{}"].contains(&value) => {
                        return Err((number, "operators are read in lines of their own only"));
                    }
                    "include_all_operators" => list.all = is_true(value),
                    _ => {}
                }
            } else if inside && depth == *level.get_or_insert(depth) {
                // The second half of a long key, which has been read.
                let attribute = match bare.strip_prefix(':') {
                    Some(attribute) if !attribute.starts_with(':') => attribute.trim_start(),
                    _ => {
                        let marked = bare.strip_prefix("? ").map(|key| format!("{key}:"));
                        let key = entry(marked.as_deref().unwrap_or(bare));
                        name = key.ok_or((number, NO_KEY))?.0;
                        list.names.insert(name.clone());
                        continue;
                    }
                };
                list.attribute(&name, attribute);
            } else if inside {
                list.attribute(&name, bare);
            }
        }
        Ok(list)
    }

    fn attribute(&mut self, name: &str, line: &str) {
        let value = line.strip_prefix("include_all_overloads:");
        if value.is_some_and(|value| is_true(value.trim())) {
            self.with_overloads.insert(name.into());
        }
    }
}

/// A key, and what stands behind its colon.
fn entry(line: &str) -> Option<(String, &str)> {
    let (key, rest) = match line.chars().next()? {
        '"' => double_quoted(line.get(1..)?)?,
        '\'' => single_quoted(line.get(1..)?)?,
        _ => {
            let end = line.find(": ").or_else(|| Some(line.strip_suffix(':')?.len()))?;
            (line.get(..end)?.trim_end().to_string(), line.get(end..)?)
        }
    };
    let value = rest.trim_start().strip_prefix(':')?.trim();
    Some((key, value.split_once(" #").map_or(value, |(value, _)| value.trim_end())))
}

fn single_quoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let (part, after) = rest.split_once('\'')?;
        name.push_str(part);
        let Some(more) = after.strip_prefix('\'') else { return Some((name, after)) };
        name.push('\'');
        rest = more;
    }
}

fn double_quoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut chars = text.chars();
    loop {
        let c = match chars.next()? {
            '"' => return Some((name, chars.as_str())),
            '\\' => match chars.next()? {
                '0' => '\0',
                'a' => '\u{7}',
                'b' => '\u{8}',
                't' => '\t',
                'n' => '\n',
                'v' => '\u{b}',
                'f' => '\u{c}',
                'r' => '\r',
                'e' => '\u{1b}',
                'N' => '\u{85}',
                '_' => '\u{a0}',
                'L' => '\u{2028}',
                'P' => '\u{2029}',
                'x' => numbered(&mut chars, 2)?,
                'u' => numbered(&mut chars, 4)?,
                'U' => numbered(&mut chars, 8)?,
                c @ ('"' | '\\' | '/' | ' ' | '\t') => c,
                _ => return None,
            },
            c => c,
        };
        name.push(c);
    }
}

fn numbered(chars: &mut core::str::Chars<'_>, digits: usize) -> Option<char> {
    let text = chars.as_str().get(..digits)?;
    *chars = chars.as_str().get(digits..)?.chars();
    char::from_u32(u32::from_str_radix(text, 16).ok()?)
}

fn is_true(value: &str) -> bool {
    ["true", "yes", "on", "y"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

const NO_KEY: &str = "this is no `name:` of a selected_operators.yaml";

/// PyYAML marks keys from this length on.
const LONGEST_KEY: usize = 120;
