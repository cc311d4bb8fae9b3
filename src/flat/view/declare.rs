//! `view!`: the enums of a declaration, and its tables as typed views.

/// Emits the enums and the `view` module of a [`schema!`](crate::schema!) declaration.
#[macro_export]
#[doc(hidden)]
macro_rules! __view_view {
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
        $(
            $crate::__with_serde! {
                number
                $(#[$em])*
                #[doc = concat!("\n\n`", stringify!($E), "`.")]
                ///
                /// Values without a name are kept as numbers.
                #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
                pub struct $E(pub $P);
            }

            #[allow(non_upper_case_globals, reason = "upstream's names")]
            impl $E {
                $( $(#[$vm])* #[doc = concat!("\n\nNumber ", stringify!($number), ".")] pub const $V: Self = Self($number); )*

                /// Returns upstream's name of the value, if it has one.
                pub fn name(self) -> Option<&'static str> {
                    Self::DESC.name_of(self.0.into())
                }

                /// The declaration.
                pub const DESC: &'static $crate::desc::EnumDesc = &desc::$E;

                #[expect(clippy::as_conversions, reason = "lossless, and From is not const")]
                /// Returns the value as a number of any type.
                pub const fn number(self) -> $crate::desc::Number {
                    $crate::desc::Number::Int(self.0 as i128)
                }
            }

            impl core::fmt::Debug for $E {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    core::fmt::Display::fmt(self, f)
                }
            }

            impl core::fmt::Display for $E {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    match self.name() {
                        Some(name) => f.pad(name),
                        None => core::fmt::Display::fmt(&self.0, f),
                    }
                }
            }

            impl $crate::desc::Primitive for $E {
                const PRIM: $crate::desc::Prim = Self::DESC.prim;
            }

            impl $crate::view::Scalar for $E {
                #[inline]
                fn read_le(bytes: &[u8]) -> Option<Self> {
                    <$P as $crate::view::Scalar>::read_le(bytes).map(Self)
                }

                fn to_number(self) -> $crate::desc::Number {
                    self.number()
                }
            }
        )*

        $( $(
            $crate::__with_serde! {
                number
                $(#[$sm])*
                #[doc = concat!("\n\n`", stringify!($ST), "`.")]
                #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
                pub struct $ST {
                    /// The only field.
                    pub $sf: $SP,
                }
            }

            impl $ST {
                /// The declaration.
                pub const DESC: &'static $crate::desc::StructDesc = &desc::$ST;
            }

            impl $crate::desc::Primitive for $ST {
                const PRIM: $crate::desc::Prim = Self::DESC.prim;
                const STRUCT: Option<&'static $crate::desc::StructDesc> = Some(Self::DESC);
            }

            impl $crate::view::Scalar for $ST {
                #[inline]
                fn read_le(bytes: &[u8]) -> Option<Self> {
                    <$SP as $crate::view::Scalar>::read_le(bytes).map(|$sf| Self { $sf })
                }

                fn to_number(self) -> $crate::desc::Number {
                    self.$sf.to_number()
                }
            }
        )* )?

        /// The tags of the unions' members, by their names.
        #[allow(non_upper_case_globals, dead_code, reason = "upstream's names")]
        pub mod tag {
            $( $(
                $(#[$mm])*
                #[doc = concat!("The tag of `", stringify!($M), "`.")]
                pub const $M: u8 = $tag;
            )* )*
        }

        /// Views of proven tables. They are `Copy`, and reading them cannot fail.
        #[allow(unused_imports, reason = "a schema of enums has no tables")]
        pub mod view {
            use super::*;
            // A trait by another name: a table may have its.
            use $crate::view::Table as _;

            $(
                $(#[$um])*
                #[doc = concat!("\n\n`", stringify!($U), "`.")]
                #[derive(Clone, Copy, Debug)]
                pub enum $U<'a> {
                    $( $(#[$mm])* #[doc = concat!("\n\nTag ", stringify!($tag), ".")] $M(
                        $crate::view::declare::member_view!('a, $M $($MT)?)
                    ), )*
                    /// An unknown tag. Its table cannot be read.
                    Unknown(u8),
                }
            )*
            $(
                $(#[$tm])*
                #[doc = concat!("\n\n`", stringify!($T), "`.")]
                #[derive(Clone, Copy)]
                pub struct $T<'a>($crate::view::Raw<'a>);

                impl<'a> $T<'a> { $(
                    $(#[$fm])*
                    #[doc = concat!("\n\nSlot ", stringify!($slot), ".")]
                    $( #[doc = concat!("Since release ", stringify!($since), ".")] )?
                    #[inline]
                    $( pub fn $f(self) -> Option<$crate::view::declare::target!('a, $R)> {
                        $crate::view::declare::read_target!(self.0, $slot, $R)
                    } )?
                    $( pub fn $f(self) -> Option<$crate::view::Vector<'a, $SV>> { self.0.vector($slot) } )?
                    $( pub fn $f(self) -> Option<$crate::view::declare::list!('a, $RV)> {
                        $crate::view::declare::read_list!(self.0, $slot, $RV)
                    } )?
                    $( pub fn $f(self) -> Option<$N<'a>> { self.0.target($slot).map($N) } )?
                    $( pub fn $f(self) -> Option<$O> { self.0.scalar($slot) } )?
                    $( pub fn $f(self) -> Option<$FU<'a>> { self.0.member(Self::DESC).map($FU::of) } )?
                    $( pub fn $f(self) -> $S { self.0.scalar($slot).unwrap_or($default) } )?
                )* }

                impl<'a> $crate::view::Table<'a> for $T<'a> {
                    const DESC: &'static $crate::desc::TableDesc = &desc::$T;

                    #[inline]
                    fn from_raw(raw: $crate::view::Raw<'a>, _: $crate::view::Proof) -> Self {
                        Self(raw)
                    }

                    #[inline]
                    fn raw(self) -> $crate::view::Raw<'a> {
                        self.0
                    }
                }

                impl core::fmt::Debug for $T<'_> {
                    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        f.debug_struct(stringify!($T))
                            $( .field(stringify!($f), &self.$f()) )*
                            .finish()
                    }
                }
            )*
            $(
                impl<'a> $U<'a> {
                    /// Returns the member for a tag and its table.
                    #[inline(always)]
                    pub fn of((tag, raw): (u8, $crate::view::Raw<'a>)) -> Self {
                        match tag {
                            $( $tag => Self::$M(
                                $crate::view::declare::member_of!(raw, $M $($MT)?)
                            ), )*
                            unknown => Self::Unknown(unknown),
                        }
                    }

                    /// Returns the tag of the member.
                    #[inline]
                    pub fn tag(self) -> u8 {
                        match self {
                            $( Self::$M(_) => $tag, )*
                            Self::Unknown(tag) => tag,
                        }
                    }

                    /// Returns upstream's name of the member; `None` for an unknown tag.
                    pub fn name(self) -> Option<&'static str> {
                        match self {
                            $( Self::$M(_) => Some(stringify!($M)), )*
                            Self::Unknown(_) => None,
                        }
                    }
                }
            )*
        }
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __view_target {
    ($a:lifetime, str) => { &$a str };
    ($a:lifetime, $R:ident) => { $R<$a> };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __view_list {
    ($a:lifetime, str) => { $crate::view::Strings<$a> };
    ($a:lifetime, $R:ident) => { $crate::view::List<$a, $R<$a>> };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __view_member_view {
    ($a:lifetime, $M:ident) => { $M<$a> };
    ($a:lifetime, $M:ident $T:ident) => { $T<$a> };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __view_member_of {
    ($raw:expr, $M:ident) => {
        $M($raw)
    };
    ($raw:expr, $M:ident $T:ident) => {
        $T($raw)
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __view_read_target {
    ($raw:expr, $slot:literal, str) => {
        $raw.str($slot)
    };
    ($raw:expr, $slot:literal, $R:ident) => {
        $raw.target($slot).map($R)
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __view_read_list {
    ($raw:expr, $slot:literal, str) => {
        $raw.strings($slot)
    };
    ($raw:expr, $slot:literal, $R:ident) => {
        $raw.list($slot)
    };
}

pub use crate::{
    __view_list as list, __view_member_of as member_of, __view_member_view as member_view,
    __view_read_list as read_list, __view_read_target as read_target, __view_target as target,
    __view_view as view,
};
