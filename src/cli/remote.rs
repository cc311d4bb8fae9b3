//! Remote inputs: the options, the credentials, and the client of the command.

use core::time::Duration;
use std::path::Path;
use std::sync::OnceLock;

use clap::Args;
use pte::remote::{Client, RemoteOptions, RemoteUrl, is_url};

use super::problem::{Problem, note};
use super::text::count;

/// Options of remote files.
#[derive(Clone, Debug, Args)]
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
        let _ = OPTIONS.set(self.clone());
    }

    fn options(&self) -> RemoteOptions {
        let mut options = RemoteOptions::of_environment();
        options.file_bytes = self.max_remote_bytes;
        options.file_requests = self.max_requests;
        options.timeout = Duration::from_secs(self.timeout.max(1));
        options.is_offline |= self.offline;
        options.allows_http = self.allow_http;
        options.allows_private = self.allow_private;
        options
    }

    /// Prints the numbers of requests and bytes, if `--verbose` was given.
    pub(super) fn report(&self) {
        if let Some(client) = CLIENT.get().filter(|_| self.verbose) {
            let spent = client.spent();
            let (requests, bytes) = (count(spent.requests, "request"), count(spent.bytes, "byte"));
            note(&format!("{requests}, {bytes} from servers"));
        }
    }
}

/// The client. It is created on demand, since most runs read only local files.
static CLIENT: OnceLock<Client> = OnceLock::new();

static OPTIONS: OnceLock<RemoteArguments> = OnceLock::new();

/// Returns the client of this run.
pub(super) fn client() -> Client {
    let options = || OPTIONS.get().map(RemoteArguments::options).unwrap_or_default();
    CLIENT.get_or_init(|| Client::new(options())).clone()
}

/// Parses a path that is a URL; `None` for the path of a file.
pub(super) fn url_of(path: &Path) -> Option<Result<RemoteUrl, Problem>> {
    let text = path.to_str().filter(|text| is_url(text))?;
    let url = client().url(text);
    let name = super::text::name_of(path);
    Some(url.map_err(|error| Problem::Usage(format!("{name}: {error}").into())))
}
