//! The oracle `verify`: the FlatBuffers part.

use core::fmt::{self, Write};

use pte::Check;
use pte::check::{Checker, Report};
use pte::flat::json;
use pte::flat::view::Table;
use pte::ptd::Root;
use pte::schema::program::view::KernelTypes;
use pte::{ErrorKind, File, Limits};

use crate::read::{assert_reason, assert_refusal, read, region, wide};

/// Proving never panics. What is accepted can be read through every accessor without tripping a
/// debug assertion, gives a bounded amount of text, and gives the same text from another place in
/// memory. What is refused names its reason and place. A budget changes nothing but whether it
/// suffices.
pub fn verify(bytes: &[u8]) {
    let limits = Limits::UNTRUSTED;
    let file = match read(bytes, &limits) {
        Ok(file) => file,
        Err(error) => {
            assert_refusal(&error, bytes.len());
            if !matches!(error.kind(), ErrorKind::Flat(pte::flat::ErrorKind::WorkLimit { .. })) {
                let wider = read(bytes, &Limits { amplification: 16, ..limits }).err();
                assert_eq!(wider, Some(error), "a wider budget gives another reason");
            }
            return;
        }
    };
    let shown = text(&file);
    // Most genuine files do with the smallest budget, which bounds them more closely.
    let least = Limits { amplification: 1, ..limits };
    let spent = if read(bytes, &least).is_ok() { least } else { limits }.amplification;
    let most = wide(region(&file).len()) * u64::from(spent) * TEXT_PER_BYTE;
    assert!(shown.len <= most, "{} bytes of text, and {most} at most", shown.len);
    assert_findings(&file, bytes.len());
    touch(&file, bytes.len());

    // At an odd address, code that relied on aligned memory would differ.
    let mut moved = Vec::with_capacity(bytes.len() + 1);
    moved.push(0xa5);
    moved.extend_from_slice(bytes);
    let again = read(&moved[1..], &limits).map(|file| text(&file));
    assert_eq!(again, Ok(shown), "a second read");

    let boundless = read(bytes, &Limits { amplification: u32::MAX, ..limits });
    assert_eq!(boundless.map(|file| text(&file)), Ok(shown), "a boundless budget");
    let size = wide(region(&file).len());
    let short = read(bytes, &Limits { program: size - 1, ..limits });
    let kind = short.err().map(|error| error.kind());
    assert_eq!(
        kind,
        Some(ErrorKind::Flat(pte::flat::ErrorKind::SizeLimit { size, limit: size - 1 })),
        "a lower limit"
    );
}

/// Everything that the typed views and the declarations show of a file, as a digest.
fn text(file: &File<'_>) -> Digest {
    let mut out = Digest::default();
    let shown = match file {
        File::Pte(pte) => show(pte.program(), &mut out),
        File::Ptd(ptd) => match ptd.root() {
            Root::Current(root) => show(root, &mut out),
            Root::Legacy(root) => show(root, &mut out),
        },
    };
    assert_eq!(shown, Ok(()), "writing to a digest");
    out
}

/// The dump asks the declarations, `Debug` asks every accessor.
fn show<'a, T: Table<'a> + fmt::Debug>(root: T, out: &mut Digest) -> fmt::Result {
    let options = json::Options { pretty: false, blob: |_: &'a [u8]| None };
    json::write(root, options, &mut *out)?;
    let options = json::Options { pretty: true, blob: |_: &'a [u8]| Some("0".to_owned()) };
    json::write(root, options, &mut *out)?;
    write!(out, "{root:?}")
}

/// Asserts that findings are of known rules, have offsets in the file, and are no more than the limit keeps.
fn assert_findings(file: &File<'_>, len: usize) {
    let rules = || pte::check::RULES.iter().copied().flatten();
    let limits = Limits { findings_per_rule: 2, ..Limits::UNTRUSTED };
    let report = file.check();
    for finding in report.findings() {
        assert!(finding.offset <= wide(len), "{}: past {len} bytes", finding.place());
        assert!(rules().any(|rule| rule.id == finding.rule.id), "{} is unlisted", finding.rule.id);
        assert!(!finding.message.is_empty(), "{} says nothing", finding.rule.id);
    }
    let few = Checker::new().limits(limits).check_tables(file);
    let counts = |report: &Report| -> Vec<(&str, u64)> {
        report.counts().map(|(rule, count)| (rule.id, count)).collect()
    };
    assert_eq!(counts(&report), counts(&few), "the counts depend on how many are kept");
    for (id, count) in counts(&few) {
        let kept = few.findings().iter().filter(|finding| finding.rule.id == id).count();
        assert_eq!(wide(kept), count.min(2), "{id}: kept of {count}");
    }
}

/// Calls the accessors that neither the dump nor `Debug` calls: lengths, single elements, storage.
fn touch(file: &File<'_>, len: usize) {
    match file {
        File::Pte(pte) => {
            for (_, range) in pte.named_data() {
                let _ = range.inspect_err(|error| assert_reason(error, len));
            }
            for plan in pte.program().execution_plan().into_iter().flatten() {
                let Some(values) = plan.values() else { continue };
                assert_eq!(values.iter().count(), values.len(), "values");
                assert!(values.get(values.len()).is_none(), "a value after the last");
                for value in values {
                    let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
                    let _ = pte.storage(tensor).inspect_err(|error| assert_reason(error, len));
                    let Some(sizes) = tensor.sizes() else { continue };
                    assert!(sizes.iter().eq((0..sizes.len()).filter_map(|nth| sizes.get(nth))));
                    assert_eq!(sizes.get(sizes.len()), None, "a size after the last");
                }
            }
        }
        File::Ptd(ptd) => {
            for entry in ptd.entries() {
                let _ = (entry.key(), entry.layout().and_then(|layout| layout.nbytes()));
                let _ = entry.range().inspect_err(|error| assert_reason(error, len));
            }
        }
    }
}

/// The length of a text and a hash of it (FNV-1a), so that texts can be compared unkept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest {
    len: u64,
    hash: u64,
}

impl Default for Digest {
    fn default() -> Self {
        Self { len: 0, hash: 0xcbf2_9ce4_8422_2325 }
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.len += wide(text.len());
        for byte in text.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

/// Bytes of text, both dumps and `Debug` together, for each byte that the walk may pay for. Genuine
/// files show about 10; a file of nothing but references to one `Tensor` without fields shows 37,
/// and the same with the tables that a `Tensor` refers to some 50.
const TEXT_PER_BYTE: u64 = 96;
