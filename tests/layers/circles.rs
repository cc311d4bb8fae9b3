//! Modules of one directory that use each other, directly or by way of others.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::Names;

/// The uses between the children of each module.
#[derive(Default)]
pub(super) struct Siblings(BTreeMap<Names, BTreeMap<String, BTreeSet<String>>>);

impl Siblings {
    /// Adds that `user` uses `used`. Only the names just below their common parent count: a child
    /// may use what its parent's file defines, and a parent may use its children.
    pub(super) fn add(&mut self, user: &Names, used: &Names) {
        let common = user.iter().zip(used).take_while(|(one, other)| one == other).count();
        if let (Some(from), Some(to)) = (user.get(common), used.get(common)) {
            let children = self.0.entry(user[..common].to_vec()).or_default();
            children.entry(from.clone()).or_default().insert(to.clone());
        }
    }

    /// Returns the circles: the parent, and its children that use each other.
    pub(super) fn circles(&self) -> Vec<(&Names, BTreeSet<&str>)> {
        let mut found = Vec::new();
        for (parent, uses) in &self.0 {
            let mut circles: Vec<BTreeSet<&str>> = Vec::new();
            for child in uses.keys() {
                let reached = reached(uses, child);
                let mutual = reached
                    .iter()
                    .filter(|other| self::reached(uses, other).contains(child.as_str()));
                let circle: BTreeSet<&str> = mutual.copied().collect();
                if !circle.is_empty() && !circles.contains(&circle) {
                    circles.push(circle);
                }
            }
            found.extend(circles.into_iter().map(|circle| (parent, circle)));
        }
        found
    }
}

/// Returns the modules that `from` uses, directly or by way of others.
fn reached<'u>(uses: &'u BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<&'u str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for next in uses.get(module).into_iter().flatten() {
            if found.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    found
}
