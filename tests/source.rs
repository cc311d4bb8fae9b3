//! The reads of a file on disk: 64 bytes, the FlatBuffer, and segments only on request.

use std::cell::RefCell;
use std::fs;
use std::ops::Range;

use pte::check::Checker;
use pte::payload::PayloadContents;
use pte::summary::Summary;
use pte::{File, Handle, Limits, OpenError, PastEnd, Source};

use serde_json::json;

use crate::support::xnnpack::{Constant, Input, Output, graph, node};
use crate::support::{build, files};

/// A source that records which ranges were read.
struct Watched<'b> {
    bytes: &'b [u8],
    reads: RefCell<Vec<Range<u64>>>,
}

impl<'b> Watched<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, reads: RefCell::default() }
    }
}

impl Source for Watched<'_> {
    type Error = PastEnd;

    fn size(&self) -> Result<u64, PastEnd> {
        self.bytes.size()
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> Result<(), PastEnd> {
        self.reads.borrow_mut().push(pos..pos + out.len() as u64);
        self.bytes.read_at(pos, out)
    }
}

#[test]
fn opening_reads_the_head_and_the_flatbuffers_part() {
    for path in files::everything() {
        let bytes = fs::read(&path).unwrap();
        let opened = Handle::open(Watched::new(&bytes), &Limits::UNTRUSTED).unwrap();
        let region = match opened.file() {
            File::Pte(pte) => 0..pte.region().len() as u64,
            File::Ptd(ptd) => ptd.region_start()..ptd.region_start() + ptd.region().len() as u64,
        };
        let head = 0..64.min(bytes.len() as u64);
        assert_eq!(*opened.source().reads.borrow(), [head, region], "{path:?}");
    }
}

/// The rules on contents examine many small places. Places that are close together are one read.
#[test]
fn neighbouring_parts_are_read_at_once() {
    let root = r#"{"segments": [
        {"offset": 0, "size": 4}, {"offset": 0, "size": 8}, {"offset": 8, "size": 8},
        {"offset": 20, "size": 4}, {"offset": 65532, "size": 4}, {"offset": 66000, "size": 4}
    ]}"#;
    let data = r#"[{"zeros": 66004}]"#;
    let bytes = build::file(&format!(r#"{{"root": {root}, "data": {data}, "align": 1}}"#));
    let len = bytes.len() as u64;
    let base = len - 66004;
    let opened = Handle::open(Watched::new(&bytes), &Limits::UNTRUSTED).unwrap();
    opened.source().reads.borrow_mut().clear();
    let report = Checker::new().check(&opened).unwrap();
    assert!(report.findings().iter().all(|found| found.rule.subject != "contents"));
    let window = base + (1 << 16);
    assert_eq!(*opened.source().reads.borrow(), [base..window, window..len]);
}

#[test]
fn a_segment_is_read_when_it_is_asked_for() {
    let bytes = files::read("tests/data/pte/linear.pte").unwrap();
    let opened = Handle::open(Watched::new(&bytes), &Limits::UNTRUSTED).unwrap();
    let File::Pte(pte) = opened.file() else { panic!("a program") };
    let segment = pte.segment_range(0).unwrap();
    assert_eq!(pte.segment(0), None, "only the FlatBuffers part is here");
    assert_eq!(opened.source().reads.borrow().len(), 2);
    let data = opened.read(segment.clone()).unwrap();
    assert_eq!(data, bytes[segment.start as usize..segment.end as usize]);
    assert_eq!(opened.source().reads.borrow().last(), Some(&segment));
}

/// The header is not trusted: a region past the end of the file is never allocated.
#[test]
fn nothing_is_read_of_a_file_whose_header_lies() {
    let mut bytes = files::read("tests/data/pte/linear.pte").unwrap();
    bytes[16..24].copy_from_slice(&(1u64 << 60).to_le_bytes());
    let watched = Watched::new(&bytes);
    match Handle::open(watched, &Limits::UNTRUSTED) {
        Err(OpenError::Refused(error)) => assert_eq!(error.code(), "flatbuffer-truncated"),
        other => panic!("{:?}", other.map(drop)),
    }
}

#[test]
fn a_source_that_fails_is_reported_apart_from_a_file_that_is_refused() {
    struct Broken;
    impl Source for Broken {
        type Error = &'static str;
        fn size(&self) -> Result<u64, &'static str> {
            Ok(1000)
        }
        fn read_at(&self, _: u64, _: &mut [u8]) -> Result<(), &'static str> {
            Err("the disk is on fire")
        }
    }
    match Handle::open(Broken, &Limits::UNTRUSTED) {
        Err(error @ OpenError::Source("the disk is on fire")) => {
            assert_eq!(error.to_string(), "the disk is on fire");
        }
        other => panic!("{:?}", other.map(drop)),
    }
}

/// A slice and a file on disk give the same verdict on the same bytes.
#[cfg(feature = "std")]
#[test]
fn a_file_on_disk_reads_as_its_bytes_do() {
    for path in files::samples() {
        let file = Handle::open(fs::File::open(&path).unwrap(), &Limits::UNTRUSTED).unwrap();
        let bytes = fs::read(&path).unwrap();
        let slice = Handle::open(bytes.as_slice(), &Limits::UNTRUSTED).unwrap();
        let shown = |file: File<'_>| format!("{file:?}").len();
        assert_eq!(shown(file.file()), shown(slice.file()), "{path:?}");
        assert_eq!(file.file_len(), bytes.len() as u64);
    }
}

#[test]
fn a_read_past_the_end_fails() {
    let bytes: &[u8] = &[1, 2, 3];
    let mut out = [0; 2];
    assert_eq!(bytes.read_at(1, &mut out), Ok(()));
    assert_eq!(out, [2, 3]);
    assert_eq!(bytes.read_at(2, &mut out), Err(PastEnd));
    assert_eq!(bytes.read_at(u64::MAX, &mut out), Err(PastEnd));
    assert_eq!(PastEnd.to_string(), "a read past the end of the bytes");
}

/// The limit is checked before the FlatBuffer is allocated or read.
#[test]
fn a_region_past_the_limit_is_not_read() {
    struct Counted<'b>(&'b [u8], &'b RefCell<usize>);
    impl Source for Counted<'_> {
        type Error = PastEnd;
        fn size(&self) -> Result<u64, PastEnd> {
            self.0.size()
        }
        fn read_at(&self, pos: u64, out: &mut [u8]) -> Result<(), PastEnd> {
            *self.1.borrow_mut() += 1;
            self.0.read_at(pos, out)
        }
    }
    let (bytes, reads) = (files::read("tests/data/pte/linear.pte").unwrap(), RefCell::new(0));
    let limits = Limits { program: 1615, ..Limits::UNTRUSTED };
    match Handle::open(Counted(&bytes, &reads), &limits) {
        Err(OpenError::Refused(error)) => assert_eq!(error.code(), "program-limit"),
        other => panic!("{:?}", other.map(drop)),
    }
    assert_eq!(*reads.borrow(), 1, "the head alone");
    assert!(Handle::open(&bytes[..], &Limits { program: 1616, ..Limits::UNTRUSTED }).is_ok());
}

#[test]
fn ranges_that_are_not_in_the_file_are_not_read() {
    let bytes = files::read("tests/data/pte/linear.pte").unwrap();
    let opened = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
    let len = opened.file_len();
    assert_eq!(opened.read(len - 2..len), Ok(bytes[bytes.len() - 2..].to_vec()));
    assert_eq!(opened.read(len..len), Ok(Vec::new()));
    for range in [len - 2..len + 1, len + 5..len + 6, 0..u64::MAX, Range { start: 2, end: 1 }] {
        assert_eq!(opened.read(range.clone()), Err(OpenError::PastEnd), "{range:?}");
    }
}

/// The 10 MB of weights in a payload are not read. Only headers, tables and scales are.
#[test]
fn constants_of_payloads_are_not_read() {
    let values = [
        (Input, "fp32", &[1u64, 1024][..]),
        (Constant, "qcint8", &[10240, 1024]),
        (Constant, "fp32", &[10240]),
        (Output, "fp32", &[1, 10240]),
    ];
    let ids = json!({"input1_id": 0, "filter_id": 1, "bias_id": 2, "output_id": 3});
    let program = graph(&values, &[node("XNNFullyConnected", ids)]);
    let bytes = build::file(&program.to_string());
    assert!(bytes.len() > 10 << 20);
    let opened = Handle::open(Watched::new(&bytes), &Limits::UNTRUSTED).unwrap();
    let reads = || {
        let reads = opened.source().reads.take();
        reads.iter().map(|read| read.end - read.start).sum::<u64>()
    };
    let tables = reads();
    let report = Checker::new().check(&opened).unwrap();
    assert_eq!(report.errors().count(), 0, "{:?}", report.findings());
    let judged = reads();
    Summary::read(&opened, &Limits::UNTRUSTED).unwrap();
    let summed_up = reads();
    PayloadContents::all(&opened, &Limits::UNTRUSTED).unwrap();
    let listed = reads();
    pte::tensors::KeyRequest::all(&opened, "", &Limits::UNTRUSTED).unwrap();
    let requested = reads();
    // The scales are in the graph: 40 kB.
    for (what, read) in [
        ("tables", tables),
        ("check", judged),
        ("info", summed_up),
        ("size", listed),
        ("keys", requested),
    ] {
        assert!(read < 120_000, "{what} reads {read} bytes");
    }
}
