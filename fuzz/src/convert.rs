//! The oracle `convert`: converts tensors from one format to the other and back.

use pte::Check;
use pte::Ptd;
use pte::build::{BuildError, PtdBuilder};
use pte::check::Severity;
use pte::convert::Safetensors;
use pte::model::Image;

/// Reading a safetensors file never panics. One that is accepted, and has a counterpart, becomes a
/// `.ptd` that is read and has no Error, and comes back as it was. So does a `.ptd`, of which what
/// is made anew has the same entries.
pub fn convert(bytes: &[u8]) {
    if let Ok(tensors) = Safetensors::open(&bytes) {
        let whole = written(&tensors.image().expect("what was read can be written"));
        assert!(whole.len() <= bytes.len() * 4 + 1024, "no longer than it was, but for names");
        let Ok(built) = tensors.into_ptd() else { return };
        let ptd = anew(built, "tensors that were accepted");
        let read = Ptd::read(&ptd).expect("what was written is read");
        let source = &ptd[..];
        let back = Safetensors::from_ptd(&read, &source, false).expect("there is a way back");
        assert_eq!(written(&back.image().expect("it is as it was")), whole, "there and back");
        return;
    }
    let Ok(ptd) = Ptd::read(bytes) else { return };
    let most = u64::try_from(bytes.len()).unwrap_or(u64::MAX).saturating_mul(4);
    match PtdBuilder::from_ptd(&ptd, &bytes) {
        // A small file may name the same bytes often.
        Ok(built) if built.data_len() > most => {}
        Ok(built) => {
            let again = anew(built, "entries that were accepted");
            let again = Ptd::read(&again).expect("what was written is read");
            let names = |ptd: &Ptd<'_>| -> Vec<_> {
                ptd.entries().map(|entry| entry.key().map(str::to_owned)).collect()
            };
            assert_eq!(names(&again), names(&ptd), "the keys");
            assert!(again.file_len() >= 64, "runtimes read so many bytes");
        }
        Err(BuildError::TooLarge) => panic!("a file is not too large for itself"),
        Err(_) => {}
    }
    if let Ok(tensors) = Safetensors::from_ptd(&ptd, &bytes, true)
        && tensors.data_len() <= most
        && let Ok(image) = tensors.image()
    {
        let file = written(&image);
        let source = &file[..];
        let again = Safetensors::open(&source).expect("what was written is read");
        assert_eq!(written(&again.image().expect("it is as it was")), file, "twice");
    }
}

/// The file, which no rule of severity Error speaks against.
fn anew(built: PtdBuilder<'_>, of: &str) -> Vec<u8> {
    let model = built.finish().unwrap_or_else(|error| panic!("{of}: {error}"));
    let image = model.image().unwrap_or_else(|error| panic!("{of}: {error}"));
    let bytes = written(&image);
    let ptd = Ptd::read(&bytes).unwrap_or_else(|error| panic!("{of}: {error}"));
    let report = ptd.check();
    assert!(report.worst() < Some(Severity::Error), "{of}: {report}");
    bytes
}

fn written(image: &Image<'_>) -> Vec<u8> {
    let bytes = image.to_bytes().expect("all of it is in memory");
    assert_eq!(u64::try_from(bytes.len()), Ok(image.len()), "its length is known before");
    bytes
}
