//! Decides when a failed request is repeated.

use core::hash::{BuildHasher, Hasher};
use core::time::Duration;
use std::hash::RandomState;

/// Returns how long to wait before repetition `tries`, counted from 1: at most [`LONGEST`].
///
/// This is the time that the server asks for, and up to 255 ms more. If the server asks for none,
/// it is 0.5 s, doubled at each repetition, and shortened by up to half. `jitter` decides how much.
pub(super) fn delay(tries: u32, requested: Option<u64>, jitter: u8) -> Duration {
    if let Some(seconds) = requested {
        // The extra time keeps clients from returning all at the same moment.
        let more = Duration::from_millis(u64::from(jitter));
        return Duration::from_secs(seconds).saturating_add(more).min(LONGEST);
    }
    let full = FIRST.saturating_mul(1u32.checked_shl(tries.saturating_sub(1)).unwrap_or(u32::MAX));
    let full = full.min(LONGEST);
    let less = full.saturating_mul(jitter.into()).checked_div(512).unwrap_or_default();
    full.saturating_sub(less)
}

/// Returns the number of seconds that a server asks to wait, by `Retry-After` or by the hub's
/// `ratelimit` (`"api";r=0;t=55`). Dates are ignored.
pub(super) fn requested_delay(retry_after: Option<&str>, ratelimit: Option<&str>) -> Option<u64> {
    let seconds = retry_after.and_then(|text| text.trim().parse().ok());
    let reset = || {
        let mut fields = ratelimit?.split(';').map(str::trim);
        let is_spent = fields.clone().any(|field| field == "r=0");
        let reset = fields.find_map(|field| field.strip_prefix("t=")?.parse().ok());
        reset.filter(|_| is_spent)
    };
    seconds.or_else(reset)
}

/// Returns a random byte.
pub(super) fn jitter() -> u8 {
    let [first, ..] = RandomState::new().build_hasher().finish().to_le_bytes();
    first
}

const FIRST: Duration = Duration::from_millis(500);

/// The longest wait.
pub(super) const LONGEST: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::{LONGEST, delay, requested_delay};

    #[test]
    fn the_server_decides_how_long_to_wait() {
        assert_eq!(requested_delay(Some(" 7 "), None), Some(7));
        assert_eq!(requested_delay(None, Some("\"api\";r=0;t=55")), Some(55));
        assert_eq!(requested_delay(None, Some("\"api\";r=9;t=55")), None, "requests are left");
        assert_eq!(requested_delay(Some("3"), Some("\"api\";r=0;t=55")), Some(3));
        assert_eq!(requested_delay(Some("Fri, 31 Dec 1999"), None), None);
        assert_eq!(requested_delay(Some("-1"), Some("t=x;r=0")), None);
        assert_eq!(delay(1, Some(7), 0), Duration::from_secs(7));
        assert_eq!(delay(1, Some(u64::MAX), 255), LONGEST);
    }

    #[test]
    fn waits_double_and_have_a_bound() {
        assert_eq!(delay(1, None, 0), Duration::from_millis(500));
        assert_eq!(delay(3, None, 0), Duration::from_secs(2));
        assert!(delay(3, None, 255) >= Duration::from_secs(1));
        assert_eq!(delay(u32::MAX, None, 0), LONGEST);
    }
}
