//! The size of a file by the modules of its model: the dotted names of its tensors, as in
//! `model.layers.0.weight`.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::SizeTree;
use crate::bytes::index as at;
use crate::bytes::narrow;
use crate::cost;
use crate::handle::File;
use crate::quoted::UntrustedString;
use crate::tensors::TensorRow;

impl SizeTree {
    /// Returns the size tree of `file` by the modules of its model. `path` becomes its name. Tensors without
    /// a name, tables and padding are one part. `count` is called with each name.
    ///
    /// Names are those of a `.ptd`'s entries, of named data, and the fully qualified names of a program's
    /// tensors, of which most programs have none.
    ///
    /// # Errors
    ///
    /// The errors of `count`.
    pub fn by_module<E>(
        path: impl Into<UntrustedString>,
        file: &File<'_>,
        mut count: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Self, E> {
        let rows = TensorRow::all(file);
        let mut named: Vec<_> = rows.filter_map(|row| Some((row.range()?, row.key?))).collect();
        cost::sort(named.len());
        named.sort_by_key(|(range, _)| (range.start, range.end));
        let (mut modules, mut behind) = (Modules::default(), 0u64);
        for (range, name) in named {
            count(name.raw())?;
            // Bytes that tensors share count for the first of them.
            let bytes = range.end.saturating_sub(range.start.max(behind));
            behind = behind.max(range.end);
            modules.add(name.raw(), bytes);
        }
        let mut parts = modules.parts(0);
        let named = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.bytes));
        let rest = file.file_len().saturating_sub(named);
        if rest > 0 {
            parts.push(Self { name: "without a name".into(), bytes: rest, parts: Vec::new() });
        }
        Ok(Self { name: path.into(), bytes: file.file_len(), parts })
    }
}

/// The modules of a model. The first one is the model.
struct Modules<'n>(Vec<Module<'n>>);

#[derive(Default)]
struct Module<'n> {
    /// With those of its parts.
    bytes: u64,
    parts: BTreeMap<&'n str, u32>,
}

impl Default for Modules<'_> {
    fn default() -> Self {
        Self(alloc::vec![Module::default()])
    }
}

impl<'n> Modules<'n> {
    fn add(&mut self, name: &'n str, bytes: u64) {
        let mut here = 0;
        for part in name.splitn(MOST_LEVELS, '.') {
            let new = narrow(self.0.len());
            let Some(module) = self.0.get_mut(at(here)) else { return };
            module.bytes = module.bytes.saturating_add(bytes);
            cost::look_up(part, module.parts.len());
            here = *module.parts.entry(part).or_insert(new);
            if here == new {
                self.0.push(Module::default());
            }
        }
        if let Some(module) = self.0.get_mut(at(here)) {
            module.bytes = module.bytes.saturating_add(bytes);
        }
    }

    /// Returns the parts of a module, the largest first. A module with a single part is shown as one with
    /// it: `model.layers`.
    fn parts(&self, of: u32) -> Vec<SizeTree> {
        let parts = self.0.get(at(of)).map(|module| &module.parts);
        let mut parts: Vec<_> = parts
            .into_iter()
            .flatten()
            .map(|(&name, &nth)| {
                let bytes = self.0.get(at(nth)).map_or(0, |module| module.bytes);
                let mut parts = self.parts(nth);
                let inner = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.bytes));
                // A tensor may have the name of a module.
                let own = bytes.saturating_sub(inner);
                if own > 0 && !parts.is_empty() {
                    parts.push(SizeTree { name: "itself".into(), bytes: own, parts: Vec::new() });
                }
                match parts.as_mut_slice() {
                    [only] => {
                        let joined = alloc::format!("{name}.{}", only.name.raw());
                        let parts = core::mem::take(&mut only.parts);
                        SizeTree { name: joined.into(), bytes, parts }
                    }
                    _ => SizeTree { name: name.into(), bytes, parts },
                }
            })
            .collect();
        parts.sort_by_key(|part| Reverse(part.bytes));
        parts
    }
}

/// The most levels of a name. The rest is one part, so that a name of many dots makes no deep tree.
const MOST_LEVELS: usize = 12;
