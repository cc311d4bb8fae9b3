//! `model!`: the tables of a declaration as plain structs.

/// Emits the `model` module of a [`schema!`](crate::schema!) declaration.
#[macro_export]
#[doc(hidden)]
macro_rules! __model_model {
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
    ) => {
        /// The tables as plain structs, which can be changed and written.
        #[allow(unused_imports, reason = "a schema of enums has no tables")]
        pub mod model {
            use super::*;
            use $crate::desc::declare::plain;
            use $crate::model::{checked, model};
            // Traits by another name: a table may have theirs.
            use $crate::model::{FromView as _, Model as _};
            use $crate::view::Scalar as _;

            $(
                $crate::__with_serde! {
                    union
                    $(#[$um])*
                    #[doc = concat!("\n\n`", stringify!($U), "`.")]
                    #[derive(Clone, Debug, PartialEq)]
                    #[allow(
                        clippy::large_enum_variant,
                        reason = "a box cannot be allocated fallibly on stable Rust"
                    )]
                    pub enum $U {
                        $( $(#[$mm])* #[doc = concat!("\n\nTag ", stringify!($tag), ".")] $M(
                            $crate::desc::declare::member!($M $($MT)?)
                        ), )*
                    }
                }

                impl $U {
                    fn visit(
                        &self,
                        field: &'static $crate::desc::FieldDesc,
                        to: &mut $crate::node::Visit<'_>,
                    ) -> core::ops::ControlFlow<()> {
                        match self {
                            $( Self::$M(member) => to(field, $crate::node::Held::Union($tag, Some(member))), )*
                            Self::Unknown(tag) => {
                                $crate::tree::FieldValue::unknown_member(*tag, &desc::$U).visit(field, to)
                            }
                        }
                    }

                    fn of(
                        value: Option<$crate::tree::FieldValue<'_>>,
                        ledger: &mut $crate::ledger::Ledger,
                    ) -> Result<Option<Self>, $crate::model::TreeError> {
                        let Some($crate::tree::FieldValue::Union(tag, member)) = value else {
                            return Ok(None);
                        };
                        match (tag, member) {
                            (0, None) => Ok(None),
                            (0, _) | (_, None) => Err($crate::model::TreeError::half(tag)),
                            $( ($tag, Some(member)) => match $crate::model::Model::take_object(member, ledger) {
                                Ok(member) => Ok(Some(Self::$M(member))),
                                Err(error) => Err(error.within($crate::PathComponent::Variant(stringify!($M)))),
                            }, )*
                            (tag, Some(_)) => Ok(Some(Self::Unknown(tag))),
                        }
                    }
                }

                impl $crate::model::FromView<view::$U<'_>> for $U {
                    #[inline(always)]
                    fn read(view: view::$U<'_>, ledger: &mut $crate::ledger::Ledger) -> Self {
                        match view {
                            $( view::$U::$M(member) => Self::$M(model(member, ledger)), )*
                            view::$U::Unknown(tag) => Self::Unknown(tag),
                        }
                    }
                }
            )*
            // Not `non_exhaustive`: users construct these structs and match these enums. A release that
            // adds a field of upstream's schema breaks only users who name every field.
            $(
                $crate::__with_serde! {
                    table
                    $(#[$tm])*
                    #[doc = concat!("\n\n`", stringify!($T), "`.")]
                    #[derive(Clone, Debug, PartialEq)]
                    pub struct $T { $(
                        $(#[$fm])*
                        #[doc = concat!("\n\nSlot ", stringify!($slot), ".")]
                        $( #[doc = concat!("Since release ", stringify!($since), ".")] )?
                        pub $f:
                            $( Option<$crate::model::declare::owned!($R)> )?
                            $( Option<$crate::alloc::vec::Vec<$SV>> )?
                            $( Option<$crate::alloc::vec::Vec<$crate::model::declare::owned!($RV)>> )?
                            $( Option<$crate::model::Nested<$N>> )?
                            $( Option<$FU> )?
                            $( Option<$O> )?
                            $( $S )?,
                    )* }
                }

                impl $crate::model::Model for $T {
                    const DESC: &'static $crate::desc::TableDesc = &desc::$T;

                    #[allow(unused_mut, unused_variables, reason = "a table may have no fields")]
                    fn take_object(
                        object: $crate::tree::Object<'_>,
                        ledger: &mut $crate::ledger::Ledger,
                    ) -> Result<Self, $crate::model::TreeError> {
                        let mut object = checked(object, Self::DESC, ledger)?;
                        Ok(Self { $(
                            $f: $crate::model::declare::held!(
                                object, plain(stringify!($f)), ledger,
                                $( & $R )? $( [$SV] )? $( [& $RV] )? $( ^ $N )? $( @ $FU )? $( ? $O )?
                                $( $S $default )?
                            ),
                        )* })
                    }
                }

                impl Default for $T {
                    fn default() -> Self {
                        Self { $(
                            $f: $crate::model::declare::start!($( $default )?),
                        )* }
                    }
                }

                impl $crate::model::FromView<view::$T<'_>> for $T {
                    #[inline]
                    #[allow(unused_variables, reason = "a table may have no fields")]
                    fn read(view: view::$T<'_>, ledger: &mut $crate::ledger::Ledger) -> Self {
                        Self { $(
                            $f: $crate::model::declare::taken!(
                                view.$f(), ledger,
                                $( & $R )? $( [$SV] )? $( [& $RV] )? $( ^ $N )? $( @ $FU )? $( ? $O )?
                                $( $S )?
                            ),
                        )* }
                    }
                }

                impl $crate::node::sealed::Sealed for $T {}

                impl $crate::node::Node for $T {
                    fn desc(&self) -> &'static $crate::desc::TableDesc {
                        Self::DESC
                    }

                    #[allow(unused_variables, unused_mut, reason = "a table may have no fields")]
                    fn visit(&self, visit: &mut $crate::node::Visit<'_>) -> core::ops::ControlFlow<()> {
                        let mut fields = Self::DESC.fields.iter();
                        $( $crate::model::declare::visited!(
                            self.$f, fields.next(), visit,
                            $( & $R )? $( [$SV] )? $( [& $RV] )? $( ^ $N )? $( @ $FU )? $( ? $O )?
                            $( $S )?
                        )?; )*
                        core::ops::ControlFlow::Continue(())
                    }
                }
            )*
        }
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __model_owned {
    (str) => {
        $crate::alloc::string::String
    };
    ($R:ident) => {
        $R
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __model_start {
    () => {
        None
    };
    ($default:expr) => {
        $default
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __model_taken {
    ($read:expr, $ledger:ident, & str) => {
        $read.map(|text| $ledger.string(text).unwrap_or_default())
    };
    ($read:expr, $ledger:ident, & $R:ident) => {
        $read.map(|table| $crate::model::model::<_, $R>(table, $ledger))
    };
    ($read:expr, $ledger:ident, [$SV:ident]) => {
        $read.map(|items| $crate::model::numbers(items, $ledger))
    };
    ($read:expr, $ledger:ident, [& str]) => {
        $read.map(|texts| $crate::model::texts(texts, $ledger))
    };
    ($read:expr, $ledger:ident, [& $RV:ident]) => {
        $read.map(|tables| $crate::model::models(tables, $ledger))
    };
    ($read:expr, $ledger:ident, ^ $N:ident) => {
        $read.and_then(|table| $crate::model::nested::<_, $N>(table, $ledger))
    };
    ($read:expr, $ledger:ident, @ $FU:ident) => {
        $read.map(|member| $FU::read(member, $ledger))
    };
    ($read:expr, $ledger:ident, ? $O:ident) => {
        $read
    };
    ($read:expr, $ledger:ident, $S:ident) => {
        $read
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __model_visited {
    ($value:expr, $field:expr, $visit:ident, & str) => {
        $crate::node::visit_text($field, &$value, $visit)
    };
    ($value:expr, $field:expr, $visit:ident, & $R:ident) => {
        $crate::node::visit_table($field, $value.as_ref(), $visit)
    };
    ($value:expr, $field:expr, $visit:ident, [$SV:ident]) => {
        $crate::node::visit_numbers($field, &$value, $visit)
    };
    ($value:expr, $field:expr, $visit:ident, [& str]) => {
        $crate::node::visit_texts($field, &$value, $visit)
    };
    ($value:expr, $field:expr, $visit:ident, [& $RV:ident]) => {
        $crate::node::visit_tables($field, &$value, $visit)
    };
    ($value:expr, $field:expr, $visit:ident, ^ $N:ident) => {
        $crate::node::visit_table($field, $value.as_deref(), $visit)
    };
    ($value:expr, $field:expr, $visit:ident, ? $O:ident) => {
        $crate::node::visit_number($field, $value, $visit)
    };
    ($value:expr, $field:expr, $visit:ident, @ $FU:ident) => {
        match ($field, &$value) {
            (Some(field), Some(member)) => member.visit(field, $visit),
            _ => core::ops::ControlFlow::Continue(()),
        }
    };
    ($value:expr, $field:expr, $visit:ident, $S:ident) => {
        $crate::node::visit_number($field, Some($value), $visit)
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __model_held {
    ($object:ident, $name:expr, $ledger:ident, & str) => {
        $crate::model::within($crate::model::string_of($object.take($name), $ledger), $name)?
    };
    ($object:ident, $name:expr, $ledger:ident, & $R:ident) => {
        $crate::model::within($crate::model::table_of::<$R>($object.take($name), $ledger), $name)?
    };
    ($object:ident, $name:expr, $ledger:ident, [$SV:ident]) => {
        $crate::model::within(
            $crate::model::scalars_of::<$SV>($object.take($name), $ledger),
            $name,
        )?
    };
    ($object:ident, $name:expr, $ledger:ident, [& str]) => {
        $crate::model::within($crate::model::strings_of($object.take($name), $ledger), $name)?
    };
    ($object:ident, $name:expr, $ledger:ident, [& $RV:ident]) => {
        $crate::model::within($crate::model::tables_of::<$RV>($object.take($name), $ledger), $name)?
    };
    ($object:ident, $name:expr, $ledger:ident, ^ $N:ident) => {
        $crate::model::within($crate::model::nested_of::<$N>($object.take($name), $ledger), $name)?
    };
    ($object:ident, $name:expr, $ledger:ident, ? $O:ident) => {
        $crate::model::number_of::<$O>($object.take($name))
    };
    ($object:ident, $name:expr, $ledger:ident, @ $FU:ident) => {
        $crate::model::within($FU::of($object.take($name), $ledger), $name)?
    };
    ($object:ident, $name:expr, $ledger:ident, $S:ident $default:expr) => {
        $crate::model::number_of::<$S>($object.take($name)).unwrap_or($default)
    };
}

pub use crate::{
    __model_held as held, __model_model as model, __model_owned as owned, __model_start as start,
    __model_taken as taken, __model_visited as visited,
};
