//! Patterns of paths: `*` and `?` within a name, `**` for any number of folders.

/// Returns whether a root is a pattern.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Splits a pattern into the folder before its first wildcard, and the rest.
pub(super) fn split(pattern: &str) -> (&str, &str) {
    let wild = pattern.find(['*', '?']).unwrap_or(pattern.len());
    let (folder, _) = pattern.split_at(wild);
    match folder.rfind('/') {
        None => ("", pattern),
        Some(slash) => pattern.split_at(slash.saturating_add(1)),
    }
}

/// Returns whether a relative path, with `/` between its names, matches a pattern. The time is
/// proportional to the product of their lengths.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let names: Vec<_> = path.split('/').collect();
    // For each `n`, whether the parts of the pattern so far match the first `n` names.
    let mut reached = vec![false; names.len().saturating_add(1)];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for part in pattern.split('/') {
        let mut next = vec![false; reached.len()];
        let mut before = false;
        for (at, slot) in next.iter_mut().enumerate() {
            let here = reached.get(at).copied().unwrap_or_default();
            let last = at.checked_sub(1);
            *slot = match part == "**" {
                true => here || before,
                false => last.is_some_and(|last| {
                    let was = reached.get(last).copied().unwrap_or_default();
                    was && names.get(last).is_some_and(|name| name_matches(part, name))
                }),
            };
            before = *slot;
        }
        reached = next;
    }
    reached.last().copied().unwrap_or_default()
}

/// Returns whether a name matches a pattern with `*` and `?`. Backtracking to the last `*` is
/// enough.
fn name_matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<_>, Vec<_>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut seen) = (0usize, 0usize);
    let mut star: Option<(usize, usize)> = None;
    while seen < name.len() {
        match (pattern.get(at), name.get(seen)) {
            (Some('*'), _) => {
                star = Some((at, seen));
                at = at.saturating_add(1);
            }
            (Some(&p), Some(&c)) if p == '?' || p == c => {
                at = at.saturating_add(1);
                seen = seen.saturating_add(1);
            }
            _ => match star {
                None => return false,
                Some((begin, taken)) => {
                    let taken = taken.saturating_add(1);
                    star = Some((begin, taken));
                    at = begin.saturating_add(1);
                    seen = taken;
                }
            },
        }
    }
    pattern.iter().skip(at).all(|&p| p == '*')
}

#[cfg(test)]
mod tests {
    use super::{matches, split};

    #[test]
    fn wildcards_stay_within_a_name_and_two_stars_do_not() {
        for (pattern, path, is_match) in [
            ("*.pte", "a.pte", true),
            ("*.pte", "b/a.pte", false),
            ("**/*.pte", "a.pte", true),
            ("**/*.pte", "x/y/a.pte", true),
            ("**/*.pte", "x/y/a.ptd", false),
            ("x/**", "x/y/z", true),
            ("x/**/z", "x/z", true),
            ("x/**/z", "y/z", false),
            ("?.pte", "ab.pte", false),
            ("a*b*c", "a--b--b-c", true),
            ("a*b*c", "a--b--b-d", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, path), is_match, "{pattern} {path}");
        }
        let many = "*a".repeat(40);
        assert!(!matches(&many, &"a".repeat(39)));
    }

    #[test]
    fn a_pattern_is_searched_from_its_last_fixed_folder() {
        assert_eq!(split("models/v1/*/x?.pte"), ("models/v1/", "*/x?.pte"));
        assert_eq!(split("*.pte"), ("", "*.pte"));
        assert_eq!(split("/*"), ("/", "*"));
    }
}
