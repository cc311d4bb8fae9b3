//! The paths that a source file names, and the modules that they lead to.

use std::collections::BTreeMap;

/// A path of names, from the root of the crate.
pub(super) type Names = Vec<String>;

/// The modules of a crate, each with the names that its file imports.
pub(super) struct Modules(BTreeMap<Names, BTreeMap<String, Names>>);

impl Modules {
    /// Collects the modules of `files`: a module path and the code of each.
    pub(super) fn of(files: &[(Names, String)]) -> Self {
        let empty = |(module, _): &(Names, String)| (module.clone(), BTreeMap::new());
        let mut modules = Self(files.iter().map(empty).collect());
        for (module, code) in files {
            let statements = code.split(';').filter_map(|text| text.split("use ").nth(1));
            let paths = statements.flat_map(|text| paths_of(&mut tokens(text).peekable()));
            let imports = paths.filter_map(|path| {
                let path = modules.absolute(module, &path)?;
                Some((path.last()?.clone(), path))
            });
            let imports = imports.collect();
            modules.0.insert(module.clone(), imports);
        }
        modules
    }

    /// Returns the modules that the paths in `code`, the file of `module`, lead to.
    pub(super) fn used(&self, module: &Names, code: &str) -> Vec<Names> {
        let mut found = Vec::new();
        let mut rest = tokens(code).peekable();
        while let Some(&token) = rest.peek() {
            if !["crate", "super"].contains(&token) {
                rest.next();
                continue;
            }
            let paths = paths_of(&mut rest);
            let paths = paths.iter().filter_map(|path| self.absolute(module, path));
            found.extend(paths.map(|path| self.resolve(&path, 8)));
        }
        found
    }

    /// Returns a path from the root of the crate; `None` for one into another crate.
    fn absolute(&self, module: &Names, path: &[String]) -> Option<Names> {
        let mut base = module.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => base.clear(),
            "self" => {}
            "super" => drop(base.pop()),
            child => {
                base.push(child.to_owned());
                return self.0.contains_key(&base).then(|| [&module[..], path].concat());
            }
        }
        rest = &rest[1..];
        while let [first, more @ ..] = rest
            && first == "super"
        {
            base.pop();
            rest = more;
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    /// Returns the module that defines the last name of `path`, through at most `hops` imports.
    fn resolve(&self, path: &[String], hops: u32) -> Names {
        let mut module = Names::new();
        for (nth, name) in path.iter().enumerate() {
            let mut child = module.clone();
            child.push(name.clone());
            if self.0.contains_key(&child) {
                module = child;
                continue;
            }
            let import = self.0.get(&module).and_then(|imports| imports.get(name));
            return match import {
                Some(import) if hops > 0 && import[..] != path[..=nth] => {
                    self.resolve(&[&import[..], &path[nth + 1..]].concat(), hops - 1)
                }
                _ => module,
            };
        }
        module
    }
}

/// Returns the paths that begin at the next token: several where there are braces.
fn paths_of<'t>(
    tokens: &mut core::iter::Peekable<impl Iterator<Item = &'t str>>,
) -> Vec<Vec<String>> {
    let mut path = Vec::new();
    loop {
        match tokens.peek() {
            Some(&"{") => {
                tokens.next();
                let mut found = Vec::new();
                loop {
                    match tokens.peek() {
                        None | Some(&"}") => break,
                        Some(&",") => drop(tokens.next()),
                        _ => found.extend(paths_of(tokens)),
                    }
                }
                tokens.next();
                let join = |tail: Vec<String>| match tail.as_slice() {
                    [only] if only == "self" => path.clone(),
                    _ => [&path[..], &tail].concat(),
                };
                return found.into_iter().map(join).collect();
            }
            Some(&name) => {
                path.push(name.to_owned());
                tokens.next();
            }
            None => return vec![path],
        }
        match tokens.peek() {
            Some(&"::") => drop(tokens.next()),
            // The new name of a renamed import is skipped, and its own name is kept.
            Some(&"as") => {
                tokens.nth(1);
                return vec![path];
            }
            _ => return vec![path],
        }
    }
}

/// Splits code into names, `::` and single characters.
fn tokens(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code;
    core::iter::from_fn(move || {
        rest = rest.trim_start();
        let name = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let len = match name {
            0 if rest.starts_with("::") => 2,
            0 => rest.chars().next()?.len_utf8(),
            len => len,
        };
        let (token, after) = rest.split_at(len);
        rest = after;
        Some(token)
    })
}
