//! The picture in the DOT language of Graphviz.

use std::collections::BTreeSet;

use pte::graph::{EdgeKind, NodeId};
use pte::quoted::{Untrusted, UntrustedString};

use super::{Draw, Id, Look};
use crate::output::Output;
use crate::problem::Problem;
use crate::text;

pub(super) struct Dot<'o>(pub(super) &'o mut Output);

impl Draw for Dot<'_> {
    fn begin(&mut self, path: &UntrustedString) -> Result<(), Problem> {
        let path = quoted(&[text::name(path)]);
        self.0.line(&format!("digraph {path} {{"))?;
        self.0.line("  graph [fontname=\"sans-serif\", nodesep=0.2, ranksep=0.35];")?;
        self.0.line(
            "  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\", fontsize=11, \
             margin=\"0.1,0.05\", height=0.3];",
        )?;
        self.0
            .line("  edge [fontname=\"sans-serif\", fontsize=9, color=\"#374151\", arrowsize=0.7];")
    }

    fn method(&mut self, index: u32, name: Option<Untrusted<'_>>) -> Result<(), Problem> {
        let name = quoted(&[text::name(name.unwrap_or("(no name)".into()))]);
        self.0.line(&format!("  subgraph cluster_m{index} {{\n    label={name};"))
    }

    fn call(&mut self, id: NodeId, lines: &[String]) -> Result<(), Problem> {
        let colour = colour(Look::Delegate);
        self.0.line(&format!(
            "    subgraph cluster_{id} {{\n    label={}; style=filled; fillcolor=\"{colour}\";",
            quoted(lines)
        ))
    }

    fn end_call(&mut self) -> Result<(), Problem> {
        self.0.line("    }")
    }

    fn node(&mut self, id: Id, of: Look, lines: &[String]) -> Result<(), Problem> {
        self.0.line(&format!("    {id} [label={}{}];", quoted(lines), look(of)))
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
        match (kind, label) {
            (EdgeKind::Data, Some(label)) => {
                self.0.line(&format!("    {from} -> {to} [label={label}];"))
            }
            (EdgeKind::Jump, _) => self.0.line(&format!(
                "    {from} -> {to} [label=\"false\", style=dashed, color=\"#dc2626\"];"
            )),
            (EdgeKind::Next, _) => {
                self.0.line(&format!("    {from} -> {to} [style=dotted, color=\"#6b7280\"];"))
            }
            _ => self.0.line(&format!("    {from} -> {to};")),
        }
    }

    fn end_method(&mut self) -> Result<(), Problem> {
        self.0.line("  }")
    }

    fn end(&mut self, legend: &BTreeSet<Look>) -> Result<(), Problem> {
        // The legend contains no text of the file, so nothing is escaped.
        self.0.line("  legend [shape=plain, style=\"\", fontsize=9, label=<")?;
        self.0.line(
            "    <table border=\"0\" cellborder=\"1\" cellspacing=\"2\" color=\"#9ca3af\">",
        )?;
        for &of in legend {
            let (colour, text) = (colour(of), of.text());
            self.0.line(&format!(
                "    <tr><td align=\"left\" bgcolor=\"{colour}\">{text}</td></tr>"
            ))?;
        }
        self.0.line("    </table>>];\n}")
    }
}

/// Returns the Graphviz attributes of a node with this look.
fn look(of: Look) -> String {
    let colour = colour(of);
    match of {
        Look::Operator | Look::Delegate | Look::PayloadNode => format!(", fillcolor=\"{colour}\""),
        Look::Jump => format!(", shape=diamond, fillcolor=\"{colour}\""),
        Look::End => ", shape=ellipse".into(),
        Look::Stored => format!(", shape=cylinder, fillcolor=\"{colour}\""),
        Look::Value => format!(", shape=ellipse, fillcolor=\"{colour}\""),
        Look::Outside => ", style=dashed, fontcolor=\"#6b7280\"".into(),
        Look::Instruction | Look::Next | Look::JumpEdge => String::new(),
    }
}

fn colour(of: Look) -> &'static str {
    match of {
        Look::Operator => "#dbeafe",
        Look::Delegate => "#fde68a",
        Look::PayloadNode => "#fef9c3",
        Look::Jump => "#fecaca",
        Look::Stored | Look::Value => "#e5e7eb",
        _ => "white",
    }
}

/// Returns lines as a quoted string with backslashes escaped. Graphviz never reads such a string as
/// HTML.
fn quoted(lines: &[String]) -> String {
    let lines: Vec<_> =
        lines.iter().map(|line| line.replace('\\', "\\\\").replace('"', "\\\"")).collect();
    // Graphviz decodes entities such as `&lt;` in strings.
    format!("\"{}\"", lines.join("\\n").replace('&', "&amp;"))
}
