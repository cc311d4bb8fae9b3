//! Lists of the operators in a build of the runtime.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use pte_schema::scalar::ScalarType;

use super::library::{LIBRARIES, Library};
use crate::package::{PACKAGES, Package};
use crate::release::Release;

/// The operators in a build of the runtime, from a list of names or from a
/// `selected_operators.yaml`.
///
/// ```
/// use pte::operators::selected::SelectedOperators;
///
/// let selected = SelectedOperators::read("aten::add.out  # one name on each line\n")?;
/// assert!(selected.contains("aten::add.out") && !selected.contains("aten::mul.out"));
/// # Ok::<(), pte::operators::selected::ListError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SelectedOperators {
    names: BTreeSet<String>,
    /// Names without an overload, which stand for all of their overloads.
    with_overloads: BTreeSet<String>,
    /// For each operator, the dtypes of its kernels, if the list has them; `None` for all dtypes.
    dtypes: BTreeMap<String, Option<BTreeSet<i8>>>,
    all: bool,
    /// Kernel libraries of upstream, each as it is in a release.
    libraries: Vec<(&'static Library, Release)>,
}

/// The error of a text that is not a list of operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListError {
    /// The line, counted from 1.
    pub line: usize,
    /// The message.
    pub message: &'static str,
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl core::error::Error for ListError {}

impl SelectedOperators {
    /// Reads a list of names, one on each line, or a `selected_operators.yaml`.
    ///
    /// # Errors
    ///
    /// The error of the first invalid line.
    pub fn read(text: &str) -> Result<Self, ListError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let yaml = |line: &str| {
            ["operators:", "include_all_operators:", "et_kernel_metadata:"]
                .iter()
                .any(|key| line.starts_with(key))
        };
        let read = match text.lines().any(yaml) {
            true => Self::read_yaml(text),
            false => Self::read_names(text),
        };
        read.map_err(|(line, message)| ListError { line, message })
    }

    /// Returns the operators of a kernel library, or of all libraries of a package, in `release`: `portable`,
    /// `portable_ops_lib` or `android`. `None` if `name` is the name of neither.
    #[must_use]
    pub fn of_library(name: &str, release: Release) -> Option<Self> {
        let libraries = match Package::of_name(name) {
            Some(package) => package.kernels.iter().copied().filter_map(Library::of_name).collect(),
            None => Vec::from([Library::of_name(name)?]),
        };
        let libraries = libraries.into_iter().map(|library| (library, release)).collect();
        Some(Self { libraries, ..Self::default() })
    }

    /// Returns the names that [`of_library`](Self::of_library) takes.
    pub fn library_names() -> impl Iterator<Item = &'static str> {
        let libraries = LIBRARIES.iter().map(|library| library.name);
        libraries.chain(PACKAGES.iter().map(|package| package.name))
    }

    /// Adds the operators of another list.
    pub fn merge(&mut self, other: Self) {
        let of_one =
            |list: &Self, name: &str| list.contains(name) && !list.dtypes.contains_key(name);
        // A list that has an operator for all dtypes has its kernels for those of the other list, too.
        let mut dtypes: BTreeMap<_, _> = self
            .dtypes
            .iter()
            .chain(&other.dtypes)
            .map(|(name, _)| {
                let both = [&*self, &other].map(|list| list.dtypes.get(name));
                let any = of_one(self, name) || of_one(&other, name);
                let known =
                    both.into_iter().flatten().map(Option::as_ref).collect::<Option<Vec<_>>>();
                let dtypes = known.filter(|_| !any);
                (name.clone(), dtypes.map(|lists| lists.into_iter().flatten().copied().collect()))
            })
            .collect();
        core::mem::swap(&mut self.dtypes, &mut dtypes);
        self.names.extend(other.names);
        self.with_overloads.extend(other.with_overloads);
        self.libraries.extend(other.libraries);
        self.all |= other.all;
    }

    /// Returns whether the build has the operator `name`, which includes its overload.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        let root = name.split_once('.').map_or(name, |(root, _)| root);
        self.all
            || self.names.contains(name)
            || self.with_overloads.contains(root)
            || self.libraries.iter().any(|(library, release)| library.has(name, *release))
    }

    /// Returns whether the build has kernels of the operator `name` for `dtype`. A list without dtypes
    /// stands for all of them.
    #[must_use]
    pub fn contains_dtype(&self, name: &str, dtype: ScalarType) -> bool {
        match self.dtypes.get(name) {
            Some(Some(dtypes)) => dtypes.contains(&dtype.0),
            _ => true,
        }
    }

    fn read_names(text: &str) -> Result<Self, (usize, &'static str)> {
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

    /// Reads the lines of a YAML document. Only two levels of it matter, and indentation
    /// distinguishes them.
    fn read_yaml(text: &str) -> Result<Self, (usize, &'static str)> {
        let mut list = Self::default();
        // `level` is the indentation of the operators' names. The first name sets it.
        let (mut inside, mut level, mut name) = (false, None, String::new());
        let mut has_kernels = false;
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
                has_kernels = key == "et_kernel_metadata";
                match key.as_str() {
                    "operators" if !["", "{}"].contains(&value) => {
                        return Err((number, "operators are read only in separate lines"));
                    }
                    "include_all_operators" => list.all = is_true(value),
                    _ => {}
                }
            } else if has_kernels {
                match bare.strip_prefix("- ") {
                    Some(key) => list.kernel(&name, key.trim()),
                    None => name = entry(bare).ok_or((number, NO_KEY))?.0,
                }
            } else if inside && depth == *level.get_or_insert(depth) {
                // The line is the second one of a long key, whose name was read before.
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

    /// Adds a kernel key, such as `v1/6;0,1|6;0`: the dtype and the dim order of each tensor.
    fn kernel(&mut self, name: &str, key: &str) {
        let dtypes = self.dtypes.entry(name.into()).or_insert_with(|| Some(BTreeSet::new()));
        let key = key.trim_matches(['"', '\'']);
        match (key.strip_prefix("v1/"), dtypes) {
            (Some(tensors), Some(dtypes)) => {
                let numbers = tensors.split('|').filter_map(|tensor| tensor.split(';').next());
                dtypes.extend(numbers.filter_map(|number| number.parse::<i8>().ok()));
            }
            // A kernel for every dtype, such as `default`, or a key of another version.
            (_, dtypes) => *dtypes = None,
        }
    }

    fn attribute(&mut self, name: &str, line: &str) {
        let attribute = entry(line).filter(|(key, _)| key == "include_all_overloads");
        if attribute.is_some_and(|(_, value)| is_true(value)) {
            self.with_overloads.insert(name.into());
        }
    }
}

/// Splits a line into its key and the value after the colon.
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
