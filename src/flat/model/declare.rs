//! `model!`: the tables of a declaration as plain structs.

/// Emits the `model` module of a [`schema!`](crate::flat::schema!) declaration.
macro_rules! model {
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
            use $crate::flat::desc::declare::plain;
            use $crate::flat::desc::{FieldDesc, TableDesc};
            use $crate::error::PathComponent;
            use $crate::flat::ledger::{Ledger, MemoryError};
            use $crate::flat::model::{FromView, Model, TreeError, checked, model, scalars};
            use $crate::flat::node::{Held, Visit, sealed::Sealed};
            use $crate::flat::tree::{Object, FieldValue};
            use $crate::flat::view::Scalar;
            use core::ops::ControlFlow;

            $(
                $(#[$um])*
                #[derive(Clone, Debug, PartialEq)]
                #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
                #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
                #[allow(
                    clippy::large_enum_variant,
                    reason = "a box cannot be allocated fallibly on stable Rust"
                )]
                pub enum $U {
                    $( $(#[$mm])* #[doc = concat!("Tag ", stringify!($tag), ".")] $M(
                        $crate::flat::desc::declare::member!($M $($MT)?)
                    ), )*
                    /// An unknown tag, without its table.
                    Unknown(
                        #[cfg_attr(
                            feature = "arbitrary",
                            arbitrary(with = |random: &mut arbitrary::Unstructured<'_>| {
                                $crate::flat::model::unknown_tag(&desc::$U, random)
                            })
                        )]
                        u8,
                    ),
                }

                impl $U {
                    fn to_value(&self) -> Result<FieldValue<'_>, MemoryError> {
                        Ok(match self {
                            $( Self::$M(member) => FieldValue::Union($tag, Some(member.to_object()?)), )*
                            Self::Unknown(tag) => FieldValue::unknown_member(*tag, &desc::$U),
                        })
                    }

                    fn visit(&self, field: &'static FieldDesc, to: &mut Visit<'_>) -> ControlFlow<()> {
                        match self {
                            $( Self::$M(member) => to(field, Held::Union($tag, Some(member))), )*
                            Self::Unknown(tag) => {
                                FieldValue::unknown_member(*tag, &desc::$U).visit(field, to)
                            }
                        }
                    }

                    fn of(
                        value: Option<FieldValue<'_>>,
                        ledger: &mut Ledger,
                    ) -> Result<Option<Self>, TreeError> {
                        let Some(FieldValue::Union(tag, member)) = value else { return Ok(None) };
                        match (tag, member) {
                            (0, None) => Ok(None),
                            (0, _) | (_, None) => Err(TreeError::half(tag)),
                            $( ($tag, Some(member)) => match Model::take_object(member, ledger) {
                                Ok(member) => Ok(Some(Self::$M(member))),
                                Err(error) => Err(error.within(PathComponent::Variant(stringify!($M)))),
                            }, )*
                            (tag, Some(_)) => Ok(Some(Self::Unknown(tag))),
                        }
                    }
                }

                impl FromView<view::$U<'_>> for $U {
                    #[inline(always)]
                    fn read(view: view::$U<'_>, ledger: &mut Ledger) -> Self {
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
                $(#[$tm])*
                #[derive(Clone, Debug, PartialEq)]
                #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
                #[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
                #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
                pub struct $T { $(
                    $(#[$fm])*
                    #[doc = concat!("\n\nSlot ", stringify!($slot), ".")]
                    $( #[doc = concat!("Since release ", stringify!($since), ".")] )?
                    pub $f:
                        $( Option<$crate::flat::model::declare::owned!($R)> )?
                        $( Option<alloc::vec::Vec<$SV>> )?
                        $( Option<alloc::vec::Vec<$crate::flat::model::declare::owned!($RV)>> )?
                        $( Option<$crate::flat::model::Nested<$N>> )?
                        $( Option<$FU> )?
                        $( Option<$O> )?
                        $( $S )?,
                )* }

                impl Model for $T {
                    const DESC: &'static TableDesc = &desc::$T;

                    fn to_object(&self) -> Result<Object<'_>, MemoryError> {
                        Object::filled(Self::DESC, [ $(
                            $( $crate::flat::model::declare::value!(self.$f, $R) )?
                            $( self.$f.as_deref().map(scalars::<$SV>).transpose()? )?
                            $( $crate::flat::model::declare::values!(self.$f, $RV) )?
                            $( $crate::flat::model::declare::value!(self.$f, $N) )?
                            $( self.$f.as_ref().map($FU::to_value).transpose()? )?
                            $( self.$f.map(|held: $O| FieldValue::Number(held.to_number())) )?
                            $( Some(FieldValue::Number(<$S>::to_number(self.$f))) )?
                        ),* ])
                    }

                    #[allow(unused_mut, unused_variables, reason = "a table may have no fields")]
                    fn take_object(
                        object: Object<'_>,
                        ledger: &mut Ledger,
                    ) -> Result<Self, TreeError> {
                        let mut object = checked(object, Self::DESC, ledger)?;
                        Ok(Self { $(
                            $f: $crate::flat::model::declare::held!(
                                object.take(plain(stringify!($f))), ledger,
                                $( & $R )? $( [$SV] )? $( [& $RV] )? $( ^ $N )? $( @ $FU )? $( ? $O )?
                                $( $S $default )?
                            ).map_err(|error| error.within(PathComponent::Field(plain(stringify!($f)))))?,
                        )* })
                    }
                }

                impl Default for $T {
                    fn default() -> Self {
                        Self { $(
                            $f: $crate::flat::model::declare::start!($( $default )?),
                        )* }
                    }
                }

                impl FromView<view::$T<'_>> for $T {
                    #[inline]
                    #[allow(unused_variables, reason = "a table may have no fields")]
                    fn read(view: view::$T<'_>, ledger: &mut Ledger) -> Self {
                        Self { $(
                            $f: $crate::flat::model::declare::taken!(
                                view.$f(), ledger,
                                $( & $R )? $( [$SV] )? $( [& $RV] )? $( ^ $N )? $( @ $FU )? $( ? $O )?
                                $( $S )?
                            ),
                        )* }
                    }
                }

                impl Sealed for $T {}

                impl $crate::flat::node::Node for $T {
                    fn desc(&self) -> &'static TableDesc {
                        Self::DESC
                    }

                    #[allow(unused_variables, unused_mut, reason = "a table may have no fields")]
                    fn visit(&self, visit: &mut Visit<'_>) -> ControlFlow<()> {
                        let mut fields = Self::DESC.fields.iter();
                        $( if let Some(field) = fields.next() {
                            $crate::flat::model::declare::visited!(
                                self.$f, field, visit,
                                $( & $R )? $( [$SV] )? $( [& $RV] )? $( ^ $N )? $( @ $FU )? $( ? $O )?
                                $( $S )?
                            );
                        } )*
                        ControlFlow::Continue(())
                    }
                }
            )*
        }
    };
}

macro_rules! owned {
    (str) => {
        alloc::string::String
    };
    ($R:ident) => {
        $R
    };
}

macro_rules! value {
    ($held:expr, str) => {
        $held.as_deref().map(|text| FieldValue::Str(text.into()))
    };
    ($held:expr, $R:ident) => {
        match &$held {
            Some(table) => Some(FieldValue::Table(table.to_object()?)),
            None => None,
        }
    };
}

macro_rules! values {
    ($held:expr, str) => {
        $held.as_deref().map($crate::flat::model::strings).transpose()?
    };
    ($held:expr, $R:ident) => {
        $held.as_deref().map($crate::flat::model::tables::<$R>).transpose()?
    };
}

macro_rules! start {
    () => {
        None
    };
    ($default:expr) => {
        $default
    };
}

macro_rules! taken {
    ($read:expr, $ledger:ident, & str) => {
        $read.map(|text| $ledger.string(text).unwrap_or_default())
    };
    ($read:expr, $ledger:ident, & $R:ident) => {
        $read.map(|table| $crate::flat::model::model::<_, $R>(table, $ledger))
    };
    ($read:expr, $ledger:ident, [$SV:ident]) => {
        $read.map(|items| $crate::flat::model::numbers(items, $ledger))
    };
    ($read:expr, $ledger:ident, [& str]) => {
        $read.map(|texts| $crate::flat::model::texts(texts, $ledger))
    };
    ($read:expr, $ledger:ident, [& $RV:ident]) => {
        $read.map(|tables| $crate::flat::model::models(tables, $ledger))
    };
    ($read:expr, $ledger:ident, ^ $N:ident) => {
        $read.and_then(|table| $crate::flat::model::nested::<_, $N>(table, $ledger))
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

macro_rules! visited {
    ($held:expr, $field:ident, $visit:ident, & str) => {
        if let Some(text) = &$held {
            $visit($field, Held::Str(text))?;
        }
    };
    ($held:expr, $field:ident, $visit:ident, & $R:ident) => {
        if let Some(table) = &$held {
            $visit($field, Held::Table(table))?;
        }
    };
    ($held:expr, $field:ident, $visit:ident, [$SV:ident]) => {
        if let Some(numbers) = &$held {
            $visit($field, Held::Numbers(numbers))?;
        }
    };
    ($held:expr, $field:ident, $visit:ident, [& str]) => {
        if let Some(texts) = &$held {
            $visit($field, Held::Strs(texts))?;
        }
    };
    ($held:expr, $field:ident, $visit:ident, [& $RV:ident]) => {
        if let Some(tables) = &$held {
            $visit($field, Held::Tables(tables))?;
        }
    };
    ($held:expr, $field:ident, $visit:ident, ^ $N:ident) => {
        if let Some(table) = &$held {
            $visit($field, Held::Table(&**table))?;
        }
    };
    ($held:expr, $field:ident, $visit:ident, ? $O:ident) => {
        if let Some(number) = $held {
            $visit($field, Held::Number(number.to_number()))?;
        }
    };
    ($held:expr, $field:ident, $visit:ident, @ $FU:ident) => {
        if let Some(member) = &$held {
            member.visit($field, $visit)?;
        }
    };
    ($held:expr, $field:ident, $visit:ident, $S:ident) => {
        $visit($field, Held::Number($held.to_number()))?;
    };
}

macro_rules! held {
    ($value:expr, $ledger:ident, & str) => {
        $crate::flat::model::string_of($value, $ledger)
    };
    ($value:expr, $ledger:ident, & $R:ident) => {
        $crate::flat::model::table_of::<$R>($value, $ledger)
    };
    ($value:expr, $ledger:ident, [$SV:ident]) => {
        $crate::flat::model::scalars_of::<$SV>($value, $ledger)
    };
    ($value:expr, $ledger:ident, [& str]) => {
        $crate::flat::model::strings_of($value, $ledger)
    };
    ($value:expr, $ledger:ident, [& $RV:ident]) => {
        $crate::flat::model::tables_of::<$RV>($value, $ledger)
    };
    ($value:expr, $ledger:ident, ^ $N:ident) => {
        $crate::flat::model::nested_of::<$N>($value, $ledger)
    };
    ($value:expr, $ledger:ident, ? $O:ident) => {
        Ok::<_, TreeError>($crate::flat::model::number_of::<$O>($value))
    };
    ($value:expr, $ledger:ident, @ $FU:ident) => {
        $FU::of($value, $ledger)
    };
    ($value:expr, $ledger:ident, $S:ident $default:expr) => {
        Ok::<_, TreeError>($crate::flat::model::number_of::<$S>($value).unwrap_or($default))
    };
}

pub(crate) use {held, model, owned, start, taken, value, values, visited};
