//! The picture for Mermaid, which many pages draw from text.

use super::{Draw, Edge, Node};
use crate::cli::output::Output;
use crate::cli::problem::Problem;
use crate::cli::text;

pub(super) struct Mermaid<'o>(pub(super) &'o mut Output);

impl Draw for Mermaid<'_> {
    fn begin(&mut self, _: &str) -> Result<(), Problem> {
        self.line("flowchart TD")?;
        self.line("  classDef kernel fill:#dbeafe,stroke:#1e3a8a,color:#000")?;
        self.line("  classDef delegate fill:#fde68a,stroke:#92400e,color:#000")?;
        self.line("  classDef jump fill:#fecaca,stroke:#991b1b,color:#000")?;
        self.line("  classDef stored fill:#e5e7eb,stroke:#374151,color:#000")
    }

    fn method(&mut self, nth: usize, name: Option<&str>) -> Result<(), Problem> {
        let name = quoted(&[text::name(name.unwrap_or("(no name)")).to_string()]);
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

    fn edge(&mut self, edge: &Edge<'_>) -> Result<(), Problem> {
        let (from, to) = (edge.from, edge.to);
        self.line(&match (edge.kind, edge.text) {
            ("data", Some(text)) => {
                format!("    {from} -->|{}| {to}", quoted(&[text::name(text).to_string()]))
            }
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

/// Text in quotes. Whatever could end it, or be read as HTML, Markdown or a directive, is a number.
fn quoted(lines: &[String]) -> String {
    let mut text = String::from("\"");
    for (nth, line) in lines.iter().enumerate() {
        if nth > 0 {
            text.push_str("<br>");
        }
        for c in line.chars() {
            match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '_' | '-' | '.' | ',' | ':' => {
                    text.push(c)
                }
                '(' | ')' | '[' | ']' | '/' => text.push(c),
                c => text.push_str(&format!("#{};", u32::from(c))),
            }
        }
    }
    text.push('"');
    text
}
