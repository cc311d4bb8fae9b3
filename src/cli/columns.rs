//! The width of the terminal, and paragraphs of that width.

use std::env;

/// Returns the width of a picture in columns, from 40 to 240. The width is `COLUMNS`, or else the
/// terminal's width, or else 80.
pub(super) fn columns() -> usize {
    known().unwrap_or(80).clamp(40, 240)
}

/// Breaks a paragraph into lines that fit the terminal. All lines but the first begin with `indent`
/// spaces. If the width is not known, the paragraph stays one line, for other programs.
pub(super) fn paragraph(text: &str, indent: usize) -> String {
    let Some(columns) = known() else { return text.into() };
    filled(text, indent, columns.clamp(40, 240))
}

fn filled(text: &str, indent: usize, columns: usize) -> String {
    let (mut filled, mut column) = (String::new(), indent);
    for word in text.split(' ') {
        let len = word.chars().count();
        if column > indent && column.saturating_add(len).saturating_add(1) > columns {
            filled.push('\n');
            filled.push_str(&" ".repeat(indent));
            column = indent;
        } else if column > indent {
            filled.push(' ');
            column = column.saturating_add(1);
        }
        filled.push_str(word);
        column = column.saturating_add(len);
    }
    filled
}

fn known() -> Option<usize> {
    let named = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    named.filter(|&columns| columns > 0).or_else(of_terminal)
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

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn paragraphs_are_filled_to_the_width() {
        assert_eq!(filled("one two three", 2, 9), "one two\n  three");
        assert_eq!(filled("one", 2, 4), "one");
        assert_eq!(filled("a-word-of-its-own b", 4, 10), "a-word-of-its-own\n    b");
    }
}
