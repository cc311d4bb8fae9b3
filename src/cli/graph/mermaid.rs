//! The picture in the language of Mermaid, which GitHub and other sites can draw.

use std::collections::BTreeSet;

use pte::graph::{EdgeKind, NodeId};
use pte::quoted::{Untrusted, UntrustedString};

use super::{Draw, Id, Look};
use crate::output::Output;
use crate::problem::Problem;
use crate::text;

pub(super) struct Mermaid<'o>(pub(super) &'o mut Output);

impl Draw for Mermaid<'_> {
    fn begin(&mut self, _: &UntrustedString) -> Result<(), Problem> {
        self.0.line("flowchart TD")?;
        self.0.line("  classDef kernel fill:#dbeafe,stroke:#1e3a8a,color:#000")?;
        self.0.line("  classDef delegate fill:#fde68a,stroke:#92400e,color:#000")?;
        self.0.line("  classDef jump fill:#fecaca,stroke:#991b1b,color:#000")?;
        self.0.line("  classDef stored fill:#e5e7eb,stroke:#374151,color:#000")?;
        self.0.line("  classDef outside fill:none,stroke:#6b7280,color:#6b7280,stroke-dasharray:3")
    }

    fn method(&mut self, index: u32, name: Option<Untrusted<'_>>) -> Result<(), Problem> {
        let name = quoted(&[text::name(name.unwrap_or("(no name)".into()))]);
        // Without a direction, Mermaid lays a subgraph out to the right.
        self.0.line(&format!("  subgraph m{index}[{name}]\n    direction TB"))
    }

    fn call(&mut self, id: NodeId, lines: &[String]) -> Result<(), Problem> {
        // The call may also have a node, so the cluster needs another id.
        self.0.line(&format!("    subgraph {id}c[{}]\n    direction TB", quoted(lines)))
    }

    fn end_call(&mut self) -> Result<(), Problem> {
        self.0.line("    end")
    }

    fn node(&mut self, id: Id, of: Look, lines: &[String]) -> Result<(), Problem> {
        let (open, close, class) = look(of);
        self.0.line(&format!("    {id}{open}{}{close}{class}", quoted(lines)))
    }

    fn label(&self, text: &str) -> String {
        quoted(&[text::name(text)])
    }

    fn edge(
        &mut self,
        (from, to): (Id, Id),
        kind: EdgeKind,
        label: Option<&str>,
    ) -> Result<(), Problem> {
        self.0.line(&match (kind, label) {
            (EdgeKind::Data, Some(label)) => format!("    {from} -->|{label}| {to}"),
            (EdgeKind::Jump, _) => format!("    {from} ==>|\"false\"| {to}"),
            (EdgeKind::Next, _) => format!("    {from} -.-> {to}"),
            _ => format!("    {from} --> {to}"),
        })
    }

    fn end_method(&mut self) -> Result<(), Problem> {
        self.0.line("  end")
    }

    fn end(&mut self, legend: &BTreeSet<Look>) -> Result<(), Problem> {
        self.0.line("  subgraph legend\n    direction LR")?;
        for (nth, &of) in legend.iter().enumerate() {
            let (open, close, class) = look(of);
            let text = quoted(&[of.text().into()]);
            match of {
                Look::Next => {
                    self.0.line(&format!(
                        "    legend{nth}a[\" \"] -.->|{text}| legend{nth}b[\" \"]"
                    ))?;
                }
                Look::JumpEdge => {
                    self.0.line(&format!(
                        "    legend{nth}a[\" \"] ==>|{text}| legend{nth}b[\" \"]"
                    ))?;
                }
                _ => self.0.line(&format!("    legend{nth}{open}{text}{close}{class}"))?,
            }
        }
        self.0.line("  end")
    }
}

/// Returns the opening bracket, the closing bracket and the class of a node.
fn look(of: Look) -> (&'static str, &'static str, &'static str) {
    match of {
        Look::Operator => ("[", "]", ":::kernel"),
        Look::Delegate | Look::PayloadNode => ("[", "]", ":::delegate"),
        Look::Jump => ("{", "}", ":::jump"),
        Look::End => ("([", "])", ""),
        Look::Stored => ("[(", ")]", ":::stored"),
        Look::Value => ("([", "])", ":::stored"),
        Look::Outside => ("[", "]", ":::outside"),
        Look::Instruction | Look::Next | Look::JumpEdge => ("[", "]", ""),
    }
}

/// Returns lines as a quoted string. Characters that could end the string or have a meaning become
/// entities.
///
/// Even inside quotes, Mermaid replaces icons (`fa:fa-bell`), reads Markdown and links addresses.
/// It also drops the last `;` of a line with `style`, a colon and a `#`.
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

/// Returns whether `c` has no special meaning at its place in a line. `before` and `after` are the
/// texts of the line on either side of it.
fn is_plain(c: char, before: &str, after: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | ',' | '/' | '[' | ']' => true,
        // At the start of a line, these characters begin a list or a code block.
        '-' | ' ' => !before.is_empty(),
        // After a number, a dot begins a list. After `www`, it begins an address.
        '.' => {
            let digits = before.bytes().all(|byte| byte.is_ascii_digit());
            !digits && !before.to_ascii_lowercase().ends_with("www")
        }
        // Within a word, Markdown reads no emphasis.
        '_' => before.ends_with(is_word) && after.starts_with(is_word),
        _ => false,
    }
}
