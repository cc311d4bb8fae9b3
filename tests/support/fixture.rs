//! Descriptions of files as JSON, in `tests/rules`.
//!
//! A fixture is a description for [`build::file`], or the difference to one:
//!
//! ```text
//! {
//!   "base": "call",                    base/call.json; ID.good.json where a bad one says nothing
//!   "set": {"/root/version": 1},       JSON pointers; one past the end of a list, or "-", appends
//!   "remove": ["/root/segments"],
//!   "with": [{…}],                     the .ptd files that a program is judged with
//!   "runtime": [0, 7],                 the release that the file is judged for
//!   "kernels": "portable",             the kernel library of the build that the file is judged for
//!   "backends": ["XnnpackBackend"],    the backends of that build
//!   "max_memory": 1000,                the bytes that loading the file may allocate
//!   "also": ["plans-empty"]            what both break, where nothing breaks the rule alone
//! }
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::build;

/// A file and its companions, as descriptions.
pub struct Fixture(pub Value);

/// The file and its companions, built.
pub struct Parts {
    pub bytes: Vec<u8>,
    pub with: Option<Value>,
    pub runtime: Option<Value>,
    pub kernels: Option<Value>,
    pub backends: Option<Value>,
    pub max_memory: Option<Value>,
    pub also: Value,
}

impl Fixture {
    pub fn read(name: &str) -> Result<Self, String> {
        let path = folder().join(format!("{name}.json"));
        let text = fs::read_to_string(&path).map_err(|_| format!("{name}.json is missing"))?;
        let mut json: Value = serde_json::from_str(&text).map_err(|e| format!("{name}: {e}"))?;
        let own = json.as_object_mut().ok_or("a fixture is an object")?;
        let base = match own.remove("base") {
            Some(base) => format!("base/{}", base.as_str().ok_or("a base is a name")?),
            None if own.contains_key("root") => return Ok(Self(json)),
            None => name.replace(".bad", ".good"),
        };
        let Self(mut whole) = Self::read(&base)?;
        let changes = own.remove("set").unwrap_or_default();
        for pointer in own.remove("remove").iter().flat_map(|list| list.as_array().unwrap()) {
            remove(&mut whole, pointer.as_str().unwrap());
        }
        for (pointer, value) in changes.as_object().unwrap_or(&Map::new()) {
            set(&mut whole, pointer, value.clone());
        }
        for (key, value) in std::mem::take(own) {
            whole[key.as_str()] = value;
        }
        Ok(Self(whole))
    }

    pub fn parts(&self) -> Parts {
        let mut json = self.0.clone();
        let with = json.as_object_mut().unwrap().remove("with");
        let runtime = json.as_object_mut().unwrap().remove("runtime");
        let kernels = json.as_object_mut().unwrap().remove("kernels");
        let backends = json.as_object_mut().unwrap().remove("backends");
        let max_memory = json.as_object_mut().unwrap().remove("max_memory");
        let also = json.as_object_mut().unwrap().remove("also").unwrap_or_default();
        let bytes = build::file(&json.to_string());
        Parts { bytes, with, runtime, kernels, backends, max_memory, also }
    }
}

#[track_caller]
fn set(json: &mut Value, pointer: &str, value: Value) {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    match json.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} leads nowhere")) {
        Value::Array(list) => match last.parse().unwrap_or(list.len()) {
            nth if nth < list.len() => list[nth] = value,
            _ => list.push(value),
        },
        object => object[last] = value,
    }
}

#[track_caller]
fn remove(json: &mut Value, pointer: &str) {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    match json.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} leads nowhere")) {
        Value::Array(list) => drop(list.remove(last.parse().unwrap())),
        object => {
            let removed = object.as_object_mut().unwrap().remove(last);
            assert!(removed.is_some(), "{pointer} leads nowhere");
        }
    }
}

/// Returns the folder of the fixtures. The package `fuzz` is a folder of this one.
pub fn folder() -> PathBuf {
    let package = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let own = package.join("tests/rules");
    if own.is_dir() { own } else { package.join("../tests/rules") }
}
