//! What documents of one name have in common, as JSON Schema: types, fields, and which fields all of them have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// Lists whose items have such lists too.
const RECURSIVE: &[&str] = &["parts"];

/// Objects whose keys are data, such as names of rules.
const MAPS: &[&str] = &["findings"];

/// Fields that all files of tests/data have, but not all files: a tensor that is quantized by channel or by group has
/// other fields than one scale.
const OPTIONAL: &[&str] = &["scale", "zero_point"];

/// The shape of the documents of one name.
#[derive(Default)]
pub(super) struct Document {
    root: Shape,
    /// The items of recursive lists, at any depth.
    recursive: BTreeMap<&'static str, Shape>,
}

/// The shape of the values in one place.
#[derive(Default)]
struct Shape {
    types: BTreeSet<&'static str>,
    /// The number of objects, and the fields of objects with the number of objects that have each.
    objects: usize,
    fields: BTreeMap<String, (Self, usize)>,
    /// The items of a list that is not recursive, or the values of an object whose keys are data.
    items: Option<Box<Self>>,
    /// The keyword for the items.
    keyword: &'static str,
    /// The name of a recursive list.
    recursive: Option<&'static str>,
    /// The text of the field that names the document.
    constant: Option<String>,
}

/// How documents differ from a schema, with the place.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Difference {
    /// No document has this field of the schema.
    Gone(String),
    /// A document lacks a required field.
    Absent(String),
    /// A value has a type that the schema does not have.
    Type(String),
    /// The schema does not have this field of a document.
    New(String),
}

impl Document {
    /// Adds a document.
    pub(super) fn add(&mut self, document: &Value) {
        let mut rest = Vec::new();
        self.root.add("", document, &mut rest);
        while let Some((name, item)) = rest.pop() {
            self.recursive.entry(name).or_default().add("", item, &mut rest);
        }
    }

    /// Returns the JSON Schema of the documents.
    pub(super) fn schema(&self) -> Value {
        let mut schema = Map::new();
        schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        self.root.describe(&mut schema);
        if !self.recursive.is_empty() {
            let shapes = self.recursive.iter();
            let shapes = shapes.map(|(name, shape)| ((*name).into(), shape.schema()));
            schema.insert("$defs".into(), Value::Object(shapes.collect()));
        }
        Value::Object(schema)
    }
}

impl Shape {
    fn add<'v>(&mut self, name: &str, value: &'v Value, rest: &mut Vec<(&'static str, &'v Value)>) {
        self.types.insert(match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        });
        match value {
            Value::Array(items) => {
                self.recursive = RECURSIVE.iter().copied().find(|recursive| *recursive == name);
                match self.recursive {
                    Some(name) => rest.extend(items.iter().map(|item| (name, item))),
                    None => self.add_items("items", items.iter(), rest),
                }
            }
            Value::Object(fields) if MAPS.contains(&name) => {
                self.add_items("additionalProperties", fields.values(), rest);
            }
            Value::Object(fields) => {
                self.objects += 1;
                for (name, value) in fields {
                    let (shape, count) = self.fields.entry(name.clone()).or_default();
                    *count += 1;
                    shape.add(name, value, rest);
                }
            }
            Value::String(text) if name == "schema" => self.constant = Some(text.clone()),
            _ => {}
        }
    }

    fn add_items<'v>(
        &mut self,
        keyword: &'static str,
        items: impl Iterator<Item = &'v Value>,
        rest: &mut Vec<(&'static str, &'v Value)>,
    ) {
        self.keyword = keyword;
        for item in items {
            self.items.get_or_insert_default().add("", item, rest);
        }
    }

    fn schema(&self) -> Value {
        let mut schema = Map::new();
        self.describe(&mut schema);
        Value::Object(schema)
    }

    fn describe(&self, schema: &mut Map<String, Value>) {
        if let Some(text) = &self.constant {
            schema.insert("const".into(), text.as_str().into());
            return;
        }
        let mut types = self.types.clone();
        // An integer is a number too.
        if types.contains("number") {
            types.remove("integer");
        }
        let types: Vec<_> = types.into_iter().collect();
        schema.insert("type".into(), if let [one] = types[..] { json!(one) } else { json!(types) });
        if let Some(name) = self.recursive {
            schema.insert("items".into(), json!({ "$ref": format!("#/$defs/{name}") }));
        }
        if let Some(items) = &self.items {
            schema.insert(self.keyword.into(), items.schema());
        }
        if self.objects > 0 {
            let required = self.fields.iter().filter(|(name, (_, count))| {
                *count == self.objects && !OPTIONAL.contains(&name.as_str())
            });
            let required: Vec<_> = required.map(|(name, _)| name.as_str()).collect();
            let fields =
                self.fields.iter().map(|(name, (shape, _))| (name.clone(), shape.schema()));
            schema.insert("properties".into(), Value::Object(fields.collect()));
            schema.insert("required".into(), json!(required));
        }
    }
}

/// Returns how documents with the schema `found` differ from `schema`. If they are `all` documents that there are,
/// fields that none of them has are differences too.
pub(super) fn differences(schema: &Value, found: &Value, all: bool) -> Vec<Difference> {
    let mut differences = Vec::new();
    compare(schema, found, all, "", &mut differences);
    differences
}

fn compare(schema: &Value, found: &Value, all: bool, place: &str, to: &mut Vec<Difference>) {
    let (known, types) = (texts(&schema["type"]), texts(&found["type"]));
    if schema["const"] != found["const"] {
        to.push(Difference::Type(format!("{place}: {}", found["const"])));
    }
    for one in types {
        let is_known = known.contains(one) || (one == "integer" && known.contains("number"));
        if !is_known {
            to.push(Difference::Type(format!("{place}: {one}")));
        }
    }
    if !found["required"].is_null() {
        for name in texts(&schema["required"]).difference(&texts(&found["required"])) {
            to.push(Difference::Absent(format!("{place}/{name}")));
        }
    }
    for keyword in ["properties", "$defs"] {
        let empty = Map::new();
        let fields = |of: &'_ Value| of[keyword].as_object().cloned().unwrap_or(empty.clone());
        let (known, found) = (fields(schema), fields(found));
        for (name, field) in &found {
            match known.get(name) {
                Some(known) => compare(known, field, all, &format!("{place}/{name}"), to),
                None => to.push(Difference::New(format!("{place}/{name}"))),
            }
        }
        let gone = known.keys().filter(|name| all && !found.contains_key(*name));
        to.extend(gone.map(|name| Difference::Gone(format!("{place}/{name}"))));
    }
    for keyword in ["items", "additionalProperties"] {
        match (&schema[keyword], &found[keyword]) {
            (_, Value::Null) => {}
            (Value::Null, _) => to.push(Difference::New(format!("{place}[]"))),
            (known, found) => compare(known, found, all, &format!("{place}[]"), to),
        }
    }
}

/// Returns the text of a value, or the texts of a list.
fn texts(value: &Value) -> BTreeSet<&str> {
    match value {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    }
}
