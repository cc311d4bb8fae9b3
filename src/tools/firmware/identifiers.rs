//! Names as identifiers of C, C++, Rust and assemblers.

use alloc::collections::BTreeMap;
use alloc::string::String;

use pte_flat::cost;

/// Makes an identifier of each name that no earlier name has.
#[derive(Clone, Debug, Default)]
pub struct Identifiers {
    /// The identifiers that are in use, each with the number that the next equal one gets.
    used: BTreeMap<String, u64>,
}

impl Identifiers {
    /// Returns the [`identifier`] of a name in capitals. If an earlier name has it, a number is appended.
    ///
    /// ```
    /// let mut identifiers = pte::firmware::Identifiers::default();
    /// assert_eq!(identifiers.unique("forward"), "FORWARD");
    /// assert_eq!(identifiers.unique("Forward"), "FORWARD_2");
    /// assert_eq!(identifiers.unique("forward_2"), "FORWARD_2_2");
    /// assert_eq!(identifiers.unique("*/ int x;"), "INT_X");
    /// ```
    pub fn unique(&mut self, name: &str) -> String {
        let plain = identifier(name).unwrap_or_else(|| "unnamed".into()).to_ascii_uppercase();
        cost::look_up(&plain, self.used.len());
        let Some(&next) = self.used.get(&plain) else {
            self.used.insert(plain.clone(), FIRST_NUMBER);
            return plain;
        };
        // A candidate is taken only by one other name, so all calls together take n log n steps.
        let mut number = next;
        loop {
            let candidate = format!("{plain}_{number}");
            number = number.saturating_add(1);
            cost::look_up(&candidate, self.used.len());
            if !self.used.contains_key(&candidate) {
                self.used.insert(candidate.clone(), FIRST_NUMBER);
                self.used.insert(plain, number);
                return candidate;
            }
        }
    }
}

/// Returns the ASCII letters and digits of a name, with one underscore between them in place of other characters. At
/// most 48 are kept. `None` if nothing is left.
#[must_use]
pub fn identifier(name: &str) -> Option<String> {
    let mut text = String::new();
    // Characters after the limit are not looked at: a name may be long.
    for c in name.chars().take(MAX_CHARACTERS) {
        if c.is_ascii_alphanumeric() {
            text.push(c);
        } else if !text.is_empty() && !text.ends_with('_') {
            text.push('_');
        }
    }
    text.truncate(text.trim_end_matches('_').len());
    (!text.is_empty()).then_some(text)
}

/// The number of the second of equal identifiers.
const FIRST_NUMBER: u64 = 2;

/// The largest number of characters of a name that an identifier is made of.
const MAX_CHARACTERS: usize = 48;
