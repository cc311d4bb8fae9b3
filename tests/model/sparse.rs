//! Long ranges of zeros take no room on a disk.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};

use pte::model::{self, Blob};

/// A file with `zeros` between two short pieces, and an empty place behind.
fn gap(zeros: u64) -> model::PtdModel<'static> {
    let mut data = model::PtdModel::empty();
    let blob = Blob::Parts(vec![vec![1; 9].into(), Blob::Zeros(zeros), vec![2; 9].into()]);
    data.add_segment(blob);
    data.add_segment(Blob::Zeros(zeros));
    data
}

#[test]
fn long_zeros_are_holes_of_the_file() {
    let data = gap(16 << 20);
    let image = data.image().unwrap();
    let mut file = tempfile::tempfile().unwrap();
    let mut done = 0;
    image.write_to_file(&file, |more| done += more).unwrap();
    assert_eq!(done, image.len());
    assert_eq!(file.metadata().unwrap().len(), image.len());
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    assert!(bytes == image.to_bytes().unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let plain = tempfile::tempfile().unwrap();
        plain.set_len(1 << 20).unwrap();
        if plain.metadata().unwrap().blocks() > 1024 {
            println!("skipped: this file system has no sparse files");
            return;
        }
        let taken = file.metadata().unwrap().blocks() * 512;
        assert!(taken < 1 << 20, "{taken} bytes of the disk");
    }
}

/// No old byte remains, whether the old file is longer or shorter than the new one.
#[test]
fn zeros_over_old_bytes_are_written() {
    let data = gap(1 << 20);
    let whole = data.image().unwrap().to_bytes().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old");
    fs::write(&path, vec![9; whole.len() + 3]).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    data.image().unwrap().write_to_file(&file, |_| ()).unwrap();
    assert!(fs::read(&path).unwrap() == [&whole[..], &[9; 3]].concat());
    fs::write(&path, "old").unwrap();
    let mut file = fs::File::options().append(true).open(&path).unwrap();
    data.image().unwrap().write_to_file(&file, |_| ()).unwrap();
    file.write_all(b"new").unwrap();
    assert!(fs::read(&path).unwrap() == [b"old", &whole[..], b"new"].concat());
}
