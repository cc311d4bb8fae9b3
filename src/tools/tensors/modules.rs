//! The bytes of a file by module, as the dotted names of tensors give it: `model.layers.0.weight`.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{ConstantRow, TensorPlace, TensorRow, datatype_name};
use crate::map::{Map, Name, Part, SizeTree, User, is_hash};
use pte_core::payload::PayloadContents;
use pte_core::{File, method, operator_name};
use pte_flat::quoted::{Untrusted, UntrustedString};
use pte_schema::program::view::{ExecutionPlan, InstructionArguments};

/// A module, a tensor or another piece of a file, with its bytes and its own parts.
///
/// Tensors with names belong to the modules in their names, constants of delegates to their
/// delegate, and other tensors to their method.
///
/// ```
/// # fn main() -> pte::Result<()> {
/// # let bytes = include_bytes!("../../../tests/data/pte/linear.pte");
/// use pte::tensors::ModuleTree;
///
/// let file = pte::File::Pte(pte::Pte::read(bytes)?);
/// let tree = ModuleTree::of(&file, &[]);
/// assert_eq!(tree.bytes, bytes.len() as u64);
/// for part in &tree.parts {
///     println!("{}: {} bytes", part.name, part.bytes);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ModuleTree {
    /// The name of the module or piece. The name of the whole file is empty.
    pub name: UntrustedString,
    /// The number of bytes. Each byte of the file counts once.
    pub bytes: u64,
    /// The part of the file, such as `constants`. For a module, it is the part of its largest
    /// piece.
    pub part: &'static str,
    /// The dtype and the sizes of a tensor.
    pub layout: Option<String>,
    /// The first user (an operator, a node or a backend), and the number of further users.
    pub owner: Option<UntrustedString>,
    /// The number of pieces.
    pub count: u64,
    /// The parts, the largest first. Together they have all of the bytes.
    pub parts: Vec<Self>,
}

/// A piece of the file that is not yet in the tree.
struct Piece<'m, 'a> {
    bytes: u64,
    part: &'static str,
    /// The users, if the piece is data.
    users: &'m [User<'a>],
    /// The name of a piece without users.
    name: &'static str,
}

impl ModuleTree {
    /// Returns the tree of `file`. The 1,000 largest pieces are listed, and the others of each
    /// group are summed up as one part.
    pub fn of(file: &File<'_>, payloads: &[PayloadContents]) -> Self {
        let map = Map::with_payloads(file, payloads);
        let mut pieces = Vec::new();
        for part in map.root().parts() {
            let name = match part.name() {
                Name::Fixed(name) => name,
                _ => "",
            };
            collect(part, name, &[], &mut pieces);
        }
        pieces.sort_by_key(|piece| Reverse(piece.bytes));
        let shown = pieces.get(..pieces.len().min(MOST_PIECES)).unwrap_or_default();
        let facts = Facts::of(file, payloads, shown);
        let mut tree = Self::default();
        for (nth, piece) in pieces.iter().enumerate() {
            match nth < MOST_PIECES {
                true => tree.add(&piece.path(&facts), &mut |leaf| piece.fill(leaf, &facts), piece),
                false => tree.add_folded(piece),
            }
        }
        tree.sort();
        tree
    }

    /// Returns only the sizes, as a tree with the name `path`.
    #[must_use]
    pub fn sizes(&self, path: impl Into<UntrustedString>) -> SizeTree {
        let parts = self.parts.iter().map(|part| part.sizes(part.name.clone()));
        SizeTree::new(path, self.bytes, parts.collect())
    }

    /// Adds a piece at `path`, whose last component is the piece itself and whose others are its
    /// modules.
    fn add(&mut self, path: &[String], fill: &mut dyn FnMut(&mut Self), piece: &Piece<'_, '_>) {
        self.bytes = self.bytes.saturating_add(piece.bytes);
        self.count = self.count.saturating_add(1);
        if self.part.is_empty() {
            // Pieces are added by descending size, so the first one is the largest.
            self.part = piece.part;
        }
        let Some((first, rest)) = path.split_first() else { return };
        if rest.is_empty() {
            let name = first.as_str().into();
            let (bytes, part) = (piece.bytes, piece.part);
            let mut leaf = Self { name, bytes, part, count: 1, ..Self::default() };
            fill(&mut leaf);
            self.parts.push(leaf);
            return;
        }
        let is_group = |part: &&mut Self| part.name.raw() == first && !part.parts.is_empty();
        if let Some(group) = self.parts.iter_mut().find(is_group) {
            group.add(rest, fill, piece);
            return;
        }
        let mut group = Self { name: first.as_str().into(), ..Self::default() };
        group.add(rest, fill, piece);
        self.parts.push(group);
    }

    /// Adds a piece that is not listed to the part that sums up smaller pieces.
    fn add_folded(&mut self, piece: &Piece<'_, '_>) {
        self.bytes = self.bytes.saturating_add(piece.bytes);
        self.count = self.count.saturating_add(1);
        let is_same = |part: &&mut Self| part.parts.is_empty() && part.name.raw() == SMALLER;
        let found = self.parts.iter_mut().filter(is_same).find(|part| part.part == piece.part);
        if let Some(part) = found {
            part.bytes = part.bytes.saturating_add(piece.bytes);
            part.count = part.count.saturating_add(1);
            return;
        }
        let (bytes, part) = (piece.bytes, piece.part);
        self.parts.push(Self { name: SMALLER.into(), bytes, part, count: 1, ..Self::default() });
    }

    /// Sorts the parts by size. The recursion is as deep as the tree, which has only a few levels.
    fn sort(&mut self) {
        self.parts.iter_mut().for_each(Self::sort);
        self.parts.sort_by_key(|part| Reverse(part.bytes));
    }
}

/// Collects the pieces of a part: the data of each user, and the two outermost levels of other parts.
fn collect<'m, 'a>(
    part: Part<'m, 'a>,
    top: &'static str,
    users: &'m [User<'a>],
    pieces: &mut Vec<Piece<'m, 'a>>,
) {
    let (users, name) = match part.name() {
        Name::Users(users) => (users, ""),
        Name::Fixed(name) => (users, name),
        Name::Method(_) => (users, "methods"),
        _ => (users, ""),
    };
    // The graph of a payload is one piece.
    let is_graph = name == "graph" && matches!(users.first(), Some(User::Delegate { .. }));
    let is_split = part.parts().next().is_some()
        && !is_graph
        && (top != TABLES || name == TABLES || is_inline(name));
    if is_split {
        part.parts().for_each(|part| collect(part, top, users, pieces));
        return;
    }
    let bytes = part.bytes();
    pieces.push(Piece { bytes, part: top, users, name });
}

/// Returns whether a part of the FlatBuffer, by its name, contains data.
fn is_inline(name: &str) -> bool {
    matches!(name, "inline constants" | "inline payloads" | "")
}

impl Piece<'_, '_> {
    /// Returns the names of the piece's modules, followed by its own name.
    fn path(&self, facts: &Facts) -> Vec<String> {
        let method = |name: Option<&str>| cut(name.unwrap_or("(no name)"));
        let delegate = |of: Option<&str>, index: u32| {
            let backend = facts.backends.get(&(of.unwrap_or_default().into(), index));
            let backend = backend.map(|id| format!(" {id}")).unwrap_or_default();
            vec![method(of), format!("delegate {index}{backend}")]
        };
        match self.users.first() {
            None if self.name == self.part => vec![self.part.into()],
            None => vec![self.part.into(), self.name.into()],
            Some(&User::Tensor { method: of, index, name }) => match name.unwrap_or_default() {
                "" => vec![method(of), format!("value {index}")],
                name => modules(name),
            },
            Some(&User::Delegate { method, index, .. }) => {
                let mut path = delegate(method, index);
                path.push(if self.name.is_empty() { "payload" } else { self.name }.into());
                path
            }
            Some(&User::Constant { method, delegate: index, value, scales, reader }) => {
                let mut path = delegate(method, index);
                let name = match reader {
                    Some(reader) => format!("node {} {}", reader.node, reader.input()),
                    None => format!("value {value}"),
                };
                path.push(if scales { format!("{name} scales") } else { name });
                path
            }
            Some(&User::Graph { key: Some(key), .. }) if !is_hash(key) => modules(key),
            Some(&User::Graph { method, delegate: index, place, .. }) => {
                let mut path = delegate(method, index);
                path.push(
                    place.value().map_or_else(|| "data".into(), |value| format!("value {value}")),
                );
                path
            }
            Some(User::Key(key)) => match key.unwrap_or_default() {
                "" => vec![self.part.into(), "(no key)".into()],
                key => modules(key),
            },
        }
    }

    /// Sets the layout and the owner of the piece's leaf.
    fn fill(&self, leaf: &mut ModuleTree, facts: &Facts) {
        let Some(user) = self.users.first() else { return };
        leaf.layout = id(user).and_then(|id| facts.layouts.get(&id).cloned());
        let owner = match user {
            User::Tensor { .. } => id(user).and_then(|id| facts.operators.get(&id).cloned()),
            User::Delegate { id, .. } => id.map(cut),
            User::Constant { reader, .. } => reader.map(|reader| reader.operator().to_string()),
            User::Graph { backend, place, .. } => Some(match place.node() {
                Some(node) => format!("node {node} of {}", backend.id()),
                None => backend.id().to_string(),
            }),
            User::Key(_) => None,
        };
        let place = match user {
            User::Tensor { method, index, name: Some(name) } if !name.is_empty() => {
                Some(format!("{}:{index}", cut(method.unwrap_or_default())))
            }
            _ => None,
        };
        let more = match self.users.len().saturating_sub(1) {
            0 => None,
            more => Some(format!("and {more} more uses")),
        };
        let texts: Vec<String> = place.into_iter().chain(owner).chain(more).collect();
        leaf.owner = (!texts.is_empty()).then(|| texts.join(", ").into());
    }
}

/// The identity of a tensor of a method, of a constant of a delegate, or of an entry of a `.ptd`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Tensor(String, u32),
    Constant(String, u32, u32),
    Key(String),
}

fn id(user: &User<'_>) -> Option<Id> {
    match user {
        User::Tensor { method, index, .. } => {
            Some(Id::Tensor(method.unwrap_or_default().into(), *index))
        }
        User::Constant { method, delegate, value, scales: false, .. } => {
            Some(Id::Constant(method.unwrap_or_default().into(), *delegate, *value))
        }
        User::Key(Some(key)) => Some(Id::Key((*key).into())),
        _ => None,
    }
}

/// Facts about the pieces that are listed.
#[derive(Default)]
struct Facts {
    layouts: BTreeMap<Id, String>,
    /// The backend of each delegate, by method and index.
    backends: BTreeMap<(String, u32), String>,
    /// The first operator or backend that uses each tensor.
    operators: BTreeMap<Id, String>,
}

impl Facts {
    fn of(file: &File<'_>, payloads: &[PayloadContents], pieces: &[Piece<'_, '_>]) -> Self {
        let mut facts = Self::default();
        // Maps a method's name to the indices of its values, so that each name is compared once.
        let mut wanted: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        let (mut keys, mut constants) = (Vec::<&str>::new(), BTreeSet::new());
        let mut delegates: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for user in pieces.iter().filter_map(|piece| piece.users.first()) {
            match user {
                User::Tensor { method, index, .. } => {
                    wanted.entry(method.unwrap_or_default()).or_default().push(*index);
                }
                User::Constant { method, delegate, value, .. } => {
                    constants.insert((*delegate, *value));
                    delegates.entry(method.unwrap_or_default()).or_default().insert(*delegate);
                }
                User::Graph { method, delegate: index, .. }
                | User::Delegate { method, index, .. } => {
                    delegates.entry(method.unwrap_or_default()).or_default().insert(*index);
                }
                User::Key(Some(key)) => keys.push(key),
                _ => {}
            }
        }
        wanted.values_mut().for_each(|indices| indices.sort_unstable());
        keys.sort_unstable();
        let is_wanted = |method: &str, index: u32| {
            wanted.get(method).is_some_and(|all| all.binary_search(&index).is_ok())
        };
        let mut is_method_wanted: Option<(&str, bool)> = None;
        for row in TensorRow::all(file) {
            let id = match row.place {
                TensorPlace::Value { method, index } => {
                    let method = method.map_or("", Untrusted::raw);
                    let known = is_method_wanted
                        .filter(|(known, _)| core::ptr::eq(known.as_ptr(), method.as_ptr()));
                    let (_, is_known) = *is_method_wanted
                        .insert(known.unwrap_or_else(|| (method, wanted.contains_key(method))));
                    if !is_known || !is_wanted(method, index) {
                        continue;
                    }
                    Id::Tensor(method.into(), index)
                }
                TensorPlace::Named(_) => match row.key.map(Untrusted::raw) {
                    Some(key) if keys.binary_search(&key).is_ok() => Id::Key(key.into()),
                    _ => continue,
                },
            };
            if let Some(layout) = row.layout {
                let sizes = layout.sizes.into_iter().flat_map(|sizes| sizes.iter());
                let dtype = layout.scalar_type;
                let dtype = dtype.torch_name().map_or_else(|| dtype.to_string(), Into::into);
                facts.layouts.entry(id).or_insert_with(|| shape(&dtype, sizes));
            }
        }
        for row in ConstantRow::all(file, payloads) {
            let method = row.method.map_or("", Untrusted::raw);
            let constant = row.constant;
            if !constants.contains(&(row.delegate, constant.value)) {
                continue;
            }
            let dtype = constant.datatype.to_string().to_lowercase();
            let dtype = datatype_name(&dtype);
            let id = Id::Constant(method.into(), row.delegate, constant.value);
            facts.layouts.insert(id, shape(dtype, constant.dims.iter().copied()));
        }
        if let File::Pte(pte) = file {
            for plan in pte.program().execution_plan().into_iter().flatten() {
                let name = plan.name().unwrap_or_default();
                // If several methods have one name, only the first counts.
                for index in delegates.remove(name).into_iter().flatten() {
                    let nth = usize::try_from(index).ok();
                    let delegate = plan.delegates().zip(nth).and_then(|(all, nth)| all.get(nth));
                    if let Some(id) = delegate.and_then(|delegate| delegate.id()) {
                        facts.backends.entry((name.into(), index)).or_insert_with(|| cut(id));
                    }
                }
                if let Some(indices) = wanted.remove(name) {
                    facts.add_operators(plan, name, &indices);
                }
            }
        }
        facts
    }

    /// Finds the first call that takes each of the tensors at `indices`.
    fn add_operators(&mut self, plan: ExecutionPlan<'_>, method: &str, indices: &[u32]) {
        let mut is_seen = vec![false; indices.len()];
        for instruction in method::instructions(plan) {
            for operand in instruction.operands().iter() {
                let found = u32::try_from(operand).ok().map(|index| indices.binary_search(&index));
                let Some(Ok(nth)) = found else { continue };
                let Some(is_seen @ false) = is_seen.get_mut(nth) else { continue };
                *is_seen = true;
                let name = match instruction.operation() {
                    Some(InstructionArguments::KernelCall(call)) => {
                        let all = plan.operators().zip(usize::try_from(call.op_index()).ok());
                        let operator = all.and_then(|(all, nth)| all.get(nth));
                        operator.map(|operator| cut(operator_name(operator).raw()))
                    }
                    Some(InstructionArguments::DelegateCall(call)) => {
                        Some(format!("delegate {}", call.delegate_index()))
                    }
                    _ => None,
                };
                if let (Some(name), Ok(index)) = (name, u32::try_from(operand)) {
                    let at = format!("{name} at {}", instruction.index());
                    self.operators.entry(Id::Tensor(method.into(), index)).or_insert(at);
                }
            }
        }
    }
}

/// Returns a dtype with the first few sizes.
fn shape<T: ToString>(dtype: &str, sizes: impl IntoIterator<Item = T>) -> String {
    let sizes: Vec<_> = sizes.into_iter().take(MOST_SIZES).map(|size| size.to_string()).collect();
    format!("{dtype}[{}]", sizes.join(", "))
}

/// Splits a qualified name into at most [`MOST_LEVELS`] modules. The last one has the rest of the
/// name.
fn modules(name: &str) -> Vec<String> {
    name.splitn(MOST_LEVELS, '.').map(cut).collect()
}

/// Returns the name, cut to its first characters.
fn cut(name: &str) -> String {
    match name.char_indices().nth(MOST_CHARACTERS) {
        None => name.into(),
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
    }
}

const TABLES: &str = "FlatBuffers part";

/// The name of the part that sums up the pieces which are not listed.
const SMALLER: &str = "smaller pieces";

/// The maximum number of pieces that are listed.
const MOST_PIECES: usize = 1000;
const MOST_LEVELS: usize = 8;
const MOST_SIZES: usize = 16;
const MOST_CHARACTERS: usize = 100;

#[cfg(test)]
mod tests {
    use super::{ModuleTree, modules};
    use pte_core::File;
    use pte_core::Pte;

    #[test]
    fn a_name_has_modules() {
        assert_eq!(modules("a.b.weight"), ["a", "b", "weight"]);
        assert_eq!(modules("1.2.3.4.5.6.7.8.9").last().unwrap(), "8.9");
        assert_eq!(modules("plain"), ["plain"]);
    }

    #[test]
    fn every_byte_counts_once() {
        fn sum(tree: &ModuleTree) -> u64 {
            match tree.parts.as_slice() {
                [] => tree.bytes,
                parts => {
                    let all = parts.iter().map(sum).sum();
                    assert_eq!(tree.bytes, all, "{}", tree.name);
                    all
                }
            }
        }
        for bytes in [
            &include_bytes!("../../../tests/data/pte/linear.pte")[..],
            include_bytes!("../../../tests/data/pte/mutable_names.pte"),
            include_bytes!("../../../tests/data/pte/xnn_mixed.pte"),
        ] {
            let tree = ModuleTree::of(&File::Pte(Pte::read(bytes).unwrap()), &[]);
            assert_eq!(sum(&tree), u64::try_from(bytes.len()).unwrap());
            assert!(tree.count > 3);
        }
    }
}
