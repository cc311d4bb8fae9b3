//! `model!`: the tables of a declaration as structs that own what they hold.

/// Emits the `model` module of a [`schema!`](crate::flat::schema!) declaration.
macro_rules! model {
    (
        $( root $Root:ident $identifier:literal $extension:literal $namespace:literal; )?
        enums: $(
            $(#[$em:meta])* enum $E:ident: $P:ident {
                $( $(#[$vm:meta])* $V:ident = $number:literal $( => $vsince:literal )? ),* $(,)?
            }
        )*
        unions: $(
            $(#[$um:meta])* union $U:ident { $( $(#[$mm:meta])* $tag:literal $M:ident ),* $(,)? }
        )*
        tables: $(
            $(#[$tm:meta])* table $T:ident { $(
                $(#[$fm:meta])* $slot:literal $f:ident:
                $( & $R:ident )? $( [ $SV:ident $( align $align:literal )? ] )? $( [ & $RV:ident ] )?
                $( @ $FU:ident )? $( $S:ident = $default:expr )?
                $( => $since:literal )?
            ),* $(,)? }
        )*
    ) => {
        /// The tables as structs that own what they hold: to be changed, and written again.
        #[allow(unused_imports, reason = "a schema of enums has no tables")]
        pub mod model {
            use super::*;
            use $crate::flat::desc::TableDesc;
            use $crate::error::Step;
            use $crate::flat::model::{Model, TreeError, checked, models, scalars, tables};
            use $crate::flat::tree::{Object, Value};
            use $crate::flat::view::Scalar;

            $(
                $(#[$um])*
                #[derive(Clone, Debug, PartialEq)]
                #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
                #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
                pub enum $U {
                    $( $(#[$mm])* #[doc = concat!("Tag ", stringify!($tag), ".")] $M($M), )*
                    /// A tag that is not known; what it leads to is not here.
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
                    fn to_value(&self) -> Value<'_> {
                        match self {
                            $( Self::$M(member) => Value::Union($tag, Some(member.to_object())), )*
                            Self::Unknown(tag) => Value::unknown_member(*tag, &desc::$U),
                        }
                    }

                    fn of(value: Option<Value<'_>>) -> Result<Option<Self>, TreeError> {
                        let Some(Value::Union(tag, member)) = value else { return Ok(None) };
                        match (tag, member) {
                            (0, None) => Ok(None),
                            (0, _) | (_, None) => Err(TreeError::half(tag)),
                            $( ($tag, Some(member)) => match $M::from_object(member) {
                                Ok(member) => Ok(Some(Self::$M(member))),
                                Err(error) => Err(error.within(Step::Variant(stringify!($M)))),
                            }, )*
                            (tag, Some(_)) => Ok(Some(Self::Unknown(tag))),
                        }
                    }
                }

                impl From<view::$U<'_>> for $U {
                    #[inline(always)]
                    fn from(view: view::$U<'_>) -> Self {
                        match view {
                            $( view::$U::$M(member) => Self::$M(member.into()), )*
                            view::$U::Unknown(tag) => Self::Unknown(tag),
                        }
                    }
                }
            )*
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
                        $( Option<alloc::vec::Vec<$RV>> )?
                        $( Option<$FU> )?
                        $( $S )?,
                )* }

                impl Model for $T {
                    const DESC: &'static TableDesc = &desc::$T;

                    fn to_object(&self) -> Object<'_> {
                        Object::filled(Self::DESC, alloc::vec![ $(
                            $( $crate::flat::model::declare::value!(self.$f, $R) )?
                            $( self.$f.as_deref().map(scalars::<$SV>) )?
                            $( self.$f.as_deref().map(tables::<$RV>) )?
                            $( self.$f.as_ref().map($FU::to_value) )?
                            $( Some(Value::Number(<$S>::to_number(self.$f))) )?
                        ),* ])
                    }

                    #[allow(unused_mut, unused_variables, reason = "a table may have no fields")]
                    fn from_object(object: Object<'_>) -> Result<Self, TreeError> {
                        let mut object = checked(object, Self::DESC)?;
                        Ok(Self { $(
                            $f: $crate::flat::model::declare::held!(
                                object.take(stringify!($f)),
                                $( & $R )? $( [$SV] )? $( [& $RV] )? $( @ $FU )? $( $S $default )?
                            ).map_err(|error| error.within(Step::Field(stringify!($f))))?,
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

                impl From<view::$T<'_>> for $T {
                    #[inline]
                    #[allow(unused_variables, reason = "a table may have no fields")]
                    fn from(view: view::$T<'_>) -> Self {
                        Self { $(
                            $f: $crate::flat::model::declare::taken!(
                                view.$f(), $( & $R )? $( [$SV] )? $( [& $RV] )? $( @ $FU )? $( $S )?
                            ),
                        )* }
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
        $held.as_deref().map(|text| Value::Str(text.into()))
    };
    ($held:expr, $R:ident) => {
        $held.as_ref().map(|table| Value::Table(table.to_object()))
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
    ($read:expr, & $R:ident) => {
        $read.map(Into::into)
    };
    ($read:expr, [$SV:ident]) => {
        $read.map(|items| <$SV>::from_bytes(items.bytes()))
    };
    ($read:expr, [& $RV:ident]) => {
        $read.map(models)
    };
    ($read:expr, @ $FU:ident) => {
        $read.map(Into::into)
    };
    ($read:expr, $S:ident) => {
        $read
    };
}

macro_rules! held {
    ($value:expr, & str) => {
        Ok::<_, TreeError>($crate::flat::model::string_of($value))
    };
    ($value:expr, & $R:ident) => {
        $crate::flat::model::table_of::<$R>($value)
    };
    ($value:expr, [$SV:ident]) => {
        Ok::<_, TreeError>($crate::flat::model::scalars_of::<$SV>($value))
    };
    ($value:expr, [& $RV:ident]) => {
        $crate::flat::model::tables_of::<$RV>($value)
    };
    ($value:expr, @ $FU:ident) => {
        $FU::of($value)
    };
    ($value:expr, $S:ident $default:expr) => {
        Ok::<_, TreeError>($crate::flat::model::number_of::<$S>($value).unwrap_or($default))
    };
}

pub(crate) use {held, model, owned, start, taken, value};
