//! The oracles of delegates' payloads, bundled programs and profiles: `payload` takes any bytes, `graph`
//! begins with a sound graph of XNNPACK.

use arbitrary::{Result, Unstructured};
use flatbuffers::InvalidFlatbuffer;
use planus::ReadAsRoot;
use pte::check::Checker;
use pte::flat::desc::Schema;
use pte::flat::json::Options;
use pte::flat::load;
use pte::flat::model::Model;
use pte::flat::tree::Object;
use pte::flat::write::{self, WriterLayout};
use pte::payload::xnnpack::XnnpackGraph;
use pte::payload::{Tables, TablesPlace, Unreadable};
use pte::schema::xnnpack;
use pte::{Error, File, Limits};

use crate::agree::readers::{
    bundled_program_values, bundled_program_verifier, etdump_values, etdump_verifier, is_laxer,
    is_stricter, mlx_verifier, native_verifier, same, tosa_values, tosa_verifier, verdict,
    vulkan_values, vulkan_verifier, xnnpack_values, xnnpack_verifier,
};
use crate::places::places;
use crate::read::assert_reason;
use crate::{smith, structured};

/// A payload is refused with a reason, or proven. The readers of others say the same of its tables, which
/// are the same when they are written and read again. Its findings lie in it.
pub fn payload(bytes: &[u8]) {
    judge(bytes);
    let len = bytes.len() as u64;
    let Some(Ok(place)) = TablesPlace::of(&bytes[..bytes.len().min(64)], len) else { return };
    let start = usize::try_from(place.range.start).unwrap_or(usize::MAX);
    let tables = &bytes[start..usize::try_from(place.range.end).unwrap_or(usize::MAX)];
    match Tables::read(&place, tables, &Limits::UNTRUSTED) {
        Ok(read) => accepted(&place, &read, tables),
        Err(Unreadable::Graph(error)) => {
            assert_reason(&error, bytes.len());
            refused(place.schema, &error, tables);
        }
        Err(why) => assert!(!why.to_string().is_empty(), "a refusal has a reason"),
    }
}

fn judge(bytes: &[u8]) {
    let Ok(report) = Checker::new().check_payload(bytes) else { return };
    for finding in report.findings() {
        assert!(finding.offset <= bytes.len() as u64, "{finding:?} lies behind the payload");
    }
}

/// Returns the position of the root offset: a profile may have its size in front.
fn root_at(tables: &[u8]) -> usize {
    if tables.get(8..12) == Some(b"ED00") && tables.get(4..8) != Some(b"ED00") { 4 } else { 0 }
}

/// The readers of others for a schema.
struct Others {
    root: &'static str,
    /// Compares the values that planus reads, if it reads the schema; `false` if ours cannot be compared.
    agree: fn(Object<'_>, &[u8]) -> bool,
    /// The verdict of the official verifier.
    verdict: fn(&[u8], usize) -> core::result::Result<(), InvalidFlatbuffer>,
}

macro_rules! others {
    ($($root:ident: $module:ident, $verifier:ident $(, $values:ident :: $read:ident)?;)*) => {
        [$(Others {
            root: stringify!($root),
            agree: |ours, tables| {
                let ours: Option<pte::schema::$module::model::$root> = known(ours);
                let _ = tables;
                $( if let Some(ours) = &ours {
                    let theirs = || $values::$read(ReadAsRoot::read_as_root(tables)?);
                    same(ours, theirs());
                } )?
                ours.is_some()
            },
            verdict: verdict::<$verifier::$root>,
        }),*]
    };
}

const OTHERS: [Others; 7] = others! {
    XNNGraph: xnnpack, xnnpack_verifier, xnnpack_values::table_XNNGraph;
    VkGraph: vulkan, vulkan_verifier, vulkan_values::table_VkGraph;
    TosaGraph: tosa, tosa_verifier, tosa_values::table_TosaGraph;
    MLXGraph: mlx, mlx_verifier;
    Program: native, native_verifier;
    BundledProgram: bundled_program, bundled_program_verifier, bundled_program_values::table_BundledProgram;
    ETDump: etdump, etdump_verifier, etdump_values::table_ETDump;
};

fn others(schema: &Schema) -> &'static Others {
    let others = OTHERS.iter().find(|others| others.root == schema.root.name);
    others.unwrap_or_else(|| panic!("no reader of others for {}", schema.root.name))
}

fn accepted(place: &TablesPlace, read: &Tables<'_>, tables: &[u8]) {
    let (schema, root) = (place.schema, root_at(tables));
    if let Err(error) = (others(schema).verdict)(tables, root) {
        assert!(is_laxer(&error, tables), "only the official verifier refuses: {error:?}");
    }
    let text = json(read);
    let load = || {
        let loaded = load::read(&text, schema.root, &mut load::no_files);
        loaded.unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    if !(others(schema).agree)(load(), &tables[root..]) {
        return;
    }
    // The writer puts no size in front.
    let layouts = if root == 0 { WriterLayout::ALL.as_slice() } else { &[] };
    for layout in layouts {
        // A vector, a string or a table that is too long for the layout.
        let Ok(bytes) = write::write(schema, &load(), &[], layout) else { continue };
        let mut place = place.clone();
        place.range = 0..bytes.len() as u64;
        let again = Tables::read(&place, &bytes, &Limits::UNTRUSTED);
        let again = again.unwrap_or_else(|why| panic!("{}: {why}", layout.name));
        assert_eq!(json(&again), text, "in the layout {}", layout.name);
    }
}

/// Returns the struct of an object. `None` if a union has a member that is not known: no struct holds that.
fn known<M: Model>(object: Object<'_>) -> Option<M> {
    match M::from_object(object) {
        Ok(model) => Some(model),
        Err(error) => {
            assert!(error.to_string().starts_with("a union has the tag"), "{error}");
            None
        }
    }
}

fn refused(schema: &Schema, error: &Error, tables: &[u8]) {
    if (others(schema).verdict)(tables, root_at(tables)).is_ok() {
        assert!(is_stricter(error, tables.len()), "only we refuse: {error}, at {}", error.place());
    }
}

fn json(tables: &Tables<'_>) -> String {
    let mut text = String::new();
    let options = Options { pretty: false, blob: |_: &[u8]| None };
    tables.write_json(options, 0, &mut text).expect("a string takes text");
    text
}

/// A sound graph breaks no rule of severity Error, in its program and alone, however its tables are laid
/// out. With one to four damages it is a payload like any other.
pub fn graph(bytes: &[u8]) {
    let _ = draw(&mut Unstructured::new(bytes));
}

fn draw(random: &mut Unstructured<'_>) -> Result<()> {
    let damages = random.int_in_range(1..=4)?;
    let choices: Vec<(u32, u8, u64)> =
        (0..damages).map(|_| random.arbitrary()).collect::<Result<_>>()?;
    let layout = random.choose(&WriterLayout::ALL)?;
    let model = smith::graph(random)?;
    let image = structured::image(&model);
    let errors = |bytes: &[u8]| {
        let report = Checker::new()
            .check_tables(&File::read_with(bytes, &Limits::UNTRUSTED).expect("a whole program"));
        report.errors().map(|rule| rule.id).collect::<Vec<_>>()
    };
    assert_eq!(errors(&image), [""; 0], "a sound graph");
    let inline = model.root.backend_delegate_data.iter().flatten().next();
    let inline = inline.and_then(|inline| inline.data.clone());
    let segment = || Some(model.segments.first()?.to_bytes().ok()?.into_owned());
    let mut bytes = inline.or_else(segment).expect("a program with a graph has its payload");
    payload(&bytes);
    let graph = XnnpackGraph::parse(&bytes, &Limits::UNTRUSTED).expect("a sound graph");
    let written = write::write(&xnnpack::desc::SCHEMA, &graph.root(), &[], layout);
    let alone = Checker::new().check_payload(&written.expect("a small graph"));
    // It has no header, and so no constants.
    assert!(alone.is_ok(), "{} in the layout {}", alone.unwrap_err(), layout.name);
    let [start, end] = [graph.parts().graph.start, graph.parts().graph.end]
        .map(|at| usize::try_from(at).unwrap_or(usize::MAX));
    let region = &mut bytes[start..end];
    let places = places(region, xnnpack::desc::SCHEMA.root);
    for (which, how, value) in choices {
        let place = places[which as usize % places.len()];
        let other = places[value as usize % places.len()];
        structured::damage(region, place.at, place.what, how, value, other.at);
    }
    payload(&bytes);
    Ok(())
}
