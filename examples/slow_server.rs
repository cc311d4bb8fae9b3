//! Serves one file under every name, each reply after a delay: to measure scans of remote files.
//!
//! ```sh
//! cargo run --release --example slow_server -- 8931 tests/data/pte/linear.pte 20 &
//! for nth in $(seq 10000); do echo http://127.0.0.1:8931/m$nth.pte; done >urls
//! pte scan - -o rows --jobs 64 --allow-http --allow-private <urls
//! ```

use core::error::Error;
use core::time::Duration;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::{env, fs, thread};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [port, file, delay] = args.as_slice() else {
        return Err("usage: slow_server PORT FILE MILLISECONDS".into());
    };
    let file: &'static [u8] = fs::read(file)?.leak();
    let delay = Duration::from_millis(delay.parse()?);
    for stream in TcpListener::bind(("127.0.0.1", port.parse()?))?.incoming() {
        let stream = stream?;
        // A client that has left is no failure.
        thread::spawn(move || serve(&stream, file, delay).ok());
    }
    Ok(())
}

/// Answers the requests of a connection.
fn serve(mut stream: &TcpStream, file: &[u8], delay: Duration) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream).lines();
    loop {
        let (mut start, mut end) = (0, file.len());
        loop {
            let Some(line) = lines.next().transpose()? else { return Ok(()) };
            if line.is_empty() {
                break;
            }
            let line = line.to_ascii_lowercase();
            let range = line.strip_prefix("range: bytes=").and_then(|range| range.split_once('-'));
            if let Some((first, last)) = range {
                start = first.parse::<usize>().unwrap_or_default().min(file.len());
                end = last.parse::<usize>().map_or(end, |last| last.saturating_add(1).min(end));
            }
        }
        thread::sleep(delay);
        let body = file.get(start..end).unwrap_or_default();
        let head = format!(
            "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Length: {}\r\n\
             Content-Range: bytes {start}-{}/{}\r\n\r\n",
            body.len(),
            end.saturating_sub(1),
            file.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat())?;
    }
}
