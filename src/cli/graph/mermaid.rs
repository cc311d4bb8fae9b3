//! The picture for Mermaid, which many pages draw from text.

use pte::quoted::{Untrusted, UntrustedString};

use super::{Draw, Edge, Node};
use crate::cli::output::Output;
use crate::cli::problem::Problem;
use crate::cli::text;

pub(super) struct Mermaid<'o>(pub(super) &'o mut Output);

impl Draw for Mermaid<'_> {
    fn begin(&mut self, _: &UntrustedString) -> Result<(), Problem> {
        self.line("flowchart TD")?;
        self.line("  classDef kernel fill:#dbeafe,stroke:#1e3a8a,color:#000")?;
        self.line("  classDef delegate fill:#fde68a,stroke:#92400e,color:#000")?;
        self.line("  classDef jump fill:#fecaca,stroke:#991b1b,color:#000")?;
        self.line("  classDef stored fill:#e5e7eb,stroke:#374151,color:#000")
    }

    fn method(&mut self, nth: usize, name: Option<Untrusted<'_>>) -> Result<(), Problem> {
        let name = quoted(&[text::name(name.unwrap_or("(no name)".into()))]);
        self.line(&format!("  subgraph m{nth}[{name}]"))
    }

    fn node(&mut self, node: &Node<'_>) -> Result<(), Problem> {
        let (open, close, class) = match node.kind {
            "kernel" => ("[", "]", ":::kernel"),
            "delegate" => ("[", "]", ":::delegate"),
            "jump" => ("{", "}", ":::jump"),
            "input" | "output" | "end" => ("([", "])", ""),
            "constant" | "mutable" | "external" => ("[(", ")]", ":::stored"),
            "value" | "list" => ("([", "])", ":::stored"),
            _ => ("[", "]", ""),
        };
        self.line(&format!("    {}{open}{}{close}{class}", node.id, quoted(&node.lines())))
    }

    fn label(&self, text: String) -> String {
        quoted(&[text::name(text.as_str())])
    }

    fn edge(&mut self, edge: &Edge<'_>) -> Result<(), Problem> {
        let (from, to) = (edge.from, edge.to);
        self.line(&match (edge.kind, edge.text) {
            ("data", Some(text)) => format!("    {from} -->|{text}| {to}"),
            ("jump", _) => format!("    {from} ==>|\"false\"| {to}"),
            _ => format!("    {from} -.-> {to}"),
        })
    }

    fn method_ends(&mut self) -> Result<(), Problem> {
        self.line("  end")
    }

    fn end(&mut self) -> Result<(), Problem> {
        Ok(())
    }
}

impl Mermaid<'_> {
    fn line(&mut self, line: &str) -> Result<(), Problem> {
        self.0.bytes(line.as_bytes())?;
        self.0.bytes(b"\n")
    }
}

/// Returns text in quotes, as an entity each character that could end it or mean something else.
///
/// Between quotes Mermaid still replaces icons (`fa:fa-bell`), reads Markdown, makes links of
/// addresses, and cuts the last `;` of a line with `style`, a colon and a `#`.
fn quoted(lines: &[String]) -> String {
    let mut text = String::from("\"");
    for (nth, line) in lines.iter().enumerate() {
        if nth > 0 {
            text.push_str("<br>");
        }
        for (at, c) in line.char_indices() {
            let (before, rest) = line.split_at_checked(at).unwrap_or_default();
            match is_plain(c, before, rest.get(c.len_utf8()..).unwrap_or_default()) {
                true => text.push(c),
                false => text.push_str(&format!("#{};", u32::from(c))),
            }
        }
    }
    text.push('"');
    text
}

/// Whether a character stands for itself between the parts `before` and `after` of its line.
fn is_plain(c: char, before: &str, after: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | ',' | '/' | '[' | ']' => true,
        // At the beginning of a line these make a list or a block of code.
        '-' | ' ' => !before.is_empty(),
        // Behind a number it makes a list, and `www.` begins an address.
        '.' => {
            let digits = before.bytes().all(|byte| byte.is_ascii_digit());
            !digits && !before.to_ascii_lowercase().ends_with("www")
        }
        // Inside a word it emphasizes nothing.
        '_' => before.ends_with(is_word) && after.starts_with(is_word),
        _ => false,
    }
}
