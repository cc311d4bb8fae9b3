//! The fixtures of `tests/rules` as a start, with other numbers and names.

use pte::flat::load;
use pte::schema::{flat_tensor, flat_tensor_legacy, program};
use serde_json::{Value, json};

use crate::mutate::Xorshift;
use pte_tests::build;
use pte_tests::fixture::Fixture;

/// A file that breaks a rule, and the data files that it is used with, as JSON.
#[derive(Debug)]
pub(super) struct Description {
    /// The program or data file first.
    files: Vec<Value>,
    release: Option<(u32, u32)>,
}

impl Description {
    /// Reads the bad fixture of a rule, if it has one.
    pub(super) fn read(rule: &str) -> Option<Self> {
        let Fixture(mut json) = Fixture::read(&format!("{rule}.bad")).ok()?;
        let own = json.as_object_mut()?;
        own.remove("also");
        let release = own.remove("runtime").and_then(|release| {
            let number = |nth: usize| u32::try_from(release.get(nth)?.as_u64()?).ok();
            Some((number(0)?, number(1)?))
        });
        let with = own.remove("with");
        let with = with.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        Some(Self { files: [json].into_iter().chain(with).collect(), release })
    }

    /// Whether the rule is about a program and its data files.
    pub(super) fn is_pair(&self) -> bool {
        self.files.len() > 1
    }

    /// Returns the release that the rule is about, if it is about one.
    pub(super) fn release(&self) -> Option<(u32, u32)> {
        self.release
    }

    /// Makes the files with up to eight changes, each of which keeps `holds`.
    pub(super) fn perturbed(
        &self,
        random: &mut Xorshift,
        holds: &dyn Fn(&[Vec<u8>]) -> bool,
    ) -> Vec<Vec<u8>> {
        let mut kept = self.files.clone();
        for file in &mut kept {
            refill(file, random);
        }
        for _ in 0..=random.below(8) {
            let mut files = kept.clone();
            let nth = random.below(files.len());
            change(&mut files[nth]["root"], random);
            if files.iter().all(can_be_written) && holds(&written(&files)) {
                kept = files;
            }
        }
        written(&kept)
    }
}

fn written(files: &[Value]) -> Vec<Vec<u8>> {
    files.iter().map(|file| build::file(&file.to_string())).collect()
}

/// Whether the tables have numbers that their fields can hold.
fn can_be_written(file: &Value) -> bool {
    let schema = match file["kind"].as_str() {
        Some("ptd") => &flat_tensor::desc::SCHEMA,
        Some("ptd-legacy") => &flat_tensor_legacy::desc::SCHEMA,
        _ => &program::desc::SCHEMA,
    };
    load::read(&file["root"].to_string(), schema.root, &mut load::no_files).is_ok()
}

/// Puts random bytes after the segments: as many as the fixture has there, or some.
fn refill(file: &mut Value, random: &mut Xorshift) {
    let count = file["trailing"]["zeros"].as_u64();
    let count = count.unwrap_or(8 + random.below(24) as u64);
    let bytes: Vec<u64> = (0..count).map(|_| random.next_u64() >> 56).collect();
    file["trailing"] = json!({ "bytes": bytes });
}

/// Changes one number or text somewhere in the tables.
fn change(root: &mut Value, random: &mut Xorshift) {
    let count = leaves(root);
    let mut nth = random.below(count);
    visit(root, &mut |leaf| {
        if nth == 0 {
            *leaf = changed(leaf, random);
        }
        nth = nth.wrapping_sub(1);
    });
}

fn leaves(root: &mut Value) -> usize {
    let mut count = 0;
    visit(root, &mut |_| count += 1);
    count
}

fn visit(value: &mut Value, each: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, each)),
        Value::Object(fields) => fields.values_mut().for_each(|field| visit(field, each)),
        leaf => each(leaf),
    }
}

fn changed(leaf: &Value, random: &mut Xorshift) -> Value {
    let small = random.below(300) as i64;
    match leaf {
        Value::Number(number) => {
            let old = number.as_i64().unwrap_or_default();
            let word = random.next_u64();
            match random.below(8) {
                0 => json!(old.wrapping_add(1)),
                1 => json!(old.wrapping_sub(1)),
                2 => json!(old.wrapping_mul(2)),
                3 => json!(-small),
                4 => json!(word >> 33),
                5 => json!(-((word >> 33) as i64)),
                6 => json!(word >> 1),
                _ => json!(small),
            }
        }
        Value::String(_) => {
            let len = 1 + random.below(12);
            let letter = |_| char::from(b'a' + random.below(26) as u8);
            json!((0..len).map(letter).collect::<String>())
        }
        Value::Bool(old) => json!(!old),
        other => other.clone(),
    }
}
