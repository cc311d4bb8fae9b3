//! Parses a release of the runtime, such as `0.7` or `1.3.1`.

use pte_core::release::{NEWEST_VERSION, Release};

pte_flat::errors! {
    /// The reason why a text is no release of the runtime.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum ReleaseError {
        /// The text is not of the form `1.5` or `1.3.1`.
        Syntax => "expected a release such as 0.7 or {NEWEST_VERSION}";
        /// The number is before the first release, 0.1.
        BeforeFirst => "the first release is 0.1";
        /// The number is between the releases 0.7 and 1.0.
        NoSuchRelease => "no such release: 0.7 was followed by 1.0";
    }
}

/// Parses a release such as `0.7` or `1.3.1`. The third number is ignored.
///
/// ```
/// use pte::check::{ReleaseError, parse_release};
///
/// assert_eq!(parse_release("1.3.1"), Ok((1, 3)));
/// assert_eq!(parse_release("0.8"), Err(ReleaseError::NoSuchRelease));
/// ```
///
/// # Errors
///
/// [`ReleaseError`] if the text is not a release, or names a release that does not exist.
pub fn parse_release(text: &str) -> Result<Release, ReleaseError> {
    let number = |part: &str| -> Option<u32> {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse().ok()).flatten()
    };
    let mut parts = text.split('.').map(number);
    let (Some(Some(major)), Some(Some(minor))) = (parts.next(), parts.next()) else {
        return Err(ReleaseError::Syntax);
    };
    if matches!(parts.next(), Some(None)) || parts.next().is_some() {
        return Err(ReleaseError::Syntax);
    }
    match (major, minor) {
        (0, 0) => Err(ReleaseError::BeforeFirst),
        (0, 8..) => Err(ReleaseError::NoSuchRelease),
        release => Ok(release),
    }
}

#[cfg(test)]
mod tests {
    use super::{ReleaseError, parse_release};

    #[test]
    fn releases_are_two_or_three_numbers() {
        for (text, release) in [
            ("0.1", Ok((0, 1))),
            ("0.7", Ok((0, 7))),
            ("1.3.1", Ok((1, 3))),
            ("9.0", Ok((9, 0))),
            ("0.0", Err(ReleaseError::BeforeFirst)),
            ("0.8", Err(ReleaseError::NoSuchRelease)),
        ] {
            assert_eq!(parse_release(text), release, "{text}");
        }
        for text in ["", "1", "1.", ".5", "1.5.", "1.5.x", "1.3.1.0", "+1.5", "1.99999999999"] {
            assert_eq!(parse_release(text), Err(ReleaseError::Syntax), "{text}");
        }
    }
}
