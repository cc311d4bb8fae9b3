//! Files that are refused for one code: a valid file with one damage.

use arbitrary::Unstructured;
use pte::flat::desc::TableDesc;
use pte::ptd::Generation;
use pte::schema::{flat_tensor, flat_tensor_legacy, program};
use pte::{File, Limits};
use serde_json::json;

use super::{data, entropy, image, model};
use crate::mutate::Xorshift;
use crate::places::{Place, places};
use crate::{chaos, smith, structured};
use pte_tests::build;

/// Valid files for one sample.
const BASES: usize = 4_000;

/// Damages of each.
const DAMAGES: usize = 64;

/// Makes a file that is refused for `code`.
pub(super) fn file(code: &str, random: &mut Xorshift) -> Option<Vec<u8>> {
    let is_refused = |file: &[u8]| {
        File::read_with(file, &Limits::UNTRUSTED).is_err_and(|error| error.code() == code)
    };
    for _ in 0..BASES {
        let made = match code {
            "other-format" => Some(foreign(random)),
            "work-limit" => Some(shared(random)),
            "flat-tensor-polyglot" => polyglot(random),
            _ => None,
        };
        if let Some(file) = made {
            if is_refused(&file) {
                return Some(file);
            }
            continue;
        }
        let Some(base) = base(random) else { continue };
        let places = all_places(&base);
        for _ in 0..DAMAGES {
            let mut file = base.clone();
            damage(&mut file, &places, random);
            if is_refused(&file) {
                return Some(salted(file, &is_refused, random));
            }
        }
    }
    None
}

/// Files of fewer bytes would often be the same.
const SHORT: usize = 128;

/// Gives a short file other bytes where that leaves its refusal as it is.
fn salted(file: Vec<u8>, holds: &dyn Fn(&[u8]) -> bool, random: &mut Xorshift) -> Vec<u8> {
    let mut kept = file;
    for at in 0..if kept.len() < SHORT { kept.len() } else { 0 } {
        let mut other = kept.clone();
        other[at] = random.below(256) as u8;
        if random.below(2) == 0 && holds(&other) {
            kept = other;
        }
    }
    kept
}

/// Makes a valid file of any kind.
fn base(random: &mut Xorshift) -> Option<Vec<u8>> {
    match random.below(4) {
        0 | 1 => image(&model(smith::program, random)?),
        2 => {
            let bytes = entropy(random);
            let random = &mut Unstructured::new(&bytes);
            let model = smith::program(random).ok()?;
            Some(chaos::program(&model, random).ok()?.0)
        }
        _ => data::file(random.next_u64() >> 32, random),
    }
}

/// Returns the places of the file's FlatBuffer, by their position in the file.
fn all_places(file: &[u8]) -> Vec<Place> {
    let (region, begin, root): (&[u8], u64, &'static TableDesc) =
        match File::read_with(file, &Limits::UNTRUSTED) {
            Ok(File::Pte(pte)) => (pte.region(), 0, program::desc::SCHEMA.root),
            Ok(File::Ptd(ptd)) => {
                let root = match ptd.generation() {
                    Generation::Three => flat_tensor::desc::SCHEMA.root,
                    _ => flat_tensor_legacy::desc::SCHEMA.root,
                };
                (ptd.region(), ptd.region_start(), root)
            }
            Err(_) => return Vec::new(),
        };
    let begin = usize::try_from(begin).unwrap_or_default();
    let moved = |place: Place| Place { at: place.at + begin, ..place };
    places(region, root).into_iter().map(moved).collect()
}

/// Does one damage: to a place of the tables, to a word of the headers, or to the length.
fn damage(file: &mut Vec<u8>, places: &[Place], random: &mut Xorshift) {
    if !places.is_empty() && random.below(2) == 0 {
        let place = places[random.below(places.len())];
        let other = places[random.below(places.len())];
        let how = random.below(256) as u8;
        structured::damage(file, place.at, place.what, how, random.next_u64(), other.at);
        return;
    }
    if random.below(4) == 0 {
        let most = if random.below(2) == 0 { file.len() } else { file.len().min(96) };
        file.truncate(random.below(most));
        return;
    }
    let width = [1, 4, 8, 8][random.below(4)];
    let at = random.below(96) / width * width;
    let len = file.len() as u64;
    let value = match random.below(6) {
        0 => 0,
        1 => random.below(96) as u64,
        2 => len.wrapping_add(random.below(64) as u64).wrapping_sub(32),
        3 => random.next_u64() % (len + 1),
        4 => random.next_u64() >> random.below(64),
        _ => (random.below(128) as u64).wrapping_neg(),
    };
    let target = file.get_mut(at..).unwrap_or_default();
    target.iter_mut().zip(&value.to_le_bytes()[..width]).for_each(|(old, new)| *old = *new);
}

/// Makes the beginning of a file of another format, or random bytes. Profiles and bundled programs
/// are left out: the command reads them, and reports what is wrong in their tables.
fn foreign(random: &mut Xorshift) -> Vec<u8> {
    let heads: [&[u8]; 8] = [
        b"PK\x03\x04",
        b"GGUF",
        b"\x1f\x8b",
        b"\x7fELF",
        b"MZ",
        b"<!DOCTYPE html>",
        b"version https://git-lfs",
        b"",
    ];
    let mut file = heads[random.below(heads.len())].to_vec();
    let len = 8 + random.below(200);
    file.extend(data::bytes(len, random));
    file
}

/// Makes a program whose methods are one table, with one name: its tree is far larger than the file.
fn shared(random: &mut Xorshift) -> Vec<u8> {
    let count = 40 + random.below(200) as u32;
    let name = vec![b'a' + random.below(26) as u8; 100 + random.below(300)];
    let plan = 28 + 4 * count + 8;
    let mut file = Vec::new();
    let mut put = |bytes: &[u8]| file.extend_from_slice(bytes);
    put(&16u32.to_le_bytes());
    put(b"ET12");
    // The root's vtable: the methods alone.
    [8u16, 8, 0, 4].iter().for_each(|half| put(&half.to_le_bytes()));
    [8, 4, count].iter().for_each(|word| put(&word.to_le_bytes()));
    (0..count).for_each(|nth| put(&(plan - 28 - 4 * nth).to_le_bytes()));
    // The method's vtable: the name alone.
    [6u16, 8, 4, 0].iter().for_each(|half| put(&half.to_le_bytes()));
    [8, 4, name.len() as u32].iter().for_each(|word| put(&word.to_le_bytes()));
    put(&name);
    put(&[0]);
    file
}

/// Makes a data file that is one of generation 2 and of generation 3, with other tensors.
fn polyglot(random: &mut Xorshift) -> Option<Vec<u8>> {
    let size = 1 + random.below(40);
    let name = |_| char::from(b'a' + random.below(26) as u8);
    let name: String = (0..12).map(name).collect();
    let description = json!({
        "kind": "ptd-legacy",
        "root": {
            "tensor_alignment": 16,
            "tensors": [{"fully_qualified_name": name}],
            "segments": [{"offset": 0, "size": size}],
        },
        "data": [{"bytes": data::bytes(size, random)}],
    });
    let mut file = build::file(&description.to_string());
    let word =
        |file: &[u8], at: usize| Some(u32::from_le_bytes(*file.get(at..)?.first_chunk()?) as usize);
    let root = word(&file, 0)?;
    let vtable = root.wrapping_sub(word(&file, root)?);
    let field = |slot: usize| Some(root + (word(&file, vtable + 4 + 2 * slot)? & 0xffff));
    let (alignment, segments) = (field(1)?, field(3)?);
    // The old alignment is an offset to the old segments, which are new segments too.
    let target = segments + word(&file, segments)?;
    let offset = u32::try_from(target.checked_sub(alignment)?).ok()?;
    file.get_mut(alignment..)?.first_chunk_mut().map(|bytes| *bytes = offset.to_le_bytes())?;
    Some(file)
}
