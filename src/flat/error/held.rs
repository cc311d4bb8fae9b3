//! An error on the heap: [`Held`] is one machine word, and [`Path`] grows.

use alloc::vec::Vec;

use super::PathComponent;

pub(super) use alloc::boxed::Box as Held;

pub(super) type Path = Vec<PathComponent>;
