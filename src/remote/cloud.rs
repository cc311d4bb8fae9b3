//! Objects in cloud stores: `s3://`, `gs://` and `az://`.
//!
//! The crate `object_store` finds credentials, builds and signs requests, and reads listings. Our
//! own client sends every request, so the same rules apply to addresses, budgets and times, and
//! redirects are not followed. Our client also judges the reply about an object; that crate does
//! not get it.

use core::error::Error;
use core::future::{Future, poll_fn, ready};
use core::ops::Range;
use core::pin::Pin;
use std::env;
use std::io;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{ClientOptions, GetOptions, ObjectMeta, ObjectStore, RetryConfig};
use ureq::http::{self, Uri};

use super::budget::Budget;
use super::client::{Client, Reply, Shared, Wanted};
use super::error::RemoteError;
use super::listing::ListedFile;
use super::pages::{MAX_PAGE, Pages};
use super::reply::Version;
use super::store::{ObjectPlace, StoreKind};

impl Client {
    /// Requests an object. `object_store` builds the request, and the client sends it.
    pub(super) fn send_to_store(
        &self,
        place: &ObjectPlace,
        uri: &Uri,
        wanted: Wanted<'_>,
        budget: &Budget,
        requested_delay: &mut Option<u64>,
    ) -> Result<Reply, RemoteError> {
        let store = self.store(place)?;
        let key = Path::parse(&place.key).map_err(|_| INVALID_KEY)?;
        let caught = Caught::default();
        let mut options = GetOptions {
            range: wanted.range.map(|range: &Range<u64>| range.clone().into()),
            if_match: wanted.version.and_then(Version::strong).map(str::to_owned),
            ..GetOptions::default()
        };
        options.extensions.insert(caught.clone());
        budget.request()?;
        let refused = run(store.get_opts(&key, options))?.err();
        match caught.take() {
            Some(reply) => self.as_reply(reply?, uri, requested_delay),
            // No request was built, since there are no credentials.
            None => Err(refused.map_or(INCOMPLETE, |error| reason(&error))),
        }
    }

    /// Lists the objects under `s3://bucket/prefix`. Calls `each` with each object until `each`
    /// returns false. Not every store can begin a listing at a given key.
    pub(super) fn list_store(
        &self,
        text: &str,
        mut each: impl FnMut(ListedFile) -> bool,
    ) -> Result<(), RemoteError> {
        let place = ObjectPlace::parse(text)?;
        let prefix = Path::parse(&place.key).map_err(|_| INVALID_KEY)?;
        let pages = Arc::new(Mutex::new(Pages::default()));
        let store = build(&place, self.service(Some(pages)))?;
        run(async {
            let mut objects =
                store.list(Some(&prefix).filter(|prefix| !prefix.as_ref().is_empty()));
            while let Some(object) = poll_fn(|task| objects.as_mut().poll_next(task)).await {
                let object = object.map_err(|error| reason(&error))?;
                // The store's listing is not trusted.
                let is_inside = object.location.prefix_matches(&prefix);
                if is_inside && !each(found(&place, &object)) {
                    break;
                }
            }
            Ok(())
        })?
    }

    fn store(&self, place: &ObjectPlace) -> Result<Arc<dyn ObjectStore>, RemoteError> {
        self.stores().get(place.kind, &place.bucket, || build(place, self.service(None)))
    }

    fn service(&self, pages: Option<Arc<Mutex<Pages>>>) -> Connector {
        Connector { client: self.downgrade(), pages }
    }
}

fn found(place: &ObjectPlace, object: &ObjectMeta) -> ListedFile {
    let mtime_ms = object.last_modified.timestamp_millis();
    let id = object.e_tag.clone().unwrap_or_else(|| format!("{} {mtime_ms}", object.size));
    ListedFile { url: place.url_of(object.location.as_ref()), id, mtime_ms: Some(mtime_ms) }
}

/// Runs a future on this thread. Requests block the thread.
fn run<T>(future: impl Future<Output = T>) -> Result<T, RemoteError> {
    let failed = |error: io::Error| RemoteError::Connection(error.to_string().into());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    Ok(runtime.map_err(failed)?.block_on(future))
}

/// Builds a store from environment variables. Without credentials in them, requests are not signed:
/// the cloud's metadata service is never asked for any.
fn build(place: &ObjectPlace, connector: Connector) -> Result<Arc<dyn ObjectStore>, RemoteError> {
    let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let bucket = place.bucket.as_str();
    let incomplete = |_| INCOMPLETE;
    Ok(match place.kind {
        StoreKind::S3 => {
            use AmazonS3ConfigKey::{
                AccessKeyId, ContainerCredentialsFullUri, ContainerCredentialsRelativeUri,
                SecretAccessKey, WebIdentityTokenFile,
            };
            let builder = AmazonS3Builder::from_env()
                .with_bucket_name(bucket)
                .with_retry(retry)
                .with_http_connector(connector);
            let credentials = [
                AccessKeyId,
                SecretAccessKey,
                WebIdentityTokenFile,
                ContainerCredentialsRelativeUri,
                ContainerCredentialsFullUri,
            ];
            match credentials.iter().any(|key| builder.get_config_value(key).is_some()) {
                true => Arc::new(builder.build().map_err(incomplete)?),
                false => Arc::new(builder.with_skip_signature(true).build().map_err(incomplete)?),
            }
        }
        StoreKind::Gs => {
            use GoogleConfigKey::{
                ApplicationCredentials, BearerToken, ServiceAccount, ServiceAccountKey,
            };
            let builder = GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(bucket)
                .with_retry(retry)
                .with_http_connector(connector);
            let credentials =
                [ApplicationCredentials, BearerToken, ServiceAccount, ServiceAccountKey];
            let has_credentials =
                credentials.iter().any(|key| builder.get_config_value(key).is_some())
                    || has_default_credentials();
            let builder = builder.with_skip_signature(!has_credentials);
            Arc::new(builder.build().map_err(incomplete)?)
        }
        StoreKind::Az => {
            use AzureConfigKey::{
                AccessKey, AccountName, ClientSecret, FederatedTokenFile, SasKey, Token,
                UseAzureCli, UseEmulator,
            };
            let builder = MicrosoftAzureBuilder::from_env()
                .with_container_name(bucket)
                .with_retry(retry)
                .with_http_connector(connector);
            // An unset switch has the value "false".
            let value = |key: &AzureConfigKey| builder.get_config_value(key);
            let is_set = |key: &AzureConfigKey| value(key).is_some_and(|value| value != "false");
            if !is_set(&AccountName) && !is_set(&UseEmulator) {
                return Err(RemoteError::Store("az:// needs AZURE_STORAGE_ACCOUNT_NAME"));
            }
            let credentials = [
                AccessKey,
                ClientSecret,
                FederatedTokenFile,
                SasKey,
                Token,
                UseAzureCli,
                UseEmulator,
            ];
            match credentials.iter().any(is_set) {
                true => Arc::new(builder.build().map_err(incomplete)?),
                false => Arc::new(builder.with_skip_signature(true).build().map_err(incomplete)?),
            }
        }
    })
}

/// Returns whether Google's tools have stored default credentials.
fn has_default_credentials() -> bool {
    let home = env::var_os(if cfg!(windows) { "APPDATA" } else { "HOME" });
    let folder = if cfg!(windows) { "gcloud" } else { ".config/gcloud" };
    home.is_some_and(|home| {
        let path = FilePath::new(&home).join(folder);
        path.join("application_default_credentials.json").exists()
    })
}

/// Returns why a store failed. The store's own messages may contain signed URLs, and are not shown.
fn reason(error: &object_store::Error) -> RemoteError {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<RemoteError>() {
            return error.clone();
        }
        next = error.source();
    }
    RemoteError::Store("its credentials or its listing cannot be read")
}

/// A slot for the reply about an object. `object_store` does not return the reply itself.
#[derive(Clone, Default)]
struct Caught(Arc<Mutex<Option<Sent>>>);

type Sent = Result<http::Response<ureq::Body>, RemoteError>;

impl Caught {
    fn take(&self) -> Option<Sent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, reply: Sent) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
    }
}

/// Connects `object_store` to our client. Settings for `object_store`'s own client have no effect.
#[derive(Clone, Debug)]
struct Connector {
    client: Weak<Shared>,
    /// The pages of the listing, if the store is listed.
    pages: Option<Arc<Mutex<Pages>>>,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

impl HttpService for Connector {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        let reply = self.send(request);
        Box::pin(ready(reply.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))))
    }
}

impl Connector {
    fn send(&self, request: HttpRequest) -> Result<HttpResponse, RemoteError> {
        let client = self.client.upgrade().map(Client::of);
        let client = client.ok_or(RemoteError::Store("the client has ended"))?;
        let (mut parts, body) = request.into_parts();
        let body = body.as_bytes().map(|bytes| bytes.to_vec()).unwrap_or_default();
        if let Some(caught) = parts.extensions.remove::<Caught>() {
            caught.put(client.send_prepared(&parts, &body));
            return Err(RemoteError::Store("the reply is read elsewhere"));
        }
        if parts.uri.host().is_some_and(|host| MACHINES.contains(&host)) {
            return Err(RemoteError::Store("there are no credentials in the environment"));
        }
        if let Some(pages) = &self.pages
            && parts.method == http::Method::GET
        {
            pages.lock().unwrap_or_else(PoisonError::into_inner).add(&parts.uri)?;
        }
        // The request is for a page of a listing, or for credentials.
        let budget = client.file_budget();
        let repeated = client.repeated(
            |requested_delay| {
                let reply = client.send_prepared(&parts, &body)?;
                let mut reply = client.as_reply(reply, &parts.uri, requested_delay)?;
                if !(200..300).contains(&reply.status) {
                    return Err(RemoteError::Status(reply.status));
                }
                let bytes = reply.body_up_to(MAX_PAGE)?;
                client.charge(&budget, u64::try_from(bytes.len()).unwrap_or(u64::MAX))?;
                Ok((reply, bytes))
            },
            &parts.uri,
        );
        let (reply, bytes) = repeated?;
        let mut answer = http::Response::new(HttpResponseBody::from(bytes));
        *answer.status_mut() =
            http::StatusCode::from_u16(reply.status).unwrap_or(http::StatusCode::OK);
        *answer.headers_mut() = reply.headers;
        Ok(answer)
    }
}

const INVALID_KEY: RemoteError =
    RemoteError::Url("the object's key has an empty part, or one of dots");

const INCOMPLETE: RemoteError =
    RemoteError::Store("its settings in the environment are incomplete or invalid");

/// The metadata servers of virtual machines. They are refused even if private addresses are
/// allowed.
const MACHINES: [&str; 3] = ["169.254.169.254", "metadata.google.internal", "[fd00:ec2::254]"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RemoteOptions;

    /// The client is offline, so a request that is not refused earlier fails without a connection.
    #[test]
    fn credentials_of_the_machine_are_never_asked_for() {
        let options =
            RemoteOptions { is_offline: true, allows_http: true, ..RemoteOptions::default() };
        let client = Client::new(options);
        let connector = Connector { client: client.downgrade(), pages: None };
        let error = |host: &str| {
            let uri = format!("http://{host}/latest/meta-data");
            let request = http::Request::get(uri).body(Vec::new().into()).unwrap();
            connector.send(request).unwrap_err()
        };
        for host in MACHINES {
            assert!(matches!(error(host), RemoteError::Store(_)), "{host}");
        }
        assert!(matches!(error("127.0.0.1"), RemoteError::Offline));
    }
}
