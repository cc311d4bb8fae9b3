//! `pte view`: the page, from 127.0.0.1, with answers about files of this disk.
//!
//! The arguments of a process are no secret on a machine of several users. So the browser is opened at a file that only
//! this user can read, and that leads to the address with the token.

use core::net::Ipv4Addr;
use core::time::Duration;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use clap::Args;
use pte::quoted::{UntrustedString, hex};
use serde_json::json;

use self::connections::Connections;
use self::request::{Refused, Request};
use super::Common;
use super::input::{self, Bytes, Streams};
use super::map::page::{self, PageFile};
use super::output::{Content, Output};
use super::problem::{Problem, Status, note};
use super::refusal;
use super::reserve;
use super::temporary::Temporary;
use super::text::name_of;

mod connections;
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
        let host = listener.local_addr().map_err(local)?;
        let folder = std::env::temp_dir();
        let folder = Temporary::folder(&folder)
            .map_err(|error| Problem::io(UntrustedString::from(folder.as_os_str()), error))?;
        let token = token()?;
        let mut out = Output::open(None, Content::Plain)?;
        out.bytes(format!("http://{host}/{token}/\n").as_bytes())?;
        out.finish()?;
        if !self.no_open {
            open_browser(folder.path(), &format!("http://{host}/{token}/"));
        }
        let server = Server {
            paths: &self.files,
            files,
            token,
            folder: folder.path(),
            common,
            running: Mutex::new(()),
            connections: Connections::default(),
        };
        thread::scope(|scope| {
            let server = &server;
            for stream in listener.incoming() {
                // Further requests wait in the queue of the system, as does one after a failure.
                let Ok(stream) = stream else {
                    thread::sleep(SHORTLY);
                    continue;
                };
                while server.connections.is_full() {
                    thread::sleep(SHORTLY);
                }
                let id = server.connections.add(&stream);
                let answer = move || {
                    // A browser that is gone needs no answer.
                    let _ = server.answer(stream, id);
                    server.connections.remove(id);
                };
                if thread::Builder::new().spawn_scoped(scope, answer).is_err() {
                    server.connections.remove(id);
                }
            }
        });
        Ok(Status::Good)
    }
}

/// The time until the server looks again whether it can take a request.
const SHORTLY: Duration = Duration::from_millis(10);

/// The type of the page.
const HTML: &str = "text/html; charset=utf-8";

/// The most bytes of a file in one answer.
const MOST_BYTES: u64 = 1 << 20;

/// Returns what the page says of a file.
fn page_file(path: &Path) -> Result<PageFile, Problem> {
    let name = name_of(path);
    regular(path)?;
    let (head, size) = Bytes::open(path, &name, Streams::ModelsAndTables)?.head(&name)?;
    Ok(PageFile {
        name: path.file_name().unwrap_or_default().into(),
        size,
        is_data: head.get(4..).is_some_and(|identifier| identifier.starts_with(b"FT")),
    })
}

/// Refuses a path that is not a regular file: opening a pipe could block forever. A file may be replaced while it is
/// shown.
fn regular(path: &Path) -> Result<(), Problem> {
    let name = name_of(path);
    let is_stream = input::is_stream(path);
    if is_stream || !path.metadata().map_err(|error| Problem::io(&name, error))?.is_file() {
        let message = format!("{name} is not a regular file: view reads each file several times");
        return Err(Problem::Usage(message.into()));
    }
    Ok(())
}

/// Returns 32 random digits.
fn token() -> Result<String, Problem> {
    let mut bytes = [0; 16];
    let failed = |error: getrandom::Error| Problem::io("random numbers", io::Error::other(error));
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(hex(&bytes))
}

/// Opens the browser at a file in `folder` that leads to `url`.
fn open_browser(folder: &Path, url: &str) {
    let file = folder.join("open.html");
    let lead = format!("<!doctype html><meta http-equiv=refresh content='0; url={url}'>");
    let is_open = write_private(&file, lead.as_bytes()).and_then(|()| start_browser(&file));
    if is_open.is_err() {
        note("no browser could be opened: open this address in one");
    }
}

/// Writes a file that only this user can read.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)?.write_all(bytes)
}

fn start_browser(page: &Path) -> io::Result<()> {
    let (program, before) = match std::env::consts::OS {
        "macos" => ("open", &[][..]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"][..]),
        _ => ("xdg-open", &[][..]),
    };
    let mut command = Command::new(program);
    command.args(before).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    // Waits for the process, so that it does not stay a zombie.
    thread::spawn(move || child.wait());
    Ok(())
}

/// The page, and answers about files.
struct Server<'s> {
    paths: &'s [PathBuf],
    files: Vec<PageFile>,
    token: String,
    /// The folder that verbs write to, which only this user can read.
    folder: &'s Path,
    common: &'s Common,
    /// Held while a verb runs, since the memory of a verb is counted for the whole command.
    running: Mutex<()>,
    connections: Connections,
}

/// The status, the type and the bytes of an answer.
type Answer = (&'static str, &'static str, Vec<u8>);

impl Server<'_> {
    fn answer(&self, mut stream: TcpStream, id: u64) -> io::Result<()> {
        let request = Request::read(&mut stream)?;
        self.connections.has_asked(id);
        let answer = request.and_then(|request| self.find(&request, &stream));
        let is_refused = answer.is_err();
        let (status, kind, body) = answer.unwrap_or_else(|refused| {
            (refused.status(), "text/plain", refused.status().as_bytes().to_vec())
        });
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n\
             Content-Security-Policy: frame-ancestors 'none'\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), &body].concat())?;
        if is_refused { request::drain(&mut stream) } else { Ok(()) }
    }

    fn find(&self, request: &Request, stream: &TcpStream) -> Result<Answer, Refused> {
        if !request.has_token(&self.token) {
            return Err(Refused::NotFound);
        }
        let answer = match request.steps().as_slice() {
            [""] => {
                // Answers are files of one folder, so one is written at a time.
                let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
                self.page().map(|body| ("200 OK", HTML, body))
            }
            [file, "bytes"] => {
                let body = read(self.path(file)?, request);
                body.map(|body| ("200 OK", "application/octet-stream", body))
            }
            [file, call] => {
                let path = self.path(file)?;
                let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
                // A page that was closed or loaded again no longer waits for its questions.
                if is_closed(stream) {
                    return Err(Refused::TooSlow);
                }
                let answer = self.run(path, call, request)?;
                drop(running);
                answer
            }
            _ => return Err(Refused::NotFound),
        };
        // The page shows the error of a verb.
        Ok(answer.unwrap_or_else(|problem| {
            let body = refusal::for_page(&problem).to_string().into_bytes();
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
        let mut files = Vec::new();
        for path in self.paths {
            let mut file = page_file(path)?;
            let alike = self.files.iter().filter(|other| other.name == file.name).count();
            if alike > 1 {
                file.name = name_of(path);
            }
            files.push(file);
        }
        let file = self.folder.join("page");
        let mut out = Output::open(Some(&file), Content::Plain)?;
        page::write_around(&mut out, "'self'", "", |out| {
            out.bytes(&page::inert(&json!({ "files": files })))
        })?;
        out.finish()?;
        written(&file)
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
            "info" | "ops" | "map" | "tensors" | "profile" | "diff" => {
                (call, vec!["--json".into()])
            }
            "memory" => (call, vec!["--json".into(), "--no-config".into()]),
            "sizes" => ("size", vec!["--json".into(), "--no-config".into()]),
            "modules" => {
                ("size", vec!["--json".into(), "--no-config".into(), "--by-module".into()])
            }
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
        let mut used = Vec::new();
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
                used.push(data.as_path());
                line.push(with);
            }
        }
        line.push("--".into());
        used.push(path);
        line.push(path.into());
        if call == "diff" {
            let other = self.path(argument("file")?)?;
            used.push(other);
            line.push(other.into());
        }
        if let Some(problem) = used.into_iter().find_map(|path| regular(path).err()) {
            return Ok(Err(problem));
        }
        let arguments = super::parse(line).map_err(|_| Refused::BadRequest)?;
        let file = self.folder.join("answer");
        let common = Common { output: Some(file.clone()), quiet: true, ..self.common.clone() };
        reserve::set_factor(arguments.verb.memory_factor());
        let done = arguments.verb.run(&common);
        let judges = matches!(call, "check" | "sarif" | "diff" | "explorer");
        Ok(done.and_then(|status| {
            let is_good = status == Status::Good || judges && status == Status::BadNews;
            let status = if is_good { "200 OK" } else { "422 Unprocessable Content" };
            Ok((status, kind, written(&file)?))
        }))
    }
}

/// Reads what was written, and removes it.
fn written(file: &Path) -> Result<Vec<u8>, Problem> {
    let failed = |error| Problem::io("the answer", error);
    let bytes = input::read_own(file).map_err(failed)?;
    fs::remove_file(file).map_err(failed)?;
    Ok(bytes)
}

/// Returns whether the browser has closed a connection.
fn is_closed(stream: &TcpStream) -> bool {
    let closed = stream.set_nonblocking(true).is_ok() && matches!(stream.peek(&mut [0]), Ok(0));
    stream.set_nonblocking(false).is_err() || closed
}

/// Reads a range of a file.
fn read(path: &Path, request: &Request) -> Result<Vec<u8>, Problem> {
    let name = name_of(path);
    let number = |name: &str| request.argument(name).and_then(|text| text.parse::<u64>().ok());
    let (offset, length) = (number("offset").unwrap_or(0), number("length").unwrap_or(0));
    regular(path)?;
    let bytes = Bytes::open(path, &name, Streams::ModelsAndTables)?;
    let (_, len) = bytes.head(&name)?;
    let end = offset.saturating_add(length.min(MOST_BYTES)).min(len);
    bytes.read_unlimited(offset.min(end)..end, &name)
}
