//! The width of the terminal.

use std::env;

/// Returns the number of columns that a picture may take: `COLUMNS`, else the terminal's, else 80. From
/// 40 to 240.
pub(super) fn columns() -> usize {
    let named = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    named.filter(|&columns| columns > 0).or_else(of_terminal).unwrap_or(80).clamp(40, 240)
}

#[cfg(target_os = "linux")]
fn of_terminal() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(size.ws_col.into()).filter(|&columns| columns > 0)
}

#[cfg(not(target_os = "linux"))]
fn of_terminal() -> Option<usize> {
    None
}
