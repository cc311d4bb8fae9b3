//! The memory that each verb may need.

/// The maximum number of bytes of memory for each byte of the FlatBuffer (for `build`: of the
/// JSON). Before a verb begins, the command checks that this memory is available. The benchmark
/// `hostile` compares its measurements with these factors.
pub const FACTORS: &[(&str, u64)] = &[
    ("info", 12),
    ("check", 12),
    ("dump", 6),
    ("dump --container", 24),
    ("build", 36),
    ("tensors", 12),
    ("size", 24),
    ("memory", 24),
    ("profile", 24),
    ("map", 24),
    ("ops", 24),
    ("graph", 16),
    ("diff", 24),
    ("extract", 24),
    ("edit", 24),
    ("convert", 36),
];

/// Returns the memory factor of a verb.
pub fn factor(verb: &str) -> u64 {
    let known = FACTORS.iter().find(|(name, _)| *name == verb);
    known.map_or(1, |&(_, factor)| factor)
}
