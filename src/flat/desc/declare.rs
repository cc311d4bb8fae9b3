//! `desc!`: a declaration as data.

/// Emits the `desc` module of a [`schema!`](crate::schema!) declaration.
#[macro_export]
#[doc(hidden)]
macro_rules! __desc {
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
        /// The declarations of the schema as static values.
        #[allow(
            dead_code,
            non_upper_case_globals,
            unused_imports,
            reason = "upstream's names; a schema of enums alone has no tables"
        )]
        pub mod desc {
            use super::*;
            use $crate::desc::{EnumDesc, EnumValue, FieldDesc, Kind, Member, Number, Prim};
            use $crate::desc::{ScalarDesc, Schema, StructDesc, TableDesc, UnionDesc};

            $(
                /// The whole schema.
                pub static SCHEMA: Schema = Schema {
                    root: &$Root,
                    identifier: *$identifier,
                    extension: $extension,
                    namespace: $namespace,
                    structs: STRUCTS,
                    unions: UNIONS,
                    tables: TABLES,
                };
            )?
            const STRUCTS: &[&StructDesc] = &[$( $( &$ST ),* )?];
            const UNIONS: &[&UnionDesc] = &[$( &$U ),*];
            const TABLES: &[&TableDesc] = &[$( &$T ),*];
            $(
                $(#[$em])*
                #[doc = concat!("\n\n`", stringify!($E), "`.")]
                pub static $E: EnumDesc = EnumDesc {
                    name: stringify!($E),
                    prim: <$P as $crate::desc::Primitive>::PRIM,
                    values: &[$( EnumValue {
                        number: $number,
                        name: stringify!($V),
                        since: $crate::desc::declare::since!($($vsince)?),
                    } ),*],
                };
            )*
            $( $(
                $(#[$sm])*
                #[doc = concat!("\n\n`", stringify!($ST), "`.")]
                pub static $ST: StructDesc = StructDesc {
                    name: stringify!($ST),
                    field: stringify!($sf),
                    prim: <$SP as $crate::desc::Primitive>::PRIM,
                };
            )* )?
            $(
                $(#[$um])*
                #[doc = concat!("\n\n`", stringify!($U), "`.")]
                pub static $U: UnionDesc = UnionDesc {
                    name: stringify!($U),
                    members: &[$( Member {
                        name: stringify!($M),
                        table: &$crate::desc::declare::member!($M $($MT)?),
                    } ),*],
                };
                const _: () = $crate::desc::declare::assert_tags(&[$( $tag ),*]);
            )*
            $(
                $(#[$tm])*
                #[doc = concat!("\n\n`", stringify!($T), "`.")]
                pub static $T: TableDesc = $crate::table!(
                    stringify!($T),
                    &[$( FieldDesc {
                        slot: $slot,
                        name: $crate::desc::declare::plain(stringify!($f)),
                        kind: {
                            $( $crate::desc::declare::target_kind!($R) )?
                            $( Kind::Scalars {
                                prim: <$SV as $crate::desc::Primitive>::PRIM,
                                align: 0 $( + $align )?,
                                of: <$SV as $crate::desc::Primitive>::STRUCT,
                            } )?
                            $( $crate::desc::declare::list_kind!($RV) )?
                            $( Kind::Table(&$N) )?
                            $( Kind::Union(&$FU) )?
                            $( $crate::desc::declare::optional_kind!($O) )?
                            $( $crate::desc::declare::scalar_kind!($S, $default) )?
                        },
                        required: $crate::desc::declare::required!($($required)?),
                        recursive: $crate::desc::declare::recursive!($($N)?),
                        since: $crate::desc::declare::since!($($since)?),
                    } ),*],
                    depth::$T,
                );
            )*

            mod depth {
                use $crate::desc::declare::deepest;
                $( pub(super) const $U: u32 = deepest(&[$(
                    $crate::desc::declare::member!($M $($MT)?)
                ),*]); )*
                $( pub(super) const $T: u32 = 1 + deepest(&[$(
                    $( $crate::desc::declare::target_depth!($R), )?
                    $( $crate::desc::declare::target_depth!($RV), )?
                    $( $FU, )?
                )*]); )*
            }
        }
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __scalar_kind {
    (@ $P:ident, $default:expr) => {
        Kind::Scalar(ScalarDesc {
            prim: <$P as $crate::desc::Primitive>::PRIM,
            default: $default,
            names: None,
            of: None,
            optional: false,
        })
    };
    (bool, $default:expr) => { $crate::desc::declare::scalar_kind!(@ bool, Number::Bool($default)) };
    (f32, $default:expr) => { $crate::desc::declare::scalar_kind!(@ f32, Number::Single($default)) };
    (f64, $default:expr) => { $crate::desc::declare::scalar_kind!(@ f64, Number::Float($default)) };
    (i8, $default:expr) => { $crate::desc::declare::scalar_kind!(@ i8, Number::Int($default)) };
    (u8, $default:expr) => { $crate::desc::declare::scalar_kind!(@ u8, Number::Int($default)) };
    (i16, $default:expr) => { $crate::desc::declare::scalar_kind!(@ i16, Number::Int($default)) };
    (u16, $default:expr) => { $crate::desc::declare::scalar_kind!(@ u16, Number::Int($default)) };
    (i32, $default:expr) => { $crate::desc::declare::scalar_kind!(@ i32, Number::Int($default)) };
    (u32, $default:expr) => { $crate::desc::declare::scalar_kind!(@ u32, Number::Int($default)) };
    (i64, $default:expr) => { $crate::desc::declare::scalar_kind!(@ i64, Number::Int($default)) };
    (u64, $default:expr) => { $crate::desc::declare::scalar_kind!(@ u64, Number::Int($default)) };
    ($E:ident, $default:expr) => {
        Kind::Scalar(ScalarDesc {
            prim: <super::$E as $crate::desc::Primitive>::PRIM,
            default: <super::$E>::number($default),
            names: Some(<super::$E>::DESC),
            of: None,
            optional: false,
        })
    };
}

/// A number that may be absent: one with the default `null`, or a struct.
#[macro_export]
#[doc(hidden)]
macro_rules! __optional_kind {
    ($O:ident) => {
        Kind::Scalar(ScalarDesc {
            prim: <$O as $crate::desc::Primitive>::PRIM,
            default: <$O as $crate::desc::Primitive>::PRIM.zero(),
            names: None,
            of: <$O as $crate::desc::Primitive>::STRUCT,
            optional: true,
        })
    };
}

/// The table of a union's member, named like the member unless the declaration names another.
#[macro_export]
#[doc(hidden)]
macro_rules! __member {
    ($M:ident) => {
        $M
    };
    ($M:ident $T:ident) => {
        $T
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __target_kind {
    (str) => {
        Kind::Str
    };
    ($R:ident) => {
        Kind::Table(&$R)
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __list_kind {
    (str) => {
        Kind::Strs
    };
    ($R:ident) => {
        Kind::Tables(&$R)
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __required {
    () => {
        false
    };
    (required) => {
        true
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __recursive {
    () => {
        false
    };
    ($N:ident) => {
        true
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __target_depth {
    (str) => {
        0
    };
    ($R:ident) => {
        $R
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! __since {
    () => {
        None
    };
    ($since:literal) => {
        Some(stringify!($since))
    };
}

pub use crate::{
    __desc as desc, __list_kind as list_kind, __member as member, __optional_kind as optional_kind,
    __recursive as recursive, __required as required, __scalar_kind as scalar_kind,
    __since as since, __target_depth as target_depth, __target_kind as target_kind,
};

/// Returns the name of a field without the `r#` prefix of Rust keywords.
pub const fn plain(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', plain @ ..] => match core::str::from_utf8(plain) {
            Ok(plain) => plain,
            Err(_) => name,
        },
        _ => name,
    }
}

/// Returns the largest of `depths`; 0 if there are none.
pub const fn deepest(depths: &[u32]) -> u32 {
    let (mut deepest, mut rest) = (0, depths);
    while let [first, tail @ ..] = rest {
        if *first > deepest {
            deepest = *first;
        }
        rest = tail;
    }
    deepest
}

/// Asserts that the tags of a union are 1, 2, 3 …, since members are found by index.
pub const fn assert_tags(tags: &[u8]) {
    let (mut rest, mut want) = (tags, 1u8);
    while let [tag, tail @ ..] = rest {
        assert!(*tag == want, "a union's tags are 1, 2, 3 …");
        want = want.saturating_add(1);
        rest = tail;
    }
}
