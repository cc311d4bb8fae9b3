//! `node!`: the views of a declaration as nodes that can be written.

/// Emits the [`Node`](super::Node) of each view of a [`schema!`](crate::schema!) declaration.
#[macro_export]
#[doc(hidden)]
macro_rules! __node {
    (
        $( root $Root:tt $identifier:tt $extension:tt $namespace:tt; )?
        enums: $( $(#$em:tt)* enum $E:tt: $P:tt $values:tt )*
        $( structs: $( $(#$sm:tt)* struct $ST:tt $field:tt )* )?
        unions: $( $(#$um:tt)* union $U:tt $members:tt )*
        tables: $( $(#$tm:tt)* table $T:tt $fields:tt )*
    ) => { $(
        impl $crate::node::sealed::Sealed for view::$T<'_> {}

        impl $crate::node::Node for view::$T<'_> {
            fn desc(&self) -> &'static $crate::desc::TableDesc {
                &desc::$T
            }

            fn visit(&self, visit: &mut $crate::node::Visit<'_>) -> core::ops::ControlFlow<()> {
                $crate::node::visit_view(*self, visit)
            }
        }
    )* };
}

pub use crate::__node as node;
