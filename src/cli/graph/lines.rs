//! The picture as JSON, a line for each node and edge.

use core::fmt::Write;

use pte::quoted::{Untrusted, UntrustedString};

use super::{Draw, Edge, Node};
use crate::cli::output::Output;
use crate::cli::problem::Problem;
use pte::flat::json;

pub(super) struct Lines<'o> {
    out: &'o mut Output,
    methods: usize,
    rows: usize,
    in_edges: bool,
    line: String,
}

impl<'o> Lines<'o> {
    pub(super) fn new(out: &'o mut Output) -> Self {
        Self { out, methods: 0, rows: 0, in_edges: false, line: String::new() }
    }

    fn edges(&mut self) -> Result<(), Problem> {
        if !self.in_edges {
            (self.in_edges, self.rows) = (true, 0);
            self.out.bytes(b"], \"edges\": [")?;
        }
        Ok(())
    }

    fn comma(&mut self) -> Result<(), Problem> {
        self.out.bytes(if self.rows == 0 { b"\n  " } else { b",\n  " })?;
        self.rows = self.rows.saturating_add(1);
        Ok(())
    }
}

impl Draw for Lines<'_> {
    fn begin(&mut self, path: &UntrustedString) -> Result<(), Problem> {
        self.out.bytes(b"{\"schema\": \"pte.graph/1\", \"path\": ")?;
        self.out.json_line(&path)?;
        self.out.bytes(b", \"methods\": [")
    }

    fn method(&mut self, _: usize, name: Option<Untrusted<'_>>) -> Result<(), Problem> {
        self.out.bytes(if self.methods == 0 { b"\n{\"name\": " } else { b",\n{\"name\": " })?;
        self.methods = self.methods.saturating_add(1);
        (self.in_edges, self.rows) = (false, 0);
        self.out.json_line(&name)?;
        self.out.bytes(b", \"nodes\": [")
    }

    fn node(&mut self, node: &Node<'_>) -> Result<(), Problem> {
        self.comma()?;
        self.out.json_line(node)
    }

    fn label(&self, text: String) -> String {
        let mut escaped = String::new();
        // A string takes all that is written to it.
        let _ = json::string(&text, &mut escaped);
        escaped
    }

    fn edge(&mut self, edge: &Edge<'_>) -> Result<(), Problem> {
        self.edges()?;
        self.comma()?;
        // There may be an edge for each byte of a file: this takes a third of what serde's way does.
        self.line.clear();
        let Edge { from, to, kind, value, text } = edge;
        // A string takes all that is written to it.
        let _ = write!(self.line, r#"{{"from":"{from}","to":"{to}","kind":"{kind}""#);
        if let Some(value) = value {
            let _ = write!(self.line, r#","value":{value}"#);
        }
        if let Some(text) = text {
            let _ = write!(self.line, r#","text":{text}"#);
        }
        self.line.push('}');
        self.out.bytes(self.line.as_bytes())
    }

    fn method_ends(&mut self) -> Result<(), Problem> {
        self.edges()?;
        self.out.bytes(b"]}")
    }

    fn end(&mut self) -> Result<(), Problem> {
        self.out.bytes(b"]}\n")
    }
}
