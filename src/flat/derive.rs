//! The derived traits of a schema's types. They follow the features of this crate: a `cfg` in
//! [`schema!`](crate::schema!) would ask for features of the crate that declares the schema.

/// Emits a `number`, a `union` or a `table` with `serde`'s traits, if the feature is on.
#[cfg(feature = "model-serde")]
#[macro_export]
#[doc(hidden)]
macro_rules! __with_serde {
    (table $($item:tt)*) => {
        $crate::__with_arbitrary! {
            table
            #[derive($crate::serde::Serialize, $crate::serde::Deserialize)]
            #[serde(crate = "pte_flat::serde", default, deny_unknown_fields)]
            $($item)*
        }
    };
    ($kind:ident $($item:tt)*) => {
        $crate::__with_arbitrary! {
            $kind
            #[derive($crate::serde::Serialize, $crate::serde::Deserialize)]
            #[serde(crate = "pte_flat::serde")]
            $($item)*
        }
    };
}

#[cfg(not(feature = "model-serde"))]
#[macro_export]
#[doc(hidden)]
macro_rules! __with_serde {
    ($($item:tt)*) => { $crate::__with_arbitrary! { $($item)* } };
}

/// Emits the same item with `arbitrary`'s trait, if the feature is on. A union also gets its last
/// member, which holds an unknown tag.
#[cfg(feature = "arbitrary")]
#[macro_export]
#[doc(hidden)]
macro_rules! __with_arbitrary {
    (union $(#[$meta:meta])* pub enum $U:ident { $($members:tt)* }) => {
        $(#[$meta])*
        #[derive(arbitrary::Arbitrary)]
        pub enum $U {
            $($members)*
            /// An unknown tag, without its table.
            Unknown(
                #[arbitrary(with = |random: &mut arbitrary::Unstructured<'_>| {
                    $crate::model::unknown_tag(&desc::$U, random)
                })]
                u8,
            ),
        }
    };
    ($kind:ident $($item:tt)*) => { #[derive(arbitrary::Arbitrary)] $($item)* };
}

#[cfg(not(feature = "arbitrary"))]
#[macro_export]
#[doc(hidden)]
macro_rules! __with_arbitrary {
    (union $(#[$meta:meta])* pub enum $U:ident { $($members:tt)* }) => {
        $(#[$meta])*
        pub enum $U {
            $($members)*
            /// An unknown tag, without its table.
            Unknown(u8),
        }
    };
    ($kind:ident $($item:tt)*) => { $($item)* };
}
