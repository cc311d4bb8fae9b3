//! What a method may take of memory.

/// A limit for the bytes of a pool, or of all arenas of a method together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What is limited.
    pub of: Limited,
    /// The largest number of bytes allowed.
    pub bytes: u64,
}

/// What a [`Budget`] limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// All arenas together, and the scratch memory of delegates.
    All,
    /// The arena with this id.
    Arena(u32),
    /// The method allocator.
    Method,
    /// The temporary allocator.
    Temporary,
}

impl Budget {
    /// Returns by how many bytes `needed` exceeds the smallest of the `budgets` of `limited`. Returns `None` if
    /// `needed` is within them.
    #[must_use]
    pub fn over(budgets: &[Self], limited: Limited, needed: u64) -> Option<u64> {
        let of = budgets.iter().filter(|budget| budget.of == limited);
        let least = of.map(|budget| budget.bytes).min()?;
        needed.checked_sub(least).filter(|&over| over > 0)
    }
}
