//! Remote inputs: the options, the credentials, and the client of the command.

use core::time::Duration;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::Args;
use pte::remote::{Client, RemoteOptions, RemoteUrl, Secret, is_url};

use super::problem::{Problem, note};

/// Options of remote files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Remote files")]
pub(super) struct RemoteArguments {
    /// The most bytes read of a remote file.
    #[arg(long, global = true, value_name = "BYTES", default_value = "268435456")]
    max_remote_bytes: u64,
    /// The most requests of a remote file, redirects included.
    #[arg(long, global = true, value_name = "N", default_value = "1000")]
    max_requests: u64,
    /// The longest time of a request, in seconds.
    #[arg(long, global = true, value_name = "SECONDS", default_value = "30")]
    timeout: u64,
    /// Send no request.
    #[arg(long, global = true)]
    offline: bool,
    /// Accept plain http. A redirect never leads from https to http.
    #[arg(long, global = true)]
    allow_http: bool,
    /// Accept private, loopback and link-local addresses.
    #[arg(long, global = true)]
    allow_private: bool,
    /// Print the number of requests and bytes on standard error.
    #[arg(short, long, global = true)]
    verbose: bool,
}

impl RemoteArguments {
    /// Sets the options of the client. Later calls have no effect.
    pub(super) fn set(&self) {
        let _ = OPTIONS.set(self.options());
    }

    fn options(&self) -> RemoteOptions {
        let mut options = RemoteOptions::default();
        options.file_bytes = self.max_remote_bytes;
        options.file_requests = self.max_requests;
        options.timeout = Duration::from_secs(self.timeout.max(1));
        options.is_offline = self.offline || is_set("HF_HUB_OFFLINE");
        options.allows_http = self.allow_http;
        options.allows_private = self.allow_private;
        if let Some(hub) = variable("HF_ENDPOINT") {
            options.hub = hub;
        }
        options
    }

    /// Prints what was requested, if that was asked for.
    pub(super) fn report(&self) {
        if let Some(client) = CLIENT.get().filter(|_| self.verbose) {
            let spent = client.spent();
            note(&format!("{} requests, {} bytes from servers", spent.requests, spent.bytes));
        }
    }
}

/// The client, which is created when it is needed: most runs read local files.
static CLIENT: OnceLock<Client> = OnceLock::new();

static OPTIONS: OnceLock<RemoteOptions> = OnceLock::new();

/// Returns the client of this run. `read` reads the file of the hub's token.
pub(super) fn client(read: impl FnOnce(&Path) -> Option<String>) -> Client {
    CLIENT
        .get_or_init(|| {
            let mut options = OPTIONS.get().cloned().unwrap_or_default();
            options.token = token(read);
            Client::new(options)
        })
        .clone()
}

/// Returns the URL that a path is meant as; `None` for a path of a file.
pub(super) fn url_of(
    path: &Path,
    client: impl FnOnce() -> Client,
) -> Option<Result<RemoteUrl, Problem>> {
    let text = path.to_str().filter(|text| is_url(text))?;
    let url = client().url(text);
    let name = super::text::name_of(path);
    Some(url.map_err(|error| Problem::Usage(format!("{name}: {error}").into())))
}

/// Returns the token of the hub, from the places where its own tools look.
fn token(read: impl FnOnce(&Path) -> Option<String>) -> Option<Secret> {
    if is_set("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
        return None;
    }
    if let Some(token) = variable("HF_TOKEN") {
        return Secret::new(&token);
    }
    let home = || variable("HF_HOME").map(PathBuf::from);
    let cache = || Some(PathBuf::from(variable("HOME")?).join(".cache/huggingface"));
    let path = match variable("HF_TOKEN_PATH") {
        Some(path) => path.into(),
        None => home().or_else(cache)?.join("token"),
    };
    path.is_file().then(|| read(&path))?.and_then(|text| Secret::new(&text))
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn is_set(name: &str) -> bool {
    variable(name).is_some_and(|value| {
        ["1", "on", "yes", "true"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
    })
}
