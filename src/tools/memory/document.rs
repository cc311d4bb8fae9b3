//! The document `pte.memory/1`. With the feature `serde` it can be serialized.

use super::{Budget, Memory, Pools};
#[cfg(all(feature = "json", feature = "serde", feature = "std"))]
use pte_core::File;
#[cfg(all(feature = "json", feature = "serde", feature = "std"))]
use pte_flat::quoted::UntrustedString;

/// A method in the document `pte.memory/1`.
///
/// Its arenas and tensors are described while it is serialized, one by one, to save memory.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MethodDocument<'m, 'a> {
    /// The memory plan.
    pub memory: &'m Memory<'a>,
    /// The largest number of scratch bytes that a delegate of the method asks for at each run.
    pub scratch: u64,
    /// The pools besides arenas, for each runtime.
    pub pools: &'m [Pools],
    /// The limits that the method is compared with.
    pub budgets: &'m [Budget],
    /// The most tensors of an arena. Of more, the document has the largest.
    pub most_tensors: usize,
}

impl<'m, 'a> MethodDocument<'m, 'a> {
    /// Returns the document of a memory plan. `scratch` is the largest number of bytes that a
    /// delegate of the method asks for, from [`Scratch::of`](pte_core::payload::Scratch::of).
    #[must_use]
    pub fn new(memory: &'m Memory<'a>, scratch: u64) -> Self {
        Self { memory, scratch, pools: &[], budgets: &[], most_tensors: usize::MAX }
    }

    /// Adds what the method takes of the pools besides arenas, for each runtime.
    #[must_use]
    pub fn with_pools(self, pools: &'m [Pools]) -> Self {
        Self { pools, ..self }
    }

    /// Returns the bytes of all arenas together, and the scratch memory of delegates. Saturates at 2^64 − 1.
    #[must_use]
    pub fn needed(&self) -> u64 {
        self.memory.needed().saturating_add(self.scratch)
    }

    /// Adds the numbers of bytes by which the method and its arenas exceed `budgets`.
    #[must_use]
    pub fn with_budgets(self, budgets: &'m [Budget]) -> Self {
        Self { budgets, ..self }
    }

    /// Leaves out all but the `most` largest tensors of each arena, and adds `tensor_count` to arenas that have more.
    #[must_use]
    pub fn with_largest(self, most: usize) -> Self {
        Self { most_tensors: most, ..self }
    }

    /// Calls `charge` with each name in the document that comes from the file. A small file may use
    /// one long name for many tensors.
    ///
    /// # Errors
    ///
    /// The first error of `charge`.
    pub fn charge_names<E>(&self, mut charge: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        charge(self.memory.plan().name().unwrap_or_default())?;
        for arena in self.memory.arenas() {
            if let Some(pc) = arena.peak_pc {
                charge(self.memory.operation_name(pc).raw())?;
            }
            for tensor in self.memory.tensors(arena) {
                charge(self.memory.tensor_name(tensor.value).unwrap_or_default())?;
            }
        }
        Ok(())
    }
}

#[cfg(feature = "serde")]
mod serialize {
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use core::cmp::Reverse;

    use serde::{Serialize, Serializer};

    use super::{Budget, MethodDocument};
    use crate::listed::Listed;
    use crate::memory::{
        Limited, LiveRange, Memory, Outside, PlannedArena, PlannedTensor, Pool, PoolPart, Pools,
    };
    use pte_flat::quoted::{Untrusted, UntrustedString};

    #[derive(Serialize)]
    struct Head<'d, 'a, A: Serialize> {
        name: Option<Untrusted<'a>>,
        instructions: u32,
        planned: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        over: Option<u64>,
        arenas: A,
        unplanned: Vec<UnplannedRow>,
        outside: OutsideRow,
        pools: Vec<PoolsRow<'d>>,
    }

    #[derive(Serialize)]
    struct ArenaRow<T: Serialize> {
        id: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        device: Option<DeviceRow>,
        planned: Option<u64>,
        reach: u64,
        peak: u64,
        peak_at: Option<PeakAt>,
        slack: Option<u64>,
        fragmentation: u64,
        gaps: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        over: Option<u64>,
        /// The number of tensors, if only the largest follow.
        #[serde(skip_serializing_if = "Option::is_none")]
        tensor_count: Option<usize>,
        tensors: T,
    }

    #[derive(Serialize)]
    struct DeviceRow {
        kind: String,
        index: i8,
    }

    #[derive(Clone, Copy, Serialize)]
    struct Place {
        chain: u32,
        instruction: u32,
    }

    #[derive(Serialize)]
    struct PeakAt {
        #[serde(flatten)]
        place: Place,
        does: UntrustedString,
    }

    #[derive(Serialize)]
    struct TensorRow<'a> {
        value: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<Untrusted<'a>>,
        #[serde(flatten)]
        layout: Layout,
        bytes: Option<u64>,
        offset: u64,
        role: &'static str,
        /// Whether the tensor is a view. Left out if it is not.
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        view: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        lives: Option<Lives>,
    }

    #[derive(Default, Serialize)]
    struct Layout {
        dtype: String,
        sizes: Vec<i32>,
    }

    #[derive(Serialize)]
    struct Lives {
        first: Option<Place>,
        last: Option<Place>,
    }

    #[derive(Serialize)]
    struct UnplannedRow {
        value: u32,
        #[serde(flatten)]
        layout: Layout,
        bytes: Option<u64>,
        end: bool,
        unbounded: bool,
    }

    #[derive(Serialize)]
    struct OutsideRow {
        #[serde(flatten)]
        outside: Outside,
        scratch: u64,
    }

    /// What the method takes of the pools of a runtime.
    #[derive(Serialize)]
    struct PoolsRow<'d> {
        runtime: String,
        bits: u32,
        method: PoolRow<'d>,
        without_temporary: u64,
        temporary: PoolRow<'d>,
    }

    #[derive(Serialize)]
    struct PoolRow<'d> {
        bytes: u64,
        exact: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        over: Option<u64>,
        parts: &'d [PoolPart],
    }

    impl<'d> PoolsRow<'d> {
        fn of(pools: &'d Pools, budgets: &[Budget]) -> Self {
            let (major, minor) = pools.target.release();
            Self {
                runtime: format!("{major}.{minor}"),
                bits: pools.target.width().bits(),
                method: PoolRow::of(&pools.method, Limited::Method, budgets),
                without_temporary: pools.without_temporary,
                temporary: PoolRow::of(&pools.temporary, Limited::Temporary, budgets),
            }
        }
    }

    impl<'d> PoolRow<'d> {
        fn of(pool: &'d Pool, limited: Limited, budgets: &[Budget]) -> Self {
            Self {
                bytes: pool.bytes,
                exact: pool.is_exact(),
                over: Budget::over(budgets, limited, pool.bytes),
                parts: &pool.parts,
            }
        }
    }

    impl Serialize for MethodDocument<'_, '_> {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            let memory = self.memory;
            let unplanned = memory.unplanned().iter().map(|of| UnplannedRow {
                value: of.value,
                layout: Layout::of(memory, of.value),
                bytes: of.bytes,
                end: of.is_end,
                unbounded: of.is_unbounded,
            });
            let head = Head {
                name: memory.plan().name().map(Untrusted::from),
                instructions: memory.instruction_count(),
                planned: memory.planned(),
                over: Budget::over(self.budgets, Limited::All, self.needed()),
                arenas: Listed::new(memory.arenas().iter().map(|arena| arena_row(self, arena))),
                unplanned: unplanned.collect(),
                outside: OutsideRow { outside: memory.outside(), scratch: self.scratch },
                pools: self.pools.iter().map(|of| PoolsRow::of(of, self.budgets)).collect(),
            };
            head.serialize(to)
        }
    }

    fn arena_row(method: &MethodDocument<'_, '_>, arena: &PlannedArena<'_>) -> impl Serialize {
        let MethodDocument { memory, budgets, most_tensors, .. } = *method;
        let all = memory.tensors(arena);
        let largest = (all.len() > most_tensors).then(|| {
            let mut largest: Vec<_> = all.iter().collect();
            largest.sort_by_key(|tensor| Reverse(tensor.bytes));
            largest.truncate(most_tensors);
            largest
        });
        let tensor_count = largest.is_some().then_some(all.len());
        let others = if largest.is_some() { &[] } else { all };
        let tensors = largest.into_iter().flatten().chain(others);
        let peak_at = |pc| PeakAt { place: Place::of(memory, pc), does: memory.operation_name(pc) };
        ArenaRow {
            id: arena.id,
            device: arena.device.map(|device| DeviceRow {
                kind: device.device_type().to_string(),
                index: device.device_index(),
            }),
            planned: arena.planned,
            reach: arena.reach,
            peak: arena.peak,
            peak_at: arena.peak_pc.map(peak_at),
            slack: arena.slack(),
            fragmentation: arena.fragmentation(),
            gaps: arena.gaps(),
            over: Budget::over(budgets, Limited::Arena(arena.id), arena.needed()),
            tensor_count,
            tensors: Listed::new(tensors.map(|of| TensorRow::of(memory, of))),
        }
    }

    impl<'a> TensorRow<'a> {
        fn of(memory: &Memory<'a>, of: &PlannedTensor) -> Self {
            let at = |pc: Option<u32>| pc.map(|pc| Place::of(memory, pc));
            let lives = of.live_range.map(|LiveRange { first_use, last_use }| Lives {
                first: at(first_use),
                last: at(last_use),
            });
            Self {
                value: of.value,
                name: memory.tensor_name(of.value).map(Untrusted::from),
                layout: Layout::of(memory, of.value),
                bytes: of.bytes,
                offset: of.offset,
                role: of.role.name(),
                view: of.is_view,
                lives,
            }
        }
    }

    impl Place {
        fn of(memory: &Memory<'_>, pc: u32) -> Self {
            let (chain, instruction) = memory.place(pc);
            Self { chain, instruction }
        }
    }

    impl Layout {
        fn of(memory: &Memory<'_>, value: u32) -> Self {
            let Some(tensor) = memory.tensor(value) else { return Self::default() };
            let sizes = tensor.sizes().into_iter().flatten().collect();
            Self { dtype: tensor.scalar_type().to_string(), sizes }
        }
    }
}

/// Writes the document `pte.memory/1`, a method at a time.
#[cfg(all(feature = "json", feature = "serde", feature = "std"))]
#[derive(Debug)]
pub struct DocumentWriter {
    methods: usize,
}

#[cfg(all(feature = "json", feature = "serde", feature = "std"))]
impl DocumentWriter {
    /// The largest number of methods in a document.
    pub const MOST_METHODS: usize = 1024;

    /// Writes the facts about a file. `method_count` is the number of requested methods.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn begin(
        out: &mut (impl std::io::Write + ?Sized),
        path: &UntrustedString,
        file: &File<'_>,
        method_count: usize,
    ) -> std::io::Result<Self> {
        out.write_all(b"{\"schema\": \"pte.memory/1\", \"path\": ")?;
        crate::document::write_line(out, path)?;
        let (kind, named) = match file {
            File::Pte(pte) => ("pte", super::named_data_bytes(pte)),
            File::Ptd(_) => ("ptd", 0),
        };
        write!(
            out,
            ", \"kind\": \"{kind}\", \"method_count\": {method_count}, \"named_data\": {named}, "
        )?;
        out.write_all(b"\"methods\": [")?;
        Ok(Self { methods: 0 })
    }

    /// Writes a method.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn method(
        &mut self,
        out: &mut (impl std::io::Write + ?Sized),
        method: &MethodDocument<'_, '_>,
    ) -> std::io::Result<()> {
        out.write_all(if self.methods == 0 { b"\n" } else { b",\n" })?;
        self.methods = self.methods.saturating_add(1);
        crate::document::write_row(out, method)
    }

    /// Writes the end of the document.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn end(self, out: &mut (impl std::io::Write + ?Sized)) -> std::io::Result<()> {
        out.write_all(b"]}\n")
    }
}
