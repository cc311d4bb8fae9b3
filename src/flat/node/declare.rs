//! `node!`: the views of a declaration as nodes that can be written.

/// Emits the [`Node`](super::Node) of each view of a [`schema!`](crate::schema!) declaration.
#[macro_export]
#[doc(hidden)]
macro_rules! __node {
    (
        $( root $Root:ident $identifier:literal $extension:literal $namespace:literal; )?
        enums: $(
            $(#[$em:meta])* enum $E:ident: $P:ident {
                $( $(#[$vm:meta])* $V:ident = $number:literal $( => $vsince:literal )? ),* $(,)?
            }
        )*
        $( structs: $( $(#[$sm:meta])* struct $ST:ident { $sf:ident: $SP:ident } )* )?
        unions: $(
            $(#[$um:meta])* union $U:ident {
                $( $(#[$mm:meta])* $tag:literal $M:ident $( = $MT:ident )? ),* $(,)?
            }
        )*
        tables: $(
            $(#[$tm:meta])* table $T:ident { $(
                $(#[$fm:meta])* $slot:literal $f:ident:
                $( & $R:ident )? $( [ $SV:ident $( align $align:literal )? ] )? $( [ & $RV:ident ] )?
                $( ^ $N:ident )? $( @ $FU:ident )? $( ? $O:ident )? $( ( $required:ident ) )?
                $( $S:ident = $default:expr )?
                $( => $since:literal )?
            ),* $(,)? }
        )*
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
