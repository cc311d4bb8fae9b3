//! Numbers of bytes as arguments: `64MiB`, `1.5 GB`.

use core::str::FromStr;

/// A number of bytes as a command-line argument, with an optional unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteSize(pub(super) u64);

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
        let unit = text.strip_prefix(number).unwrap_or_default().trim();
        let lower = unit.to_ascii_lowercase();
        let (base, letter) = match lower.strip_suffix('b').unwrap_or(&lower) {
            letter if letter.ends_with('i') => (1024u128, letter.trim_end_matches('i')),
            letter => (1000, letter),
        };
        let power = match (letter, base) {
            ("", 1000) => 0,
            ("k", _) => 1,
            ("m", _) => 2,
            ("g", _) => 3,
            ("t", _) => 4,
            _ => {
                return Err(format!("unknown unit {unit:?}: expected kB, MB, GB, KiB, MiB or GiB"));
            }
        };
        let size = scaled(number, base.saturating_pow(power));
        size.map(Self).ok_or_else(|| format!("invalid number of bytes {number:?}"))
    }
}

/// Multiplies a decimal number by `unit` bytes, rounding down.
fn scaled(number: &str, unit: u128) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| -> Option<u128> {
        let plain = (1..=18).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit());
        plain.then(|| text.parse().ok()).flatten()
    };
    let ten = 10u128.checked_pow(u32::try_from(part.len()).ok()?)?;
    let part = digits(part)?.checked_mul(unit)?.checked_div(ten)?;
    u64::try_from(digits(whole)?.checked_mul(unit)?.checked_add(part)?).ok()
}

#[cfg(test)]
mod tests {
    use super::ByteSize;

    #[test]
    fn sizes_have_units_of_a_thousand_or_of_1024() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("512B", 512),
            ("8k", 8_000),
            ("8 kB", 8_000),
            ("8KiB", 8_192),
            ("1.5MB", 1_500_000),
            ("1.5MiB", 1_572_864),
            ("2M", 2_000_000),
            ("2Mi", 2_097_152),
            ("1G", 1_000_000_000),
            ("1GiB", 1 << 30),
            ("16TiB", 1 << 44),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
        for text in ["", "MB", "-1", "1.", ".5", "1..5", "8XB", "8ib", "8i", "8MBB", "1e3", "+1"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
        assert!("99999999999999999999".parse::<ByteSize>().is_err());
        assert!("99999999999TB".parse::<ByteSize>().is_err());
    }
}
