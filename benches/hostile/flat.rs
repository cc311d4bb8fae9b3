//! FlatBuffers whose tables, vectors and strings may be shared by any number of offsets.

/// A table, a vector or a string, by its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Id(usize);

/// A field of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Field {
    U8(u8),
    U32(u32),
    U64(u64),
    To(Id),
}

enum Node {
    Table(Vec<(u16, Field)>),
    /// A vector of offsets.
    Offsets(Vec<Id>),
    /// A vector of numbers: the size of one, how many, and their bytes. A string ends with a zero.
    Numbers(usize, usize, Vec<u8>),
}

/// A buffer that is being described. What is referred to is made before what refers to it.
pub(crate) struct Flat {
    nodes: Vec<Node>,
    /// Whether another version of the same file is made, which differs in every string and number.
    pub(crate) is_other: bool,
    /// The bytes of the file that the caller asked for.
    pub(crate) size: usize,
    /// Bytes that may be visited, those of what is shared at each visit.
    pub(crate) budget: usize,
}

impl Flat {
    pub(crate) fn new(size: usize, budget: usize, is_other: bool) -> Self {
        Self { nodes: Vec::new(), is_other, size, budget }
    }

    fn push(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        Id(self.nodes.len() - 1)
    }

    pub(crate) fn table(&mut self, fields: &[(u16, Field)]) -> Id {
        self.push(Node::Table(fields.to_vec()))
    }

    pub(crate) fn offsets(&mut self, to: Vec<Id>) -> Id {
        self.push(Node::Offsets(to))
    }

    /// The same offset `count` times.
    pub(crate) fn shared(&mut self, to: Id, count: usize) -> Id {
        self.offsets(vec![to; count])
    }

    pub(crate) fn string(&mut self, text: impl AsRef<[u8]>) -> Id {
        let mut bytes = text.as_ref().to_vec();
        if self.is_other {
            match bytes.last_mut() {
                Some(last) if last.is_ascii() => *last = b'~',
                _ => bytes.push(b'~'),
            }
        }
        let len = bytes.len();
        bytes.push(0);
        self.push(Node::Numbers(1, len, bytes))
    }

    pub(crate) fn bytes(&mut self, bytes: Vec<u8>) -> Id {
        self.push(Node::Numbers(1, bytes.len(), bytes))
    }

    pub(crate) fn i32s(&mut self, all: impl IntoIterator<Item = i32>) -> Id {
        let bytes: Vec<u8> = all.into_iter().flat_map(i32::to_le_bytes).collect();
        self.push(Node::Numbers(4, bytes.len() / 4, bytes))
    }

    pub(crate) fn i64s(&mut self, all: impl IntoIterator<Item = i64>) -> Id {
        let bytes: Vec<u8> = all.into_iter().flat_map(i64::to_le_bytes).collect();
        self.push(Node::Numbers(8, bytes.len() / 8, bytes))
    }

    /// Lays the nodes out behind `head` (an offset to the root, an identifier, a header): each in
    /// front of those that it refers to.
    pub(crate) fn finish(&self, head: usize, root: Id) -> Vec<u8> {
        let mut at = vec![0; self.nodes.len()];
        let mut out = vec![0; head];
        let mut vtables = std::collections::HashMap::<Vec<u8>, usize>::new();
        let mut offsets = vec![(0, root)];
        for (nth, node) in self.nodes.iter().enumerate().rev() {
            out.resize(out.len().next_multiple_of(4), 0);
            match node {
                Node::Numbers(size, len, bytes) => {
                    while !(out.len() + 4).is_multiple_of(*size) {
                        out.extend([0; 4]);
                    }
                    at[nth] = out.len();
                    out.extend((*len as u32).to_le_bytes());
                    out.extend(bytes);
                }
                Node::Offsets(to) => {
                    at[nth] = out.len();
                    out.extend((to.len() as u32).to_le_bytes());
                    offsets.extend(to.iter().enumerate().map(|(i, &to)| (out.len() + 4 * i, to)));
                    out.resize(out.len() + 4 * to.len(), 0);
                }
                Node::Table(fields) => {
                    at[nth] = table(&mut out, fields, &mut vtables, &mut offsets)
                }
            }
        }
        for (from, Id(to)) in offsets {
            let distance = (at[to] - from) as u32;
            out[from..from + 4].copy_from_slice(&distance.to_le_bytes());
        }
        out
    }
}

/// Lays down a table, and its vtable if no other one is the same.
fn table(
    out: &mut Vec<u8>,
    fields: &[(u16, Field)],
    vtables: &mut std::collections::HashMap<Vec<u8>, usize>,
    offsets: &mut Vec<(usize, Id)>,
) -> usize {
    let mut fields = fields.to_vec();
    let size = |field: &Field| match field {
        Field::U8(_) => 1usize,
        Field::U32(_) | Field::To(_) => 4,
        Field::U64(_) => 8,
    };
    // The widest first: with one behind 4 bytes of the table, each is aligned.
    fields.sort_by_key(|(_, field)| core::cmp::Reverse(size(field)));
    let has_wide = fields.first().is_some_and(|(_, field)| size(field) == 8);
    let slots = fields.iter().map(|&(slot, _)| usize::from(slot) + 1).max().unwrap_or(0);
    let mut vtable = vec![0u16; 2 + slots];
    let mut end = if has_wide { 8 } else { 4 };
    for (slot, field) in &fields {
        vtable[2 + usize::from(*slot)] = end as u16;
        end += size(field);
    }
    (vtable[0], vtable[1]) = ((4 + 2 * slots) as u16, end as u16);
    let bytes: Vec<u8> = vtable.iter().flat_map(|word| word.to_le_bytes()).collect();
    let vtable = *vtables.entry(bytes).or_insert_with_key(|bytes| {
        out.extend(bytes);
        out.len() - bytes.len()
    });
    out.resize(out.len().next_multiple_of(if has_wide { 8 } else { 4 }), 0);
    let at = out.len();
    out.extend(((at - vtable) as i32).to_le_bytes());
    out.resize(at + if has_wide { 8 } else { 4 }, 0);
    for (_, field) in &fields {
        match field {
            Field::U8(value) => out.push(*value),
            Field::U32(value) => out.extend(value.to_le_bytes()),
            Field::U64(value) => out.extend(value.to_le_bytes()),
            Field::To(to) => {
                offsets.push((out.len(), *to));
                out.extend([0; 4]);
            }
        }
    }
    at
}
