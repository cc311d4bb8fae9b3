//! Archives: the same files give the same bytes.

use std::io::{self, Write};

/// Writes a tar archive (POSIX ustar) without times and owners, in the order of the calls.
#[derive(Debug)]
pub struct Archive<W: Write> {
    out: W,
}

impl<W: Write> Archive<W> {
    /// Creates an empty archive.
    pub fn new(out: W) -> Self {
        Self { out }
    }

    /// Adds a file with a path of at most 100 bytes.
    ///
    /// # Errors
    ///
    /// The errors of the writer, and [`io::ErrorKind::InvalidInput`] for a longer path.
    pub fn add(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let mut header = [0u8; 512];
        let mut put = |at: usize, text: &[u8]| {
            header[at..at + text.len()].copy_from_slice(text);
        };
        if path.len() > 100 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is too long"));
        }
        put(0, path.as_bytes());
        put(100, b"0000644\0");
        put(108, b"0000000\0");
        put(116, b"0000000\0");
        put(124, format!("{:011o}\0", bytes.len()).as_bytes());
        put(136, b"00000000000\0");
        // The checksum is computed with spaces in its place.
        put(148, b"        ");
        put(156, b"0");
        put(257, b"ustar\x0000");
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        self.out.write_all(&header)?;
        self.out.write_all(bytes)?;
        let padding = bytes.len().next_multiple_of(512) - bytes.len();
        self.out.write_all(&[0; 512][..padding])
    }

    /// Ends the archive, and returns the writer.
    ///
    /// # Errors
    ///
    /// The errors of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&[0; 1024])?;
        self.out.flush()?;
        Ok(self.out)
    }
}
