//! Asks a map for all of its parts, and bytes for their places.
//!
//! The fuzz target `views` does the same: see `fuzz/src/views.rs`.

use core::ops::Range;

use pte::File;
use pte::map::{ByteInfo, Map, Name, Nesting, Part, RowContents, Rows};

/// Every byte belongs to one part: the pieces cover the file without gaps, and parts sum to their parent.
pub fn ask_map(file: &File<'_>) {
    ask_pieces(&Map::of(file), file.file_len());
    let map = Map::in_detail(file);
    ask_pieces(&map, file.file_len());
    // A byte and a depth that vary between files.
    let at = u64::from(
        map.pieces()
            .iter()
            .fold(7, |sum: u32, piece| sum.wrapping_mul(31).wrapping_add(piece.range.end as u32)),
    );
    let nestings = [(1, 4), (9, 4), (9, usize::MAX)];
    let (depth, most) = nestings[(at % 3) as usize];
    ask_rows(map.ranges(Nesting { depth, most }).rows(), 0..file.file_len());
    ask_byte(file, &map, at.checked_rem(file.file_len()).unwrap_or_default());
    assert!(ByteInfo::of(file, file.file_len()).is_none());
}

/// Nested ranges cover their parent, and the kinds of a range sum to it.
pub fn ask_rows(rows: Rows<'_, '_, '_>, of: Range<u64>) {
    let mut end = of.start;
    for row in rows {
        let range = row.range();
        assert_eq!(range.start, end, "no gap, no overlap");
        assert!(range.start < range.end, "{row:?}");
        end = range.end;
        match row.contents() {
            RowContents::Rows(rows) => ask_rows(rows, range),
            RowContents::Kinds(kinds) => {
                let sum: u64 = kinds.iter().map(|kind| kind.bytes).sum();
                assert_eq!(sum, range.end - range.start, "{row:?}");
                assert!(kinds.iter().all(|kind| kind.count > 0), "{kinds:?}");
            }
            _ => {}
        }
    }
    assert_eq!(end, of.end);
}

/// `--at` and the list of ranges agree.
pub fn ask_byte(file: &File<'_>, map: &Map<'_>, at: u64) {
    let info = ByteInfo::of(file, at).expect("a byte of the file");
    let piece = map.at(at).expect("a piece");
    assert!(info.range().contains(&at) && info.piece().contains(&at), "{info}");
    assert!(info.range().end <= file.file_len(), "{info}: {:?}", info.range());
    let part = map.part(piece.part);
    match part.name() {
        Name::Object(path, _) => {
            let components: Vec<_> = path.components().collect();
            let found: Vec<_> = info.path().take(components.len()).collect();
            assert_eq!(found, components, "{info}");
            assert_eq!(info.piece(), piece.range, "{info}");
            assert_eq!(info.part().name(), part.name(), "{info}");
        }
        // A map without details may have similar neighbours.
        name => assert!(
            info.part().name() == name && info.piece().start <= piece.range.start,
            "{info} {name}"
        ),
    }
    assert!(!info.role().id().is_empty() && !info.role().to_string().is_empty());
}

/// Pieces cover a file of `len` bytes, and each belongs to a part without parts.
pub fn ask_pieces(map: &Map<'_>, len: u64) {
    let mut end = 0;
    for piece in map.pieces() {
        assert_eq!(piece.range.start, end, "no gap, no overlap");
        assert!(piece.range.start < piece.range.end, "{piece:?}");
        let part = map.part(piece.part);
        assert_eq!(part.parts().count(), 0, "{part:?} has bytes besides those of its parts");
        assert!(part.parent().is_some(), "{piece:?} belongs to something");
        assert_eq!(map.at(piece.range.start), Some(piece));
        assert_eq!(map.at(piece.range.end - 1), Some(piece));
        end = piece.range.end;
    }
    assert_eq!((end, map.at(end)), (len, None));
    assert_eq!(map.root().bytes(), len);
    sum(map.root());
}

fn sum(part: Part<'_, '_>) {
    assert!(!part.name().to_string().is_empty() || part.bytes() > 0);
    if part.parts().next().is_some() {
        assert_eq!(part.parts().map(Part::bytes).sum::<u64>(), part.bytes(), "{part:?}");
        part.parts().for_each(sum);
    }
}
