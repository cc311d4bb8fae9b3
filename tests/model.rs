//! Files as plain values: taken apart, put together again, byte for byte.

use std::collections::BTreeMap;
use std::fs;

use pte::model::{AnyPtd, File, Root};
use pte::{Ptd, Pte};

use crate::support::files::{self, name};

pub(crate) mod edit;

/// Every genuine file: taken apart and put together again, it is the same file, whoever wrote it.
#[test]
fn every_file_comes_back_byte_for_byte() {
    let mut writers: BTreeMap<String, usize> = BTreeMap::new();
    for path in files::everything() {
        let (bytes, name) = (fs::read(&path).unwrap(), name(&path));
        let layout = match pte::file::sniff(&bytes).unwrap() {
            pte::file::Kind::Pte => {
                let pte = Pte::read(&bytes).unwrap();
                comes_back(pte.to_model(), pte.region(), &bytes, &name)
            }
            pte::file::Kind::Ptd => {
                let ptd = Ptd::read(&bytes).unwrap();
                match ptd.to_model() {
                    AnyPtd::Current(model) => comes_back(model, ptd.region(), &bytes, &name),
                    AnyPtd::Legacy(model) => comes_back(model, ptd.region(), &bytes, &name),
                }
            }
        };
        *writers.entry(layout).or_default() += 1;
    }
    println!("{writers:?}");
    assert!(writers["python"] > 5 && writers["flatc"] > 5, "both are there: {writers:?}");
}

/// The name of the layout with which the model is the file again.
fn comes_back<R: Root>(mut model: File<'_, R>, region: &[u8], bytes: &[u8], name: &str) -> String {
    assert!(model.lay_out_like(region), "{name}: no layout gives its tables");
    let image = model.image().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(image.len(), bytes.len() as u64, "{name}");
    assert!(image.to_bytes().unwrap() == bytes, "{name}: it differs");
    let layout = model.container.layout;
    match layout.force_align {
        None => layout.name.into(),
        Some(align) => format!("{} aligned to {align}", layout.name),
    }
}
