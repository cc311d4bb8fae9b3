//! The picture as JSON, a line for each node and edge.

use pte::quoted::{Untrusted, UntrustedString};

use super::{Draw, Edge, Node};
use crate::cli::output::Output;
use crate::cli::problem::Problem;

pub(super) struct Lines<'o> {
    out: &'o mut Output,
    methods: usize,
    rows: usize,
    in_edges: bool,
}

impl<'o> Lines<'o> {
    pub(super) fn new(out: &'o mut Output) -> Self {
        Self { out, methods: 0, rows: 0, in_edges: false }
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

    fn edge(&mut self, edge: &Edge<'_>) -> Result<(), Problem> {
        self.edges()?;
        self.comma()?;
        self.out.json_line(edge)
    }

    fn method_ends(&mut self) -> Result<(), Problem> {
        self.edges()?;
        self.out.bytes(b"]}")
    }

    fn end(&mut self) -> Result<(), Problem> {
        self.out.bytes(b"]}\n")
    }
}
