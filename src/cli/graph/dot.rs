//! The picture in the DOT language of Graphviz.

use pte::graph::{Edge, EdgeKind, Node, NodeKind};
use pte::quoted::{Untrusted, UntrustedString};

use super::{Draw, lines};
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

    fn method(&mut self, index: u32, name: Option<Untrusted<'_>>) -> Result<(), Problem> {
        let name = quoted(&[text::name(name.unwrap_or("(no name)".into()))]);
        self.line(&format!("  subgraph cluster_m{index} {{\n    label={name};"))
    }

    fn node(&mut self, node: &Node<'_>) -> Result<(), Problem> {
        let look = match node.kind {
            NodeKind::Kernel => ", fillcolor=\"#dbeafe\"",
            NodeKind::Delegate => ", fillcolor=\"#fde68a\"",
            NodeKind::Jump => ", shape=diamond, fillcolor=\"#fecaca\"",
            NodeKind::Input | NodeKind::Output | NodeKind::End => ", shape=ellipse",
            NodeKind::Constant | NodeKind::Mutable | NodeKind::External => {
                ", shape=cylinder, fillcolor=\"#e5e7eb\""
            }
            NodeKind::Value | NodeKind::List => ", shape=ellipse, fillcolor=\"#e5e7eb\"",
            _ => "",
        };
        self.line(&format!("    {} [label={}{look}];", node.id, quoted(&lines(node))))
    }

    fn label(&self, text: &str) -> String {
        quoted(&[text::name(text)])
    }

    fn edge(&mut self, edge: &Edge, label: Option<&str>) -> Result<(), Problem> {
        let (from, to) = (edge.from, edge.to);
        match (edge.kind, label) {
            (EdgeKind::Data, Some(label)) => {
                self.line(&format!("    {from} -> {to} [label={label}];"))
            }
            (EdgeKind::Jump, _) => self.line(&format!(
                "    {from} -> {to} [label=\"false\", style=dashed, color=\"#dc2626\"];"
            )),
            _ => self.line(&format!("    {from} -> {to} [style=dotted, color=\"#6b7280\"];")),
        }
    }

    fn end_method(&mut self) -> Result<(), Problem> {
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

/// Returns lines as a quoted string, which Graphviz never reads as HTML. Backslashes are escaped.
fn quoted(lines: &[String]) -> String {
    let lines: Vec<_> =
        lines.iter().map(|line| line.replace('\\', "\\\\").replace('"', "\\\"")).collect();
    // Graphviz decodes entities such as `&lt;` in strings.
    format!("\"{}\"", lines.join("\\n").replace('&', "&amp;"))
}
