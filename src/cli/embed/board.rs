//! The TOML file of a board.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pte::check::NEWEST;
use pte::firmware::{Board, Loads, Region};
use pte::operators::selected::SelectedOperators;
use serde::Deserialize;

use crate::byte_size::ByteSize;
use crate::config::read_toml;
use crate::kernels::KernelList;
use crate::problem::Problem;
use crate::text::name_of;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoardFile {
    name: String,
    source: Option<String>,
    flash: Sizes,
    sram: Sizes,
    #[serde(default)]
    regions: BTreeMap<String, MappedSizes>,
    operators: Option<Vec<String>>,
    backends: Option<BTreeSet<String>>,
    #[serde(default)]
    loads: Loads,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sizes {
    size: Size,
    #[serde(default)]
    reserved: Size,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MappedSizes {
    size: Size,
    #[serde(default)]
    reserved: Size,
    memory_ids: BTreeSet<u32>,
}

/// A number of bytes, or a text with a unit.
#[derive(Default, Deserialize)]
#[serde(try_from = "SizeText")]
struct Size(u64);

#[derive(Deserialize)]
#[serde(untagged)]
enum SizeText {
    Number(u64),
    Text(String),
}

/// Reads a board.
pub(super) fn read(path: &Path) -> Result<Board, Problem> {
    let file: BoardFile = read_toml(path)?;
    let invalid = |message: String| Problem::Usage(format!("{}: {message}", name_of(path)).into());
    let mut ids = BTreeSet::new();
    let all = file.regions.values().flat_map(|region| &region.memory_ids);
    if let Some(twice) = all.copied().find(|&id| id == 0 || !ids.insert(id)) {
        let why = if twice == 0 { "memory ids begin with 1" } else { "it is in two regions" };
        return Err(invalid(format!("memory id {twice}: {why}")));
    }
    if let Some(name) = file.regions.keys().find(|name| ["flash", "sram"].contains(&name.as_str()))
    {
        return Err(invalid(format!("regions.{name}: the board has such a region already")));
    }
    let region = |name: &str, sizes: Sizes| Region {
        name: name.into(),
        bytes: sizes.size.0,
        reserved: sizes.reserved.0,
        memory_ids: BTreeSet::new(),
    };
    let regions = file.regions.into_iter().map(|(name, of)| Region {
        memory_ids: of.memory_ids,
        ..region(&name, Sizes { size: of.size, reserved: of.reserved })
    });
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(Board {
        name: file.name.into(),
        source: file.source.map(Into::into),
        regions: regions.collect(),
        flash: region("flash", file.flash),
        sram: region("sram", file.sram),
        operators: file.operators.map(|names| operators(&names, folder)).transpose()?,
        backends: file.backends,
        loads: file.loads,
    })
}

/// Returns the operators of a list: names, kernel libraries, and files relative to `folder`.
fn operators(names: &[String], folder: &Path) -> Result<SelectedOperators, Problem> {
    let mut all = SelectedOperators::default();
    for name in names {
        // An operator has its namespace before two colons.
        if name.contains("::") && !name.contains(['\n', '\r']) {
            let one = SelectedOperators::read(name);
            all.merge(
                one.map_err(|error| Problem::Usage(format!("{name}: {}", error.message).into()))?,
            );
        } else {
            let is_library = SelectedOperators::of_library(name, NEWEST).is_some();
            let part = if is_library { PathBuf::from(name) } else { folder.join(name) };
            all.merge(KernelList::of_part(part).read(NEWEST)?);
        }
    }
    Ok(all)
}

impl TryFrom<SizeText> for Size {
    type Error = String;

    fn try_from(text: SizeText) -> Result<Self, String> {
        match text {
            SizeText::Number(bytes) => Ok(Self(bytes)),
            SizeText::Text(text) => text.parse().map(|ByteSize(bytes)| Self(bytes)),
        }
    }
}
