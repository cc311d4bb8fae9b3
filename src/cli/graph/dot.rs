//! The picture for Graphviz.

use pte::quoted::{Untrusted, UntrustedString};

use super::{Draw, Edge, Node};
use crate::cli::output::Output;
use crate::cli::problem::Problem;
use crate::cli::text;

pub(super) struct Dot<'o>(pub(super) &'o mut Output);

impl Draw for Dot<'_> {
    fn begin(&mut self, path: &UntrustedString) -> Result<(), Problem> {
        let path = quoted(&[text::name(path)]);
        self.line(&format!("digraph {path} {{"))?;
        self.line("  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\"];")?;
        self.line("  edge [fontname=\"sans-serif\", fontsize=10];")
    }

    fn method(&mut self, nth: usize, name: Option<Untrusted<'_>>) -> Result<(), Problem> {
        let name = quoted(&[text::name(name.unwrap_or("(no name)".into()))]);
        self.line(&format!("  subgraph cluster_m{nth} {{\n    label={name};"))
    }

    fn node(&mut self, node: &Node<'_>) -> Result<(), Problem> {
        let look = match node.kind {
            "kernel" => ", fillcolor=\"#dbeafe\"",
            "delegate" => ", fillcolor=\"#fde68a\"",
            "jump" => ", shape=diamond, fillcolor=\"#fecaca\"",
            "input" | "output" | "end" => ", shape=ellipse",
            "constant" | "mutable" | "external" => ", shape=cylinder, fillcolor=\"#e5e7eb\"",
            "value" | "list" => ", shape=ellipse, fillcolor=\"#e5e7eb\"",
            _ => "",
        };
        self.line(&format!("    {} [label={}{look}];", node.id, quoted(&node.lines())))
    }

    fn label(&self, text: String) -> String {
        quoted(&[text::name(text.as_str())])
    }

    fn edge(&mut self, edge: &Edge<'_>) -> Result<(), Problem> {
        let (from, to) = (edge.from, edge.to);
        match (edge.kind, edge.text) {
            ("data", Some(text)) => self.line(&format!("    {from} -> {to} [label={text}];")),
            ("jump", _) => self.line(&format!(
                "    {from} -> {to} [label=\"false\", style=dashed, color=\"#dc2626\"];"
            )),
            _ => self.line(&format!("    {from} -> {to} [style=dotted, color=\"#6b7280\"];")),
        }
    }

    fn method_ends(&mut self) -> Result<(), Problem> {
        self.line("  }")
    }

    fn end(&mut self) -> Result<(), Problem> {
        self.line("}")
    }
}

impl Dot<'_> {
    fn line(&mut self, line: &str) -> Result<(), Problem> {
        self.0.bytes(line.as_bytes())?;
        self.0.bytes(b"\n")
    }
}

/// Text in quotes, which is never read as HTML there. A backslash would begin an escape.
fn quoted(lines: &[String]) -> String {
    let lines: Vec<_> =
        lines.iter().map(|line| line.replace('\\', "\\\\").replace('"', "\\\"")).collect();
    // `&amp;` and the like would be read as one character.
    format!("\"{}\"", lines.join("\\n").replace('&', "&amp;"))
}
