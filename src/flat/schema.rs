//! `schema!`: declares enums, unions and tables once.

/// Declares a schema once.
///
/// Each reader of the declaration is a separate macro, next to the code that uses its output.
/// `desc!` emits static descriptions, `view!` typed accessors, `node!` the views as nodes for the
/// writer, and `model!` plain structs. A declaration that begins with `views;` is of tables that are only read: they
/// have structs with the feature `arbitrary` alone.
///
/// Generated documentation has the name of each item, the slot of each field and the number of each
/// value. A doc comment in the declaration adds what these do not say.
///
/// ```text
/// root Scene b"SCN1" "scene" "example.scenes";        // file identifier, extension, namespace
/// enum Storage: i8 { INLINE = 0, EXTERNAL = 1 }
/// structs:
/// struct Tid { idx: u32 }                              // optional section: structs of one number
/// union Shape { 1 Circle, 2 Mesh }
/// union XNodeUnion { 1 XNNAdd = _XNNNode2x1 }          // a member with another name
/// table Mesh {
///     0 storage: Storage = Storage::INLINE,           // a number and its default
///     2 points: [i32],                                // a vector of numbers
///     6 material: &Material,                          // a table; `&str` for a string
///     9 extra: &Extra => 0.4,                         // the release that added it
/// }
/// table Body { 0 shape: @Shape }                      // a union: slots 0 (tag) and 1 (value)
/// table Scene { 1 bodies: [&Body] }                   // a vector of tables
/// table GraphArg { 1 graph: ^Graph (required) }        // a recursive field, which must be present
/// table ClipNode { 2 a_min: ?Tid, 3 k: ?i32 }          // a struct; a number with the default null
/// table SinNode { 0 x: ?Tid } also CosNode, TanNode;   // three tables with the same fields
/// ```
#[macro_export]
macro_rules! schema {
    (views; $($declaration:tt)*) => { $crate::schema! { @ __read_only $($declaration)* } };
    (
        @ $readers:ident
        $( root $Root:tt $identifier:tt $extension:tt $namespace:tt; )?
        enums: $( $(#$em:tt)* enum $E:tt: $P:tt $values:tt )*
        $( structs: $( $(#$sm:tt)* struct $ST:tt $field:tt )* )?
        unions: $( $(#$um:tt)* union $U:tt $members:tt )*
        tables: $( $(#$tm:tt)* table $T:tt $fields:tt $( also $( $Same:tt ),+; )? )*
    ) => {
        $crate::$readers! {
            $( root $Root $identifier $extension $namespace; )?
            enums: $( $(#$em)* enum $E: $P $values )*
            $( structs: $( $(#$sm)* struct $ST $field )* )?
            unions: $( $(#$um)* union $U $members )*
            tables: $( $(#$tm)* table $T $fields $( $( table $Same $fields )+ )? )*
        }
    };
    ($($declaration:tt)*) => { $crate::schema! { @ __readers $($declaration)* } };
}

/// Gives a declaration, with the fields of each table, to its readers.
#[macro_export]
#[doc(hidden)]
macro_rules! __readers {
    ($($declaration:tt)*) => {
        $crate::__views! { $($declaration)* }
        $crate::__with_alloc! { $crate::model::declare::model! { $($declaration)* } }
    };
}

/// Gives a declaration that begins with `views;` to its readers. Structs are half of what is emitted.
#[cfg(feature = "arbitrary")]
#[macro_export]
#[doc(hidden)]
macro_rules! __read_only {
    ($($declaration:tt)*) => { $crate::__readers! { $($declaration)* } };
}

#[cfg(not(feature = "arbitrary"))]
#[macro_export]
#[doc(hidden)]
macro_rules! __read_only {
    ($($declaration:tt)*) => { $crate::__views! { $($declaration)* } };
}

/// Gives a declaration to the readers that emit no structs.
#[macro_export]
#[doc(hidden)]
macro_rules! __views {
    ($($declaration:tt)*) => {
        $crate::desc::declare::desc! { $($declaration)* }
        $crate::view::declare::view! { $($declaration)* }
        $crate::__with_alloc! { $crate::node::declare::node! { $($declaration)* } }
    };
}

/// Emits what needs `alloc`.
#[cfg(feature = "alloc")]
#[macro_export]
#[doc(hidden)]
macro_rules! __with_alloc {
    ($($item:tt)*) => { $($item)* };
}

#[cfg(not(feature = "alloc"))]
#[macro_export]
#[doc(hidden)]
macro_rules! __with_alloc {
    ($($item:tt)*) => {};
}
