//! Converts a struct or a view to a tree, which the library never needs.

use std::borrow::Cow;
use std::ops::ControlFlow;

use pte::flat::node::{Held, Node};
use pte::flat::tree::{FieldValue, Object};

/// Returns a copy of the table and of everything that it refers to.
pub fn object_of(node: &dyn Node) -> Object<'static> {
    let mut object = Object::new(node.desc());
    let visited = node.visit(&mut |field, held| {
        object.set(field.name, value_of(held)).unwrap();
        ControlFlow::Continue(())
    });
    assert!(visited.is_continue());
    object
}

fn value_of(held: Held<'_>) -> FieldValue<'static> {
    match held {
        Held::Number(number) => FieldValue::Number(number),
        Held::Str(text) => FieldValue::Str(Cow::Owned(text.into())),
        Held::Table(table) => FieldValue::Table(object_of(table)),
        Held::Bytes(bytes) => FieldValue::Scalars(Cow::Owned(bytes.into())),
        Held::Numbers(numbers) => {
            let mut bytes = Vec::new();
            let _ = numbers.visit_back(&mut |chunk| {
                bytes.splice(..0, chunk.iter().copied());
                ControlFlow::Continue(())
            });
            FieldValue::Scalars(Cow::Owned(bytes))
        }
        Held::Tables(tables) => {
            let mut objects = Vec::new();
            let _ = tables.visit_all(&mut |table| {
                objects.push(object_of(table));
                ControlFlow::Continue(())
            });
            FieldValue::Tables(objects)
        }
        Held::Strs(texts) => {
            let mut strings = Vec::new();
            let _ = texts.visit_all(&mut |text| {
                strings.push(Cow::Owned(text.into()));
                ControlFlow::Continue(())
            });
            FieldValue::Strs(strings)
        }
        Held::Union(tag, member) => FieldValue::Union(tag, member.map(object_of)),
        _ => panic!("a kind of value that this tree does not have"),
    }
}
