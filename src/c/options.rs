//! The options of a check.

use pte_rs::Limits;
use pte_rs::check::{NEWEST, Policy, Preset, Release, Rule, RuntimeBuild, parse_release, rule};
use pte_rs::operators::selected::SelectedOperators;
use pte_rs::package;

use crate::abi::pte_status;
use crate::{memory, verify};

/// What a file is judged by. Setters add to it without allocating what cannot fail; the types of the library are made
/// of it in the arena of a check.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) name: String,
    pub(crate) limits: Limits,
    pub(crate) scans: bool,
    pub(crate) data: Vec<DataFile>,
    release: Option<Release>,
    preset: Option<Preset>,
    allowed: Vec<&'static Rule>,
    denied: Vec<String>,
    kernels: Option<String>,
    backends: Option<String>,
}

/// A `.ptd` file that a program is used with. Its bytes are the caller's for as long as the options exist.
#[derive(Debug)]
pub(crate) struct DataFile {
    pub(crate) name: String,
    pub(crate) bytes: &'static [u8],
}

type Set = Result<(), pte_status>;

impl Options {
    pub(crate) const fn new() -> Self {
        Self {
            name: String::new(),
            limits: Limits::UNTRUSTED,
            scans: false,
            data: Vec::new(),
            release: None,
            preset: None,
            allowed: Vec::new(),
            denied: Vec::new(),
            kernels: None,
            backends: None,
        }
    }

    pub(crate) fn set_name(&mut self, name: &str) -> Set {
        self.name = copy(name)?;
        Ok(())
    }

    pub(crate) fn add_data(&mut self, name: &str, bytes: &'static [u8]) -> Set {
        // The structure is proven again by each check, since the bytes are the caller's.
        if verify::verify(bytes)?.is_some() {
            return Err(pte_status::PTE_REFUSED);
        }
        let file = DataFile { name: copy(name)?, bytes };
        push(&mut self.data, file)
    }

    pub(crate) fn set_release(&mut self, release: &str) -> Set {
        let release = parse_release(release).map_err(|_| pte_status::PTE_INVALID_ARGUMENT)?;
        self.release = Some(release);
        Ok(())
    }

    pub(crate) fn set_preset(&mut self, id: &str) -> Set {
        let preset = Preset::of_id(id).ok_or(pte_status::PTE_INVALID_ARGUMENT)?;
        self.preset = Some(preset);
        Ok(())
    }

    pub(crate) fn allow(&mut self, id: &str) -> Set {
        let rule = rule(id).ok_or(pte_status::PTE_INVALID_ARGUMENT)?;
        push(&mut self.allowed, rule)
    }

    pub(crate) fn deny(&mut self, id: &str) -> Set {
        // The list of names is made anew for each question.
        memory::within_reserve(LISTS, || {
            Policy::new().deny_named(id).map(drop).ok_or(pte_status::PTE_INVALID_ARGUMENT)
        })?;
        push(&mut self.denied, copy(id)?)
    }

    pub(crate) fn set_kernels(&mut self, list: &str) -> Set {
        memory::within_reserve(lists(list), || kernels(list, NEWEST).map(drop))?;
        self.kernels = Some(copy(list)?);
        Ok(())
    }

    pub(crate) fn set_backends(&mut self, list: &str) -> Set {
        memory::within_reserve(lists(list), || backends(list, NEWEST).map(drop))?;
        self.backends = Some(copy(list)?);
        Ok(())
    }

    /// Returns whether all bytes are searched for executable content.
    pub(crate) fn scans(&self) -> bool {
        self.scans || self.preset.is_some_and(|preset| preset.scans)
    }

    pub(crate) fn policy(&self) -> Policy {
        let mut policy = Policy::new();
        if let Some(release) = self.release {
            policy = policy.runtime(release);
        }
        if let Some(preset) = self.preset {
            policy = policy.preset(preset);
        }
        let policy = self.allowed.iter().fold(policy, |policy, rule| policy.allow(rule));
        self.denied
            .iter()
            .fold(policy, |policy, id| policy.clone().deny_named(id).unwrap_or(policy))
    }

    pub(crate) fn build(&self) -> Result<RuntimeBuild, pte_status> {
        let release = self.release.unwrap_or(NEWEST);
        Ok(RuntimeBuild {
            kernels: self.kernels.as_deref().map(|list| kernels(list, release)).transpose()?,
            backends: self.backends.as_deref().map(|list| backends(list, release)).transpose()?,
        })
    }

    /// Returns the memory that the policy and the build may need.
    pub(crate) fn memory(&self) -> usize {
        let texts = [&self.kernels, &self.backends].into_iter().flatten();
        let rules = self.denied.len().saturating_add(self.allowed.len());
        texts
            .fold(LISTS, |sum, text| sum.saturating_add(lists(text)))
            .saturating_add(rules.saturating_mul(64))
    }
}

/// Returns the operators of the libraries and packages in a list, or of a list of operators.
fn kernels(list: &str, release: Release) -> Result<SelectedOperators, pte_status> {
    let mut all = SelectedOperators::default();
    let libraries = list.split(',').map(|name| SelectedOperators::of_library(name.trim(), release));
    for library in libraries {
        match library {
            Some(library) => all.merge(library),
            None => {
                return SelectedOperators::read(list).map_err(|_| pte_status::PTE_INVALID_ARGUMENT);
            }
        }
    }
    Ok(all)
}

fn backends(
    list: &str,
    release: Release,
) -> Result<std::collections::BTreeSet<String>, pte_status> {
    let names: Vec<_> = list.split(',').map(|name| name.trim().to_owned()).collect();
    package::backends(&names, release).map_err(|_| pte_status::PTE_INVALID_ARGUMENT)
}

/// The memory for lists of rules and of the operators of libraries.
const LISTS: usize = 4 << 20;

/// Returns the memory for what a list of `text` becomes.
fn lists(text: &str) -> usize {
    text.len().saturating_mul(64).saturating_add(LISTS)
}

fn copy(text: &str) -> Result<String, pte_status> {
    let mut copy = String::new();
    copy.try_reserve_exact(text.len()).map_err(|_| pte_status::PTE_NO_MEMORY)?;
    copy.push_str(text);
    Ok(copy)
}

fn push<T>(list: &mut Vec<T>, item: T) -> Set {
    list.try_reserve(1).map_err(|_| pte_status::PTE_NO_MEMORY)?;
    list.push(item);
    Ok(())
}
