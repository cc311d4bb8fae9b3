//! Makes the graph of a payload from what a backend's tables have.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{
    Attribute, Data, DataPlace, Datatype, Graph, Literal, MOST_DIMS, MOST_LISTED, NO_ID, Node,
    Operator, Role, Value, ValueQuantization, operands,
};
use crate::payload::id_map::IdMap;
use pte_flat::bytes::{index, narrow};
use pte_flat::cost;
use pte_flat::desc::FieldDesc;
use pte_flat::view::{Raw, Strings};

/// The inputs and outputs of a graph, each with the index of its argument.
pub(in crate::payload) struct Ends {
    inputs: BTreeMap<u32, u32>,
    outputs: BTreeMap<u32, u32>,
}

impl Ends {
    /// Returns the ends of a graph with these inputs and outputs. The arguments of a call are the inputs, and
    /// then the outputs.
    pub(in crate::payload) fn new(
        inputs: impl IntoIterator<Item = u32>,
        outputs: impl IntoIterator<Item = u32>,
    ) -> Self {
        let mut arguments = 0u32..;
        let inputs = inputs.into_iter().zip(&mut arguments).collect();
        let outputs = outputs.into_iter().zip(arguments).collect();
        Self { inputs, outputs }
    }

    /// Returns the role of a value, and the index of its argument.
    pub(in crate::payload) fn role(&self, id: u32, is_constant: bool) -> (Role, u32) {
        cost::look_up("", self.inputs.len().saturating_add(self.outputs.len()));
        match (self.inputs.get(&id), self.outputs.get(&id)) {
            (Some(&argument), _) => (Role::Input, argument),
            (None, Some(&argument)) => (Role::Output, argument),
            (None, None) if is_constant => (Role::Constant, NO_ID),
            (None, None) => (Role::Inner, NO_ID),
        }
    }
}

/// Collects a graph.
#[derive(Default)]
pub(in crate::payload) struct Builder<'p> {
    graph: Graph<'p>,
    /// The names of operators, by their position and length in memory: calls may share a long name.
    names: BTreeMap<(usize, usize), u32>,
    /// The ids of values, by their names in the current part of the graph.
    ids: BTreeMap<&'p str, u32>,
    /// The same ids by the position and length of a name in memory: a long name is compared once, although
    /// nodes may share it.
    places: BTreeMap<(usize, usize), u32>,
    next_id: u32,
    /// The position of the next node's table.
    table: u32,
    /// The number of fields of tables that are still read for attributes.
    fields_left: u64,
}

impl<'p> Builder<'p> {
    /// Begins a graph whose attributes are fields of its tables, which have `len` bytes. As many fields are read as
    /// there are words of four bytes: any number of nodes may share a table. Genuine graphs have fewer.
    pub(in crate::payload) fn with_fields(len: u64) -> Self {
        Self { fields_left: len / 4, ..Self::default() }
    }

    /// Adds a value with its number of dimensions and their sizes, its role and the index of its argument.
    pub(in crate::payload) fn value(
        &mut self,
        id: u32,
        datatype: Datatype,
        (rank, sizes): (usize, impl Iterator<Item = u32>),
        (role, argument): (Role, u32),
    ) {
        let rank = narrow(rank);
        let mut dims = [0; MOST_DIMS];
        dims.iter_mut().zip(sizes).for_each(|(to, size)| *to = size);
        let (is_written, data, quantization) = (false, NO_ID, NO_ID);
        let value =
            Value { id, datatype, rank, dims, argument, role, is_written, data, quantization };
        self.graph.values.push(value);
    }

    /// Adds data, and returns its index.
    pub(in crate::payload) fn data(&mut self, place: DataPlace<'p>, value: Option<u32>) -> u32 {
        self.graph.data.push(Data { place, value, is_scales: false });
        narrow(self.graph.data.len()).saturating_sub(1)
    }

    /// Marks data as the scales of its first value.
    pub(in crate::payload) fn set_scales(&mut self, nth: u32) {
        self.graph.data.get_mut(index(nth)).into_iter().for_each(|data| data.is_scales = true);
    }

    /// Sets the name of a constant.
    pub(in crate::payload) fn set_name(&mut self, id: u32, name: &'p str) {
        cost::look_up("", self.graph.labels.len());
        self.graph.labels.insert(id, name);
    }

    /// Sets the data of the last value.
    pub(in crate::payload) fn set_data(&mut self, nth: u32) {
        self.graph.values.last_mut().into_iter().for_each(|value| value.data = nth);
    }

    /// Sets the quantization of the last value.
    pub(in crate::payload) fn set_quantization(&mut self, quantization: ValueQuantization) {
        let nth = narrow(self.graph.quantizations.len());
        self.graph.quantizations.push(quantization);
        self.graph.values.last_mut().into_iter().for_each(|value| value.quantization = nth);
    }

    /// Begins another part of the graph, whose names of values are separate.
    pub(in crate::payload) fn begin_part(&mut self) {
        self.ids.clear();
        self.places.clear();
    }

    /// Returns the id of a value with a name.
    pub(in crate::payload) fn id(&mut self, name: &'p str) -> u32 {
        let place = (name.as_ptr().addr(), name.len());
        cost::look_up("", self.places.len());
        *self.places.entry(place).or_insert_with(|| {
            cost::look_up(name, self.ids.len());
            *self.ids.entry(name).or_insert_with(|| {
                let id = self.next_id;
                self.next_id = id.saturating_add(1);
                id
            })
        })
    }

    /// Returns the id of a value without a name.
    pub(in crate::payload) fn unnamed(&mut self) -> u32 {
        let id = self.next_id;
        self.next_id = id.saturating_add(1);
        id
    }

    /// Returns the ids of the values with these names.
    pub(in crate::payload) fn ids(&mut self, names: Option<Strings<'p>>) -> Vec<u32> {
        names.into_iter().flatten().map(|name| self.id(name)).collect()
    }

    /// Returns an operator by its name.
    pub(in crate::payload) fn named(&mut self, name: Option<&'p str>) -> Operator {
        let Some(name) = name else { return Operator::Unknown };
        cost::look_up("", self.names.len());
        let nth = *self.names.entry((name.as_ptr().addr(), name.len())).or_insert_with(|| {
            self.graph.names.push(name);
            narrow(self.graph.names.len()).saturating_sub(1)
        });
        Operator::Named(nth)
    }

    /// Sets the table of the next node.
    pub(in crate::payload) fn begin_node(&mut self, table: Raw<'p>) {
        self.table = table.pos();
    }

    /// Adds an attribute of the next node.
    pub(in crate::payload) fn attribute(&mut self, name: &'p str, literal: Literal<'p>) {
        self.graph.attributes.push(Attribute { name, literal });
    }

    /// Adds an argument as an attribute of the next node. It is a field that is read.
    pub(in crate::payload) fn argument(&mut self, name: &'p str, literal: Literal<'p>) {
        if self.reads_field() {
            self.attribute(name, literal);
        }
    }

    /// Adds the first elements of a list, one more than documents show, and returns the list. Each is a field that is
    /// read.
    pub(in crate::payload) fn listed(
        &mut self,
        elements: impl IntoIterator<Item = Literal<'p>>,
    ) -> Literal<'p> {
        let begin = narrow(self.graph.listed.len());
        for element in elements.into_iter().take(MOST_LISTED) {
            if !self.reads_field() {
                break;
            }
            self.graph.listed.push(element);
        }
        Literal::Listed { begin, end: narrow(self.graph.listed.len()) }
    }

    /// Adds fields of a node's table as attributes of the next node: those that are numbers, texts or lists of
    /// integers. An integer that is absent is its default.
    pub(in crate::payload) fn fields(
        &mut self,
        table: Raw<'p>,
        fields: impl IntoIterator<Item = &'static FieldDesc>,
    ) {
        for field in fields {
            if !self.reads_field() {
                return;
            }
            let literal = Literal::of_field(table, field);
            literal.into_iter().for_each(|literal| self.attribute(field.name, literal));
        }
    }

    /// Counts a field that is read. Returns whether it may be.
    fn reads_field(&mut self) -> bool {
        cost::charge(1);
        let left = self.fields_left.checked_sub(1);
        self.fields_left = left.unwrap_or_default();
        left.is_some()
    }

    /// Returns the number of attributes, which is the position of the next node's first one.
    pub(in crate::payload) fn next_attribute(&self) -> u32 {
        narrow(self.graph.attributes.len())
    }

    /// Adds a node without attributes.
    pub(in crate::payload) fn node(&mut self, operator: Operator, reads: &[u32], writes: &[u32]) {
        self.node_with(operator, (reads, writes), self.next_attribute());
    }

    /// Adds a node whose attributes begin at `attributes`.
    pub(in crate::payload) fn node_with(
        &mut self,
        operator: Operator,
        (reads, writes): (&[u32], &[u32]),
        attributes: u32,
    ) {
        // A node has a small number of outputs, if it is genuine.
        let writes = writes.get(..writes.len().min(u8::MAX.into())).unwrap_or_default();
        let outputs = u8::try_from(writes.len()).unwrap_or_default();
        let begin = narrow(self.graph.operands.len());
        self.graph.operands.extend(reads.iter().chain(writes));
        let table = core::mem::take(&mut self.table);
        self.graph.nodes.push(Node { operator, outputs, depth: 0, begin, attributes, table });
    }

    /// Marks the last node as part of a graph that is an argument, at this depth.
    pub(in crate::payload) fn set_depth(&mut self, depth: usize) {
        let depth = u8::try_from(depth).unwrap_or(u8::MAX);
        self.graph.nodes.last_mut().into_iter().for_each(|node| node.depth = depth);
    }

    pub(in crate::payload) fn finish(self) -> Graph<'p> {
        let mut graph = self.graph;
        graph.ids = IdMap::new(graph.values.len());
        for (nth, value) in (0u32..).zip(&graph.values) {
            graph.ids.insert_first(value.id, nth);
        }
        for nth in 0..narrow(graph.nodes.len()) {
            for &id in operands(&graph.nodes, &graph.operands, nth).1 {
                let value = graph.ids.get(id).and_then(|nth| graph.values.get_mut(index(nth)));
                value.into_iter().for_each(|value| value.is_written = true);
            }
        }
        graph
    }
}
