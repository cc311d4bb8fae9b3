//! `pte view`: the page, from 127.0.0.1, with answers about files of this disk.

use core::net::Ipv4Addr;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use clap::Args;
use pte::quoted::UntrustedString;
use serde_json::json;

use self::request::{Refused, Request};
use super::Common;
use super::input::{self, Bytes, Streams};
use super::map::page::{self, PageFile};
use super::output::{Content, Output};
use super::problem::{Problem, Status, note};
use super::reserve;
use super::temporary::Temporary;
use super::text::name_of;

mod request;

/// Show files as a page in the browser
///
/// The page comes from 127.0.0.1 for as long as the command runs: end it with Ctrl-C. It reads the given files and
/// nothing else, and changes nothing. Its address has a random token, without which no request is answered. Programs
/// are judged with the given .ptd files; of two programs, the page shows the differences.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte view model.pte
  pte view model.pte weights.ptd
  pte view old.pte new.pte
  pte view --no-open model.pte           print the address only, as for ssh -L

`pte map model.pte --html -o model.html` writes the page as a file, to keep or to send.

Exit status: 2 usage, 3 not readable; else it runs until it is interrupted")]
pub(super) struct View {
    /// Files of this disk.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print the address, and open no browser.
    #[arg(long)]
    no_open: bool,
}

impl View {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        if common.output.is_some() {
            let message = "view writes no file: `pte map --html -o FILE` writes the page";
            return Err(Problem::Usage(message.into()));
        }
        let files = self.files.iter().map(|path| page_file(path)).collect::<Result<_, _>>()?;
        let local = |error| Problem::io("127.0.0.1", error);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(local)?;
        let host = listener.local_addr().map_err(local)?.to_string();
        let folder = std::env::temp_dir();
        let folder = Temporary::folder(&folder)
            .map_err(|error| Problem::io(UntrustedString::from(folder.as_os_str()), error))?;
        let server = Server {
            paths: &self.files,
            files,
            token: token()?,
            host,
            answer: folder.path().join("answer"),
            common,
            running: Mutex::new(()),
            connections: AtomicUsize::new(0),
        };
        let url = format!("http://{}/{}/", server.host, server.token);
        let mut out = Output::open(None, Content::Plain)?;
        out.bytes(format!("{url}\n").as_bytes())?;
        out.finish()?;
        if !self.no_open {
            open_browser(&url);
        }
        thread::scope(|scope| {
            for stream in listener.incoming().flatten() {
                let server = &server;
                if server.connections.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                    server.connections.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                scope.spawn(move || {
                    // A browser that is gone needs no answer.
                    let _ = server.answer(stream);
                    server.connections.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        Ok(Status::Good)
    }
}

/// The most requests that are read or answered at a time.
const MOST_CONNECTIONS: usize = 16;

/// The most bytes of a file in one answer.
const MOST_BYTES: u64 = 1 << 20;

/// Returns what the page says of a file.
fn page_file(path: &Path) -> Result<PageFile, Problem> {
    let name = name_of(path);
    let is_stream = input::is_stream(path);
    if is_stream || !path.metadata().map_err(|error| Problem::io(&name, error))?.is_file() {
        let message = format!("{name} is no file of this disk, which can be read again");
        return Err(Problem::Usage(message.into()));
    }
    let (head, size) = Bytes::open(path, &name, Streams::ModelsAndTables)?.head(&name)?;
    Ok(PageFile {
        name: path.file_name().unwrap_or_default().into(),
        size,
        is_data: head.get(4..).is_some_and(|identifier| identifier.starts_with(b"FT")),
    })
}

/// Returns 32 random digits.
fn token() -> Result<String, Problem> {
    let mut bytes = [0; 16];
    let failed =
        |error: getrandom::Error| Problem::io("random numbers", std::io::Error::other(error));
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn open_browser(url: &str) {
    let (program, before) = match std::env::consts::OS {
        "macos" => ("open", &[][..]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"][..]),
        _ => ("xdg-open", &[][..]),
    };
    let mut command = Command::new(program);
    command.args(before).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // The process is waited for, so that none is left without a parent that knows it.
        Ok(mut child) => drop(thread::spawn(move || child.wait())),
        Err(_) => note("no browser could be opened: open this address in one"),
    }
}

/// What is served: the page, and answers about files.
struct Server<'s> {
    paths: &'s [PathBuf],
    files: Vec<PageFile>,
    token: String,
    /// The address, which requests must name as their host: a name that another page resolves to it is refused.
    host: String,
    /// The file that verbs write to.
    answer: PathBuf,
    common: &'s Common,
    /// Held while a verb runs, since the memory of a verb is counted for the whole command.
    running: Mutex<()>,
    connections: AtomicUsize,
}

/// The status, the type and the bytes of an answer.
type Answer = (&'static str, &'static str, Vec<u8>);

impl Server<'_> {
    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let request = Request::read(&mut stream, &self.host, &self.token)?;
        let answer = request.and_then(|request| self.find(&request));
        let (status, kind, body) = answer.unwrap_or_else(|refused| {
            (refused.status(), "text/plain", refused.status().as_bytes().to_vec())
        });
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n\
             Content-Security-Policy: frame-ancestors 'none'\r\n\r\n",
            body.len()
        )?;
        stream.write_all(&body)?;
        stream.flush()
    }

    fn find(&self, request: &Request) -> Result<Answer, Refused> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match request.steps().as_slice() {
            [""] => self.page().map(|body| ("200 OK", "text/html; charset=utf-8", body)),
            [file, call] => {
                let path = self.path(file)?;
                if *call == "bytes" {
                    let body = read(path, request);
                    body.map(|body| ("200 OK", "application/octet-stream", body))
                } else {
                    self.run(path, call, request)?
                }
            }
            _ => return Err(Refused::NotFound),
        };
        drop(running);
        // What a verb refuses is an answer: the page shows it.
        Ok(answer.unwrap_or_else(|problem| {
            let body = json!({ "message": problem.message() }).to_string().into_bytes();
            ("422 Unprocessable Content", "application/json", body)
        }))
    }

    /// Returns the path of a file by its number.
    fn path(&self, number: &str) -> Result<&Path, Refused> {
        let path = number.parse().ok().and_then(|number: usize| self.paths.get(number));
        path.map(PathBuf::as_path).ok_or(Refused::NotFound)
    }

    /// Returns the page, which asks this server.
    fn page(&self) -> Result<Vec<u8>, Problem> {
        let mut out = Output::open(Some(&self.answer), Content::Plain)?;
        page::write_around(&mut out, "'self'", |out| {
            out.bytes(&page::inert(&json!({ "files": self.files })))
        })?;
        out.finish()?;
        self.written()
    }

    /// Runs the verb that answers a question (`Call` in `web/page/engine.ts`), on a file.
    fn run(
        &self,
        path: &Path,
        call: &str,
        request: &Request,
    ) -> Result<Result<Answer, Problem>, Refused> {
        let argument = |name: &str| request.argument(name).ok_or(Refused::BadRequest);
        let mut kind = "application/json";
        // A value is one argument with its flag, so that it cannot be a flag itself.
        let (verb, flags) = match call {
            "info" | "memory" | "ops" | "map" | "tensors" | "profile" | "diff" => {
                (call, vec!["--json".into()])
            }
            "sizes" => ("size", vec!["--json".into()]),
            "mapAt" => ("map", vec!["--json".into(), format!("--at={}", argument("arg")?)]),
            "explorer" => ("graph", vec!["--format=model-explorer".into()]),
            "check" => (call, vec!["--json".into(), "--no-config".into()]),
            "sarif" => ("check", vec!["--format=sarif".into(), "--no-config".into()]),
            "tensor" => {
                kind = "application/octet-stream";
                ("extract", vec!["--as=npy".into(), format!("--tensor={}", argument("arg")?)])
            }
            _ => return Err(Refused::NotFound),
        };
        let mut line: Vec<OsString> = vec!["pte".into(), verb.into()];
        line.extend(flags.into_iter().map(OsString::from));
        if matches!(call, "check" | "sarif") {
            if let Some(release) = request.argument("runtime") {
                line.push(format!("--runtime={release}").into());
            }
            let is_program =
                self.files.iter().zip(self.paths).any(|(file, of)| of == path && !file.is_data);
            let data =
                self.files.iter().zip(self.paths).filter(|(file, _)| is_program && file.is_data);
            for (_, data) in data {
                let mut with = OsString::from("--with=");
                with.push(data);
                line.push(with);
            }
        }
        line.push("--".into());
        line.push(path.into());
        if call == "diff" {
            line.push(self.path(argument("file")?)?.into());
        }
        let arguments = super::parse(line).map_err(|_| Refused::BadRequest)?;
        let common =
            Common { output: Some(self.answer.clone()), quiet: true, ..self.common.clone() };
        reserve::set_factor(arguments.verb.memory_factor());
        // A document of before is no answer.
        let _ = fs::remove_file(&self.answer);
        let done = arguments.verb.run(&common);
        let judges = matches!(call, "check" | "sarif" | "diff");
        Ok(done.and_then(|status| {
            let is_good = status == Status::Good || judges && status == Status::BadNews;
            let status = if is_good { "200 OK" } else { "422 Unprocessable Content" };
            Ok((status, kind, self.written()?))
        }))
    }

    /// Returns what was written.
    fn written(&self) -> Result<Vec<u8>, Problem> {
        input::read_own(&self.answer).map_err(|error| Problem::io("the answer", error))
    }
}

/// Reads a range of a file.
fn read(path: &Path, request: &Request) -> Result<Vec<u8>, Problem> {
    let name = name_of(path);
    let number = |name: &str| request.argument(name).and_then(|text| text.parse::<u64>().ok());
    let (offset, length) = (number("offset").unwrap_or(0), number("length").unwrap_or(0));
    let bytes = Bytes::open(path, &name, Streams::ModelsAndTables)?;
    let (_, len) = bytes.head(&name)?;
    let end = offset.saturating_add(length.min(MOST_BYTES)).min(len);
    bytes.read_unlimited(offset.min(end)..end, &name)
}
