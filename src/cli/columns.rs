//! The width of the terminal, and paragraphs of that width.

use std::env;

/// Returns the width of a picture in columns, from 40 to 240. The width is `COLUMNS`, or else the
/// terminal's width, or else 80.
pub(super) fn columns() -> usize {
    known().unwrap_or(80).clamp(40, 240)
}

/// Breaks a text as [`Width::paragraph`] does.
pub(super) fn paragraph(text: &str, indent: usize) -> String {
    Width::of_terminal().paragraph(text, indent)
}

/// The width of the terminal in columns, if it is known. It is asked for once, for many texts.
#[derive(Clone, Copy)]
pub(super) struct Width(Option<usize>);

impl Width {
    pub(super) fn of_terminal() -> Self {
        Self(known().map(|columns| columns.clamp(40, 240)))
    }

    /// Breaks a text, which begins in column `indent`, into lines that fit the terminal. All lines but
    /// the first begin with `indent` spaces, or with half of the width if that is less. If the width is
    /// not known, the text stays one line, for other programs.
    pub(super) fn paragraph(self, text: &str, indent: usize) -> String {
        self.0.map_or_else(|| text.into(), |columns| filled(text, indent, columns))
    }
}

fn filled(text: &str, begin: usize, columns: usize) -> String {
    let indent = begin.min(columns.div_euclid(2));
    let (mut filled, mut column, mut is_first) = (String::new(), begin, true);
    for word in text.split(' ') {
        let len = width(word);
        let end = column.saturating_add(len).saturating_add(1);
        if !is_first && end > columns && len > 0 && column > indent {
            filled.truncate(filled.trim_end_matches(' ').len());
            filled.push('\n');
            filled.push_str(&" ".repeat(indent));
            column = indent;
        } else if !is_first {
            filled.push(' ');
            column = column.saturating_add(1);
        }
        filled.push_str(word);
        column = column.saturating_add(len);
        is_first = false;
    }
    filled
}

/// Returns the columns that a word takes, without the escape sequences of its styles.
fn width(word: &str) -> usize {
    let mut parts = word.split('\x1b');
    let first = parts.next().map_or(0, |part| part.chars().count());
    let visible = |part: &str| part.split_once('m').map_or(0, |(_, rest)| rest.chars().count());
    parts.map(visible).fold(first, usize::saturating_add)
}

fn known() -> Option<usize> {
    let named = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    #[cfg(any(unix, windows))]
    let of_terminal = || Some(terminal_size::terminal_size_of(std::io::stdout())?.0.0.into());
    #[cfg(not(any(unix, windows)))]
    let of_terminal = || None;
    named.filter(|&columns| columns > 0).or_else(of_terminal)
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

    #[test]
    fn columns_and_styles_of_a_line_are_kept() {
        assert_eq!(filled("  a  bc d", 0, 6), "  a\nbc d");
        assert_eq!(filled("\x1b[2mone two\x1b[0m", 0, 7), "\x1b[2mone two\x1b[0m");
        // A column far right leaves no room: the next lines begin in the middle.
        assert_eq!(filled("name one two", 8, 10), "name\n     one\n     two");
    }
}
