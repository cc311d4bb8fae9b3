//! The pools besides arenas as text: a column for each width of pointers.

use pte::memory::{Limited, Pool, Pools};

use super::method::Method;
use crate::problem::{BOLD, DIM, ERROR};
use crate::text::grouped;

/// Returns the lines of a table of a method's pools.
pub(super) fn lines(method: &Method<'_, '_>) -> Vec<String> {
    let Some(first) = method.pools.first() else { return Vec::new() };
    let (major, minor) = first.target.release();
    let column = |of: &dyn Fn(&Pools) -> String| -> String {
        method.pools.iter().map(|pools| format!("{:>WIDTH$}", of(pools))).collect()
    };
    let bits = column(&|pools| format!("{} bit", pools.target.width().bits()));
    let title = format!("pools for runtime {major}.{minor}");
    let mut lines = vec![format!("{BOLD}{title:<NAME$}{BOLD:#}  {DIM}{bits}{DIM:#}")];
    let pools: [(&str, Limited, PoolOf); 2] = [
        ("method allocator", Limited::Method, |pools| &pools.method),
        ("temporary allocator", Limited::Temporary, |pools| &pools.temporary),
    ];
    for (name, limited, pool) in pools {
        let bytes = column(&|pools| grouped(pool(pools).bytes));
        let over = method.pools.iter().filter_map(|of| method.over(limited, pool(of).bytes)).max();
        let over = over.map_or(String::new(), |over| {
            format!("  {ERROR}{} over the budget{ERROR:#}", grouped(over))
        });
        let parts = &pool(first).parts;
        let is_known = parts.iter().all(|part| part.bytes.is_some());
        let kind = match (is_known, pool(first).is_exact()) {
            (false, _) => "at least",
            (_, false) => "at most",
            _ => "exact",
        };
        lines.push(format!("  {name:<NAME$}{bytes}  {DIM}{kind}{DIM:#}{over}"));
        // A single exact part is the sum itself.
        if parts.len() == 1 && pool(first).is_exact() {
            continue;
        }
        for part in parts {
            let bytes = column(&|pools| {
                let parts = &mut pool(pools).parts.iter();
                let bytes =
                    parts.find(|other| other.name == part.name).map_or(Some(0), |part| part.bytes);
                bytes.map_or("?".into(), grouped)
            });
            let what = match (part.bytes, part.is_bound) {
                (None, _) => "  not known, not counted",
                (_, true) => "  at most",
                _ => "",
            };
            lines.push(format!("    {DIM}{:<PART$}{bytes}{what}{DIM:#}", part.name));
        }
    }
    lines
}

/// Returns one of the pools of a target.
type PoolOf = fn(&Pools) -> &Pool;

/// The width of a column of bytes, and of those of names.
const WIDTH: usize = 12;
const NAME: usize = 26;
const PART: usize = 24;
