//! Every byte of a file belongs to one part. The part is compared with the references to the byte.

use std::collections::BTreeMap;

use pte::Check;
use pte::Storage;
use pte::flat::json;
use pte::map::{
    ByteInfo, ByteRole, Map, Name, Nesting, OtherFile, Part, RowContents, Rows, Title, User,
};
use pte::payload::PayloadContents;
use pte::schema::program::view::KernelTypes;
use pte::{File, Handle, Limits, PathComponent, Ptd, Pte};

use crate::support::asm::{Asm, ptd as data, pte as program};
#[cfg(feature = "json")]
use crate::support::build;
use crate::support::files::{self, name};
use crate::support::mapped::{ask_byte, ask_map};
use crate::support::thinned;

/// Sums of damaged files are held by `support::exercise`.
#[test]
fn genuine_files_are_accounted_for() {
    for path in files::everything() {
        let bytes = files::read(&path).unwrap();
        ask_map(&read(&bytes));
    }
}

/// Each byte of data belongs to the tensor that uses it.
#[test]
fn data_belongs_to_its_users() {
    let (mut constants, mut mutable, mut payloads) = (0, 0, 0);
    for path in files::everything() {
        let bytes = files::read(&path).unwrap();
        let File::Pte(pte) = read(&bytes) else { continue };
        let map = Map::of(&File::Pte(pte.clone()));
        for plan in pte.program().execution_plan().into_iter().flatten() {
            let owned = |range: core::ops::Range<u64>, expected: &'static str, index: usize| {
                if range.is_empty() {
                    return false;
                }
                let piece = map.at(range.start).unwrap();
                // Tensors may overlap: a part of this one may be another's.
                let part = map.part(piece.part);
                let is_user = |user: &User<'_>| match *user {
                    User::Tensor { method, index: of, .. }
                    | User::Delegate { method, index: of, .. } => {
                        (method, of) == (plan.name(), index as u32)
                    }
                    _ => false,
                };
                match part.name() {
                    Name::Users(users) if users.iter().any(is_user) => {
                        assert_eq!(part.parent().unwrap().name(), Name::Fixed(expected));
                        assert_eq!(part.bytes(), range.end - range.start, "{}", name(&path));
                        true
                    }
                    _ => false,
                }
            };
            for (nth, value) in plan.values().into_iter().flatten().enumerate() {
                let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
                match pte.storage(tensor) {
                    Ok(Storage::Constant(range)) => {
                        let inline = range.start < pte.region().len() as u64;
                        let expected = if inline { "inline constants" } else { "constants" };
                        constants += usize::from(owned(range, expected, nth));
                    }
                    Ok(Storage::Planned { initial: Some(range), .. }) => {
                        mutable += usize::from(owned(range, "mutable data", nth));
                    }
                    _ => {}
                }
            }
            for (nth, delegate) in plan.delegates().into_iter().flatten().enumerate() {
                let Ok(Some(range)) = pte.delegate_range(delegate) else { continue };
                let inline = range.start < pte.region().len() as u64;
                let expected = if inline { "inline payloads" } else { "delegates" };
                payloads += usize::from(owned(range, expected, nth));
            }
        }
    }
    assert!(constants > 100 && mutable > 5 && payloads > 10, "{constants} {mutable} {payloads}");
}

/// No genuine file has bytes in its tables that nothing refers to, and that are not zeros.
#[test]
fn genuine_tables_have_no_unreferenced_bytes() {
    let mut found = BTreeMap::new();
    for path in files::samples() {
        let bytes = files::read(&path).unwrap();
        let file = read(&bytes);
        let map = Map::of(&file);
        let tables = part(map.root(), "FlatBuffers part").unwrap();
        if let Some(part) = part(tables, "unreferenced bytes") {
            found.insert(name(&path), part.bytes());
        }
    }
    assert_eq!(found, BTreeMap::new());
}

/// Parts in front, behind and between.
#[test]
fn what_nothing_refers_to_is_reported() {
    let bytes = |asm: Asm, path: &[&str]| {
        let bytes = asm.finish();
        let file = read(&bytes);
        ask_map(&file);
        let map = Map::of(&file);
        let found = path.iter().try_fold(map.root(), |of, name| part(of, name));
        found.map(Part::bytes)
    };
    assert_eq!(bytes(program(), &["trailing bytes"]), None);
    assert_eq!(bytes(program().bytes([1; 100]), &["trailing bytes"]), Some(100));
    assert_eq!(bytes(data().bytes([0; 100]), &["trailing bytes"]), Some(100));
    assert_eq!(bytes(program(), &["header"]), Some(40));
    let tail = ["FlatBuffers part", "unreferenced bytes"];
    let bare = || Asm::new().link("program").bytes(b"ET12").table("program", 4, &[]);
    assert_eq!(bytes(bare(), &tail), None);
    assert_eq!(bytes(bare().bytes([0, 0, 7]), &tail), Some(3));
    let padding = ["FlatBuffers part", "padding"];
    assert_eq!(bytes(bare(), &padding), Some(4), "between the vtable and its table");
    assert_eq!(bytes(bare().zeros(3), &padding), Some(7));
}

/// Tables that two methods share belong to the first method.
#[test]
fn shared_bytes_are_those_of_the_first() {
    let bytes = files::read("tests/data/pte/xnn_gpt.pte").unwrap();
    let file = read(&bytes);
    let map = Map::of(&file);
    let constants = part(map.root(), "constants").unwrap();
    let names: Vec<_> = constants.parts().map(|part| part.name().to_string()).collect();
    assert!(names.contains(&"forward:14, forward:15".into()), "{names:?}");
    assert!(names.contains(&"forward:2, forward:4, forward:6, 2 more".into()), "{names:?}");
}

/// Bytes of several segments belong to the first one, for any number of segments.
#[cfg(feature = "json")]
#[test]
fn a_byte_is_in_the_first_segment_that_has_it() {
    let bytes = build::file(
        r#"{"root": {"segments": [{"size": 64}, {"offset": 8, "size": 8},
            {"offset": 32, "size": 8}, {"offset": 60, "size": 8}]}, "data": [{"zeros": 68}]}"#,
    );
    let file = read(&bytes);
    ask_map(&file);
    let map = Map::of(&file);
    let base = file.segment_range(0).unwrap().start;
    assert_eq!(map.segment_at(base - 1), None);
    assert!((0..64).all(|at| map.segment_at(base + at) == Some(0)));
    assert!((64..68).all(|at| map.segment_at(base + at) == Some(3)));
    assert_eq!(map.segment_at(base + 68), None);
}

/// The file has many methods, each a table of 4 bytes. The first methods have separate parts,
/// and the others share one.
#[test]
fn a_file_of_many_methods_has_few_parts() {
    let count = 3000u32;
    let mut bytes = b"\x14\0\0\0ET12\x04\0\x04\0\x08\0\x08\0\0\0\x04\0".to_vec();
    let vector = [8, 4, count].into_iter();
    // All are as far from their offset, and share the vtable at 8.
    let offsets = (0..count).map(|_| 4 * count);
    let tables = (0..count).map(|nth| 32 + 4 * count + 4 * nth - 8);
    bytes.extend(vector.chain(offsets).chain(tables).flat_map(u32::to_le_bytes));
    let file = read(&bytes);
    ask_map(&file);
    let map = Map::of(&file);
    let tables = part(map.root(), "FlatBuffers part").unwrap();
    let methods = part(tables, "methods").unwrap();
    assert_eq!((methods.bytes(), methods.parts().count()), (12_000, 1025));
    let others = part(methods, "other methods").unwrap();
    assert_eq!(others.bytes(), 4 * (3000 - 1024));
}

/// `ByteInfo` of each byte agrees with the map of the file, and its path with the dump.
#[test]
fn a_byte_is_reported_with_its_path() {
    let mut reported = BTreeMap::new();
    for path in files::samples() {
        let bytes = files::read(&path).unwrap();
        let file = read(&bytes);
        let map = Map::in_detail(&file);
        let dump = Dump::of(&file);
        // In a large file only every nth byte is looked up, since each lookup visits all tables.
        let apart = ((bytes.len() / 1500) | 1) * thinned(81);
        for at in (0..bytes.len() as u64).step_by(apart) {
            ask_byte(&file, &map, at);
            let info = ByteInfo::of(&file, at).unwrap();
            *reported.entry(info.role().id()).or_insert(0) += 1;
            dump.ask(&file, &info, &bytes);
        }
    }
    let least = [
        ("between-fields", 100),
        ("data", 1000),
        ("header-field", 1000),
        ("number", 1000),
        ("offset", 1000),
        ("offset-to-vtable", 1000),
        ("padding", 1000),
        ("string-length", 1000),
        ("string-terminator", 100),
        ("string-text", 1000),
        ("table-length", 100),
        ("union-tag", 100),
        ("vector-length", 1000),
        ("vtable-entry", 1000),
        ("vtable-length", 100),
    ];
    for (role, least) in least {
        assert!(
            reported.get(role).is_some_and(|&count| count * thinned(108) >= least),
            "{role}: {reported:?}"
        );
    }
}

/// A file's tables as the dump has them, read independently.
struct Dump(serde_json::Value);

impl Dump {
    fn of(file: &File<'_>) -> Self {
        let options = || json::Options { pretty: false, blob: |_: &[u8]| None };
        let mut text = String::new();
        match file {
            File::Pte(pte) => {
                json::write(pte.program(), options(), &mut text).map(drop).unwrap();
            }
            File::Ptd(ptd) => match ptd.root() {
                pte::ptd::Root::Current(root) => {
                    json::write(root, options(), &mut text).map(drop).unwrap();
                }
                pte::ptd::Root::Legacy(root) => {
                    json::write(root, options(), &mut text).map(drop).unwrap();
                }
            },
        }
        Self(serde_json::from_str(&text).unwrap())
    }

    fn ask(&self, file: &File<'_>, info: &ByteInfo<'_>, bytes: &[u8]) {
        use pte::flat::desc::Number;
        let mut steps = info.path();
        if steps.next().is_none() {
            return;
        }
        let (mut value, mut holder, mut last) = (&self.0, &self.0, "");
        for step in steps {
            match step {
                PathComponent::Field(name) => (value, holder, last) = (&value[name], value, name),
                PathComponent::Index(nth) => value = &value[nth as usize],
                PathComponent::Variant(name) => {
                    assert_eq!(holder[format!("{last}_type")], name, "{info}")
                }
                _ => {}
            }
        }
        let range = info.range();
        let own = &bytes[range.start as usize..range.end as usize];
        match info.role() {
            ByteRole::Number { name: Some(name), .. } => assert_eq!(value, name, "{info}"),
            ByteRole::Number { value: Number::Int(number), .. } => {
                assert_eq!(value.to_string(), number.to_string(), "{info}");
            }
            ByteRole::Number { value: Number::Bool(is), .. } => assert_eq!(value, is, "{info}"),
            ByteRole::Number { value: Number::Float(number), .. } => {
                assert!(value.as_f64().is_none_or(|value| value == number), "{info} {value}");
            }
            ByteRole::Tag { member, .. } => {
                assert_eq!(holder[format!("{last}_type")], member.unwrap(), "{info}");
            }
            ByteRole::Text => assert_eq!(value.as_str().unwrap().as_bytes(), own, "{info}"),
            ByteRole::TextLength(len) => assert_eq!(value.as_str().unwrap().len(), len as usize),
            ByteRole::Terminator => {
                assert_eq!((value.is_string(), own), (true, &[0][..]), "{info}")
            }
            ByteRole::Count(count) => {
                assert_eq!(value.as_array().unwrap().len(), count as usize, "{info}");
            }
            // The target of an offset has the same path, unless an earlier offset leads to it.
            ByteRole::Offset { to } => {
                let target = ByteInfo::of(file, to).unwrap();
                let begins = matches!(
                    target.role(),
                    ByteRole::ToVtable { .. } | ByteRole::Count(_) | ByteRole::TextLength(_)
                );
                assert!(begins && target.range().start == to, "{info} {target}");
                assert!(target.path().count() <= info.path().count() + 1, "{info} {target}");
            }
            ByteRole::ToVtable { to } => {
                let target = ByteInfo::of(file, to).unwrap();
                assert!(matches!(target.role(), ByteRole::VtableLength(_)), "{info} {target}");
            }
            _ => {}
        }
    }
}

/// Findings and refusals name places as the map does.
#[test]
fn a_finding_is_where_the_map_says() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for path in files::samples() {
        let bytes = files::read(&path).unwrap();
        let file = read(&bytes);
        for finding in file.check().findings() {
            let Some(info) = ByteInfo::of(&file, finding.offset) else { continue };
            let named = finding.place().path().to_string();
            let found = info.place().path().to_string();
            // A place in a segment has a shorter path in the tables. At the end of an empty vector lies another object.
            let behind = finding.rule.id == "empty-vector-misaligned";
            if found.is_empty() || !named.contains('.') || info.segment().is_some() || behind {
                continue;
            }
            compared += 1;
            let same = named.starts_with(&found) || found.starts_with(&named);
            if !same {
                let rule = finding.rule.id;
                wrong.push(format!("{} {rule}: {} and {info}", name(&path), finding.place()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 20, "{compared}");
}

fn part<'m, 'a>(of: Part<'m, 'a>, name: &str) -> Option<Part<'m, 'a>> {
    of.parts().find(|part| part.name().to_string() == name)
}

fn read(bytes: &[u8]) -> File<'_> {
    match pte::file::sniff(bytes).unwrap() {
        pte::file::FileKind::Pte => File::Pte(Pte::read(bytes).unwrap()),
        pte::file::FileKind::Ptd => File::Ptd(Ptd::read(bytes).unwrap()),
    }
}

/// A range has the same parents as each of its bytes. Only vtables and padding lie outside of their parents.
#[test]
fn ranges_and_bytes_have_the_same_parents() {
    fn names(part: Part<'_, '_>) -> Vec<String> {
        let all = std::iter::successors(Some(part), |part| part.parent());
        let all = all.filter(|part| !matches!(part.name(), Name::Object(..)));
        let mut names: Vec<_> = all.map(|part| part.name().to_string()).collect();
        names.reverse();
        names
    }
    fn ask(file: &File<'_>, rows: Rows<'_, '_, '_>, around: &[String], seen: &mut [usize; 2]) {
        for row in rows {
            let (part, is_other) = match row.title() {
                Title::Part(part) => (part, false),
                Title::Other(part) => (part, true),
                _ => continue,
            };
            let own = names(part);
            let starts = own.starts_with(around);
            assert_eq!(starts, !is_other, "{row:?} in {around:?}");
            seen[usize::from(is_other)] += 1;
            match row.contents() {
                RowContents::Rows(rows) => ask(file, rows, &own, seen),
                RowContents::Nothing => {
                    let info = ByteInfo::of(file, row.range().start).unwrap();
                    assert_eq!(names(info.part()), own, "{row:?}");
                    let is_shared = ["vtables", "padding", "header padding"];
                    let last = own.last().unwrap().as_str();
                    assert!(!is_other || is_shared.contains(&last), "{row:?}");
                }
                _ => {}
            }
        }
    }
    let mut seen = [0; 2];
    for name in ["linear.pte", "add.pte", "xnn_gpt.pte", "cond.pte", "v0.2.0_mutable.pte"] {
        let bytes = files::read(format!("tests/data/pte/{name}")).unwrap();
        let file = read(&bytes);
        let map = Map::in_detail(&file);
        for nesting in [Nesting { depth: 4, most: 16 }, Nesting { depth: 99, most: usize::MAX }] {
            ask(&file, map.ranges(nesting).rows(), &names(map.root()), &mut seen);
        }
    }
    assert!(seen[0] > 1000 && seen[1] > 5, "{seen:?}");
}

/// A part that another part cuts in two is still one part.
#[cfg(feature = "json")]
#[test]
fn what_is_cut_is_counted_once() {
    let bytes = build::file(
        r#"{"root": {"segments": [{"size": 64}], "named_data": [{"key": "k"}],
            "constant_segment": {"offsets": [0, 8]}, "execution_plan": [{"values": [
                {"val_type": "Tensor", "val": {"scalar_type": "INT", "sizes": [2],
                    "dim_order": [0], "data_buffer_idx": 1}}]}]},
          "data": [{"zeros": 64}]}"#,
    );
    let file = read(&bytes);
    let map = Map::of(&file);
    let ranges = map.ranges(Nesting { depth: 1, most: 99 });
    let segment = ranges.rows().find(|row| matches!(row.title(), Title::Segment(0))).unwrap();
    let RowContents::Kinds(kinds) = segment.contents() else { panic!("{segment:?}") };
    let reported: Vec<_> = kinds.iter().map(|kind| (kind.name, kind.count, kind.bytes)).collect();
    assert_eq!(reported, [("named data", 1, 56), ("constants", 1, 8)]);
}

/// A byte of unknown fields belongs to the last field that begins in front of it.
#[test]
fn a_byte_of_unknown_fields_is_of_the_nearest() {
    let asm = Asm::new().link("program").bytes(b"ET12");
    let asm = asm.table("program", 16, &[12, 0, 0, 0, 0, 0, 0, 0, 4, 8]);
    let pos = asm.at("program*");
    let bytes = asm.u32(7).u32(9).u32(0).zeros(64).finish();
    let file = read(&bytes);
    for (at, slot, range) in [(4, 8, 4..8), (7, 8, 4..8), (8, 9, 8..12), (11, 9, 8..12)] {
        let info = ByteInfo::of(&file, pos + at).unwrap();
        let range = pos + range.start..pos + range.end;
        assert_eq!(
            (info.role(), info.range()),
            (ByteRole::UnknownField { slot }, range),
            "byte {at}"
        );
    }
}

/// A vtable may declare a table that ends behind the FlatBuffer: only its fields are proven.
#[test]
fn a_byte_behind_the_fields_has_a_range_within_the_file() {
    let asm = Asm::new().link("program").bytes(b"ET12");
    let asm = asm.table("program", 4096, &[]);
    let pos = asm.at("program*");
    let bytes = asm.zeros(16).finish();
    let info = ByteInfo::of(&read(&bytes), pos + 7).unwrap();
    assert_eq!(info.role(), ByteRole::BehindFields);
    assert_eq!(info.range(), pos + 4..bytes.len() as u64);
}

/// In generation 0 the FlatBuffer begins after the header, with its own root offset and identifier.
#[test]
fn the_first_bytes_of_generation_0_are_reported() {
    let bytes = files::read("tests/data/ptd/vgen1a_ptd_direct_16.ptd").unwrap();
    let file = read(&bytes);
    let begin = file.region_range().start;
    assert_eq!(begin, 48);
    for (at, name, range) in [
        (0, "magic", 0..4),
        (39, "segment_data_size", 32..40),
        (begin, "root offset", begin..begin + 4),
        (begin + 3, "root offset", begin..begin + 4),
        (begin + 4, "identifier", begin + 4..begin + 8),
    ] {
        let info = ByteInfo::of(&file, at).unwrap();
        assert_eq!((info.role(), info.range()), (ByteRole::Header(name), range), "{at}");
    }
}

/// Users of one range are one part, even if users of a shorter range are between them.
#[cfg(feature = "json")]
#[test]
fn users_of_equal_ranges_are_one_part_in_any_order() {
    let tensor = |len: i32| {
        format!(
            r#"{{"val_type": "Tensor", "val": {{"scalar_type": "BYTE", "sizes": [{len}],
                "dim_order": [0], "data_buffer_idx": 1}}}}"#
        )
    };
    for lens in [[8, 4, 8], [4, 8, 8], [8, 8, 4]] {
        let values = lens.map(tensor).join(",");
        let bytes = build::file(&format!(
            r#"{{"root": {{"segments": [{{"size": 8}}], "constant_segment": {{"offsets": [0, 0]}},
                "execution_plan": [{{"name": "m", "values": [{values}]}}]}},
                "data": [{{"zeros": 8}}]}}"#
        ));
        let file = read(&bytes);
        let map = Map::of(&file);
        let constants = part(map.root(), "constants").unwrap();
        let users = |len| {
            let of = (0..3).filter(|&nth| lens[nth] == len).map(|nth| format!("m:{nth}"));
            of.collect::<Vec<_>>().join(", ")
        };
        let mut names: Vec<_> = constants.parts().map(|part| part.name().to_string()).collect();
        names.sort_unstable();
        let mut wanted = [users(4), users(8)];
        wanted.sort_unstable();
        assert_eq!(names, wanted, "{lens:?}");
    }
}

/// A payload is broken down in a program as it is in a standalone file.
#[test]
fn payloads_in_programs_have_the_parts_of_standalone_files() {
    let (mut tables, mut headers, mut data) = (0, 0, 0);
    for name in [
        "mlx_mlp",
        "native_mlp",
        "vulkan_conv",
        "xnn_delegate_inline",
        "xnn_delegate_segment",
        "v0.2.0_xnn_all_inline",
        "v0.2.0_xnn_qs8",
        "v0.5.0_xnn_inline",
    ] {
        let bytes = files::read(format!("tests/data/pte/{name}.pte")).unwrap();
        let handle = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
        let file = handle.file();
        let contents = PayloadContents::all_with_parts(&handle, &Limits::UNTRUSTED).unwrap();
        assert!(!contents.is_empty(), "{name}");
        ask_pieces_of(&Map::with_payloads(&file, &contents), file.file_len());
        ask_pieces_of(&Map::in_detail_with_payloads(&file, &contents), file.file_len());
        for payload in &contents {
            let range = payload.range.clone();
            let alone = &bytes[range.start as usize..range.end as usize];
            let other = OtherFile::read(&alone, &Limits::UNTRUSTED).unwrap().unwrap().unwrap();
            for at in (0..range.end - range.start).step_by(7) {
                let expected = ByteInfo::of_other(&other, at).unwrap();
                let found = ByteInfo::with_payloads(&file, &contents, range.start + at).unwrap();
                let at = format!("{name} {at:#x}");
                assert_eq!(found.role().id(), expected.role().id(), "{at}: {found}");
                let shifted =
                    expected.range().start + range.start..expected.range().end + range.start;
                match found.role() {
                    ByteRole::Data => data += 1,
                    ByteRole::Padding => {}
                    ByteRole::Header(field) => {
                        headers += 1;
                        assert_eq!(expected.role(), ByteRole::Header(field), "{at}");
                        assert_eq!(found.range(), shifted, "{at}");
                    }
                    _ => {
                        tables += 1;
                        assert_eq!(found.range(), shifted, "{at}");
                        let (found, expected): (Vec<_>, Vec<_>) =
                            (found.path().collect(), expected.path().collect());
                        assert_eq!(found, expected, "{at}");
                    }
                }
            }
        }
    }
    assert!(tables > 1000 && headers > 30 && data > 30, "{tables} {headers} {data}");
}

/// Each byte is in one piece, and the bytes of parts sum to those of the file.
fn ask_pieces_of(map: &Map<'_>, len: u64) {
    let mut end = 0;
    for piece in map.pieces() {
        assert_eq!(piece.range.start, end);
        end = piece.range.end;
    }
    assert_eq!((end, map.root().bytes()), (len, len));
}

/// Named data belongs to the graph that requests it, with the value and the node.
#[test]
fn named_data_of_vulkan_and_mlx_belongs_to_a_delegate() {
    for (name, expected) in [
        (
            "vulkan_conv",
            &["forward:0 VulkanBackend node 0 value 0", "forward:0 VulkanBackend node 0 value 1"][..],
        ),
        (
            "mlx_mlp",
            &[
                "forward:0 MLXBackend node 0 value 0 7e98/ls.0.weight",
                "forward:0 MLXBackend node 1 value 1 7e98/ls.0.bias",
                "forward:0 MLXBackend node 3 value 2 7e98/ls.1.weight",
                "forward:0 MLXBackend node 4 value 3 7e98/ls.1.bias",
            ],
        ),
    ] {
        let bytes = files::read(format!("tests/data/pte/{name}.pte")).unwrap();
        let handle = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
        let contents = PayloadContents::all(&handle, &Limits::UNTRUSTED).unwrap();
        let file = handle.file();
        let map = Map::with_payloads(&file, &contents);
        let named = part(map.root(), "named data").unwrap();
        let mut names: Vec<_> = named.parts().map(|part| part.name().to_string()).collect();
        names.sort();
        assert_eq!(names, expected, "{name}");
    }
}

/// The sections of a payload are data, and not unreferenced bytes.
#[test]
fn a_section_of_a_payload_is_data() {
    let bytes = files::read("tests/data/other/linear.etrecord").unwrap();
    let file = OtherFile::read(&&bytes[..], &Limits::UNTRUSTED).unwrap().unwrap().unwrap();
    let at = file.sections()[0].range.start;
    assert_eq!(ByteInfo::of_other(&file, at).unwrap().role(), ByteRole::Data);
}

/// The headers of an archive's members are apart from its directory.
#[test]
fn the_member_headers_of_a_package_are_apart_from_its_directory() {
    for path in ["tests/data/other/n_alias.ptn", "tests/data/other/linear.etrecord"] {
        let bytes = files::read(path).unwrap();
        let file = OtherFile::read(&&bytes[..], &Limits::UNTRUSTED).unwrap().unwrap().unwrap();
        let map = file.map();
        // Local headers begin with PK\x03\x04, and entries of the directory with PK\x01\x02.
        let signatures = bytes.windows(4).enumerate();
        let (mut headers, mut entries) = (0, 0);
        for (at, found) in signatures {
            let expected = match found {
                b"PK\x03\x04" => "member headers",
                b"PK\x01\x02" => "zip directory",
                _ => continue,
            };
            let part = map.part(map.at(at as u64).unwrap().part);
            // Members may be archives too.
            if part.parent().is_some_and(|parent| parent.parent().is_some()) {
                continue;
            }
            assert_eq!(part.name(), Name::Fixed(expected), "{path} {at:#x}");
            if expected == "member headers" {
                headers += 1;
                let info = ByteInfo::of_other(&file, at as u64).unwrap();
                assert_eq!(info.role(), ByteRole::Header("signature"), "{path} {at:#x}");
            } else {
                entries += 1;
            }
        }
        assert!(headers >= 3 && headers == entries, "{path}: {headers} {entries}");
    }
}
