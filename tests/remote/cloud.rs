//! Objects in stores. The servers are on 127.0.0.1 and answer as stores do, or do not; the environment of
//! the command names them. tests/remote/programs.rs has real servers.

use std::path::Path;
use std::process::{Command, Output};

use super::LINEAR;
use super::server::{Act, Asked, Server, partial, reply};

/// Runs the command with the settings of a store in its environment alone.
pub(super) fn pte(settings: &[(&str, &str)], args: &[&str]) -> Output {
    let mut command = crate::cli::command();
    let home = tempfile::tempdir().unwrap();
    let kept = std::env::var_os("PATH").into_iter();
    command
        .env_clear()
        .envs(kept.map(|path| ("PATH", path)))
        .env("HOME", home.path())
        .envs(settings.iter().copied())
        .args(args)
        .args(["--allow-http", "--timeout", "5"])
        .output()
        .unwrap()
}

/// Runs the command, which may connect to this machine.
pub(super) fn local(settings: &[(&str, &str)], args: &[&str]) -> Output {
    pte(settings, &[args, &["--allow-private"]].concat())
}

pub(super) fn text(done: &Output) -> String {
    let both = [done.stdout.as_slice(), done.stderr.as_slice()].concat();
    String::from_utf8(both).unwrap()
}

const KEYS: [(&str, &str); 2] =
    [("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "SECRETKEY")];

/// Settings that name `server`.
fn s3(server: &str) -> Vec<(&str, &str)> {
    [&KEYS[..], &[("AWS_ENDPOINT_URL", server), ("AWS_SESSION_TOKEN", "SECRETTOKEN")]].concat()
}

fn listing(keys: &[&str], next: Option<&str>) -> Act {
    let objects = keys.iter().map(|key| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
             <ETag>&quot;v1&quot;</ETag><Size>1</Size></Contents>"
        )
    });
    let next = next.map(|next| format!("<NextContinuationToken>{next}</NextContinuationToken>"));
    let text = format!(
        "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>{}</IsTruncated>{}{}</ListBucketResult>",
        next.is_some(),
        next.unwrap_or_default(),
        objects.collect::<String>()
    );
    Act::Send(reply("200 OK", "Content-Type: application/xml\r\n", text.as_bytes()))
}

fn is_listing(asked: &Asked) -> bool {
    asked.path.contains("list-type=2")
}

fn rows(folder: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(folder.join("part-000000.ndjson")).unwrap();
    assert!(!text.contains("SECRET"), "{text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn requests_are_signed_and_carry_if_match() {
    let mut long = crate::support::files::read("tests/data/pte/xnn_gpt.pte").unwrap();
    long.resize(300_000, 0);
    let server = Server::of(long);
    let url = server.url("");
    let done = local(&s3(&url), &["tensors", "--hash", "-v", "s3://bucket/a%20dir/m.pte"]);
    assert!(done.status.success(), "{}", text(&done));
    assert!(!text(&done).contains("SECRET"), "{}", text(&done));
    let asked = server.asked();
    assert!(asked.len() > 1);
    assert_eq!(asked[0].header("range"), Some("bytes=0-65535"));
    assert_eq!(asked[0].header("if-match"), None);
    for of in &asked {
        assert_eq!(of.path, "/bucket/a%20dir/m.pte");
        assert!(of.header("authorization").unwrap().starts_with("AWS4-HMAC-SHA256 "));
        assert!(!of.head.contains("SECRETKEY"));
        assert_eq!(of.header("accept-encoding"), Some("identity"));
    }
    assert!(asked[1..].iter().all(|of| of.header("if-match") == Some("\"v1\"")));
}

/// With a service account, each request has a token that the account's private key signed. No server is
/// asked for a token.
#[test]
fn google_requests_carry_a_token_that_the_key_signed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let openssl = |args: &[&str]| Command::new("openssl").current_dir(&folder).args(args).output();
    let Ok(made) = openssl(&["genpkey", "-algorithm", "RSA", "-out", "key.pem"]) else {
        eprintln!("skipped: openssl is not installed");
        return;
    };
    assert!(made.status.success(), "{}", text(&made));
    openssl(&["pkey", "-in", "key.pem", "-pubout", "-out", "public.pem"]).unwrap();
    let account = serde_json::json!({
        "type": "service_account",
        "private_key": std::fs::read_to_string(at("key.pem")).unwrap(),
        "private_key_id": "SECRETID",
        "client_email": "reader@example.com",
    });
    std::fs::write(at("account.json"), account.to_string()).unwrap();
    let mut long = crate::support::files::read("tests/data/pte/xnn_gpt.pte").unwrap();
    long.resize(300_000, 0);
    let server = Server::of(long);
    let (url, account) = (server.url(""), at("account.json"));
    let settings =
        [("GOOGLE_BASE_URL", url.as_str()), ("GOOGLE_SERVICE_ACCOUNT", account.to_str().unwrap())];
    let done = local(&settings, &["tensors", "--hash", "-v", "gs://bucket/m.pte"]);
    assert!(done.status.success(), "{}", text(&done));
    let asked = server.asked();
    assert!(asked.len() > 1);
    for of in &asked {
        assert_eq!(of.path.replace("%2E", "."), "/bucket/m.pte");
        let token = of.header("authorization").unwrap().strip_prefix("Bearer ").unwrap();
        assert!(!text(&done).contains(token), "{}", text(&done));
        let (message, signature) = token.rsplit_once('.').unwrap();
        std::fs::write(at("message"), message).unwrap();
        std::fs::write(at("signature"), decoded(signature)).unwrap();
        let verify = ["dgst", "-sha256", "-verify", "public.pem", "-signature", "signature"];
        let verified = openssl(&[&verify[..], &["message"]].concat()).unwrap();
        assert!(verified.status.success(), "{token}: {}", text(&verified));
        let claims = decoded(message.split_once('.').unwrap().1);
        let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
        assert_eq!(claims["iss"], "reader@example.com");
    }
    assert!(asked[1..].iter().all(|of| of.header("if-match") == Some("\"v1\"")));
    let damaged = std::fs::read_to_string(&account).unwrap().replace("BEGIN", "SECRET");
    std::fs::write(&account, damaged).unwrap();
    let refused = local(&settings, &["info", "gs://bucket/m.pte"]);
    assert!(!refused.status.success());
    assert!(!text(&refused).contains("SECRET"), "{}", text(&refused));
    assert_eq!(server.asked().len(), asked.len());
}

/// Decodes base64 of URLs.
fn decoded(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for byte in text.bytes() {
        let digit = digits.iter().position(|&digit| digit == byte).unwrap();
        (bits, count) = (bits << 6 | digit as u32, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    bytes
}

#[test]
fn without_credentials_requests_are_not_signed_and_nothing_else_is_asked() {
    let server = Server::of(LINEAR.to_vec());
    let url = server.url("");
    for (settings, name) in [
        (vec![("AWS_ENDPOINT_URL", url.as_str())], "s3://bucket/m.pte"),
        (vec![("GOOGLE_BASE_URL", &url)], "gs://bucket/m.pte"),
        (
            vec![("AZURE_STORAGE_ENDPOINT", &url), ("AZURE_STORAGE_ACCOUNT_NAME", "name")],
            "az://bucket/m.pte",
        ),
    ] {
        let before = server.asked().len();
        let done = local(&settings, &["info", name]);
        assert!(done.status.success(), "{}", text(&done));
        let asked = server.asked();
        assert_eq!(asked.len(), before + 1, "{name}");
        assert_eq!(asked[before].header("authorization"), None, "{name}");
        let path = asked[before].path.replace("%2E", ".");
        assert_eq!(path, "/bucket/m.pte", "{name}");
    }
    let done = local(&[], &["info", "az://bucket/m.pte"]);
    assert!(text(&done).contains("AZURE_STORAGE_ACCOUNT_NAME"), "{}", text(&done));
}

#[test]
fn a_redirect_of_a_store_is_not_followed() {
    let canary = Server::of(LINEAR.to_vec());
    let target = canary.url("/m.pte");
    let server = Server::start(move |_, _| {
        Act::Send(reply("307 Moved", &format!("Location: {target}\r\n"), b""))
    });
    let url = server.url("");
    let done = local(&s3(&url), &["info", "s3://bucket/m.pte"]);
    assert_eq!(done.status.code(), Some(3));
    assert!(text(&done).contains("redirect"), "{}", text(&done));
    let out = tempfile::tempdir().unwrap();
    let done =
        local(&s3(&url), &["scan", "s3://bucket/models", "-o", out.path().to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(3), "{}", text(&done));
    assert!(!text(&done).contains("SECRET") && canary.asked().is_empty());
}

#[test]
fn private_addresses_and_queries_are_refused() {
    let server = Server::of(LINEAR.to_vec());
    let url = server.url("");
    let done = pte(&s3(&url), &["info", "s3://bucket/m.pte"]);
    assert!(text(&done).contains("private"), "{}", text(&done));
    let out = tempfile::tempdir().unwrap();
    let done = pte(&s3(&url), &["scan", "s3://bucket/", "-o", out.path().to_str().unwrap()]);
    assert!(text(&done).contains("private"), "{}", text(&done));
    for name in [
        "s3://bucket/m.pte?X-Amz-Signature=SECRET",
        "s3://name:SECRET@bucket/m.pte",
        "az://c/m.pte?sig=SECRET",
    ] {
        let done = local(&s3(&url), &["info", name]);
        assert_eq!(done.status.code(), Some(2), "{}", text(&done));
        assert!(!text(&done).contains("SECRET"), "{}", text(&done));
    }
    assert!(server.asked().is_empty());
}

/// The replies of a store are checked like those of other servers.
#[test]
fn replies_of_stores_are_not_trusted() {
    let long: Vec<u8> = [LINEAR, &[0; 200_000]].concat();
    let of = |act: fn(&[u8], &Asked, usize) -> Vec<u8>| {
        let long = long.clone();
        let server = Server::start(move |asked, nth| Act::Send(act(&long, asked, nth)));
        let url = server.url("");
        let done = local(&s3(&url), &["map", "--json", "s3://bucket/m.pte"]);
        (text(&done), server.asked().len())
    };
    let (denied, _) = of(|_, _, _| reply("403 No", "", b"<Message>SECRET</Message>"));
    assert!(denied.contains("access denied") && !denied.contains("SECRET"), "{denied}");
    let (missing, _) = of(|_, _, _| reply("404 No", "", b""));
    assert!(missing.contains("404"), "{missing}");
    let (whole, _) = of(|_, _, _| reply("200 OK", "", &vec![0; (1 << 20) + 1]));
    assert!(whole.contains("ranges"), "{whole}");
    let (other, _) = of(|_, _, _| reply("206 P", "Content-Range: bytes 5-14/100\r\n", &[0; 10]));
    assert!(other.contains("range"), "{other}");
    let (short, tries) = of(|_, _, _| {
        let head = "HTTP/1.1 206 P\r\nContent-Length: 100\r\nContent-Range: bytes 0-99/100\r\n\r\n";
        [head.as_bytes(), &[7; 50]].concat()
    });
    assert!(short.contains("connection failed") && tries == 4, "{short} {tries}");
    let (again, tries) = of(|file, asked, nth| match nth {
        0 => reply("503 Slow", "", b""),
        _ => partial(file, asked, "\"v1\""),
    });
    assert!(tries > 1 && again.starts_with('{'), "{again}");
}

#[test]
fn a_bucket_is_listed_page_by_page() {
    let server = Server::start(|asked, _| match is_listing(asked) {
        true if asked.path.contains("continuation-token") => {
            listing(&["models/c.ptd", "models/50%25 ?.pte"], None)
        }
        // An object outside of the prefix was not requested, and is left out.
        true => listing(&["models/a.pte", "models/b.txt", "other/x.pte"], Some("next")),
        false => Act::Send(partial(LINEAR, asked, "\"v1\"")),
    });
    let url = server.url("");
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    let args = ["scan", "--format", "ndjson", "-o", folder, "s3://bucket/models"];
    let done = local(&s3(&url), &args);
    assert!(done.status.success(), "{}", text(&done));
    let rows = rows(out.path());
    let mut uris: Vec<_> = rows.iter().map(|row| row["uri"].as_str().unwrap()).collect();
    uris.sort_unstable();
    let named = [
        "s3://bucket/models/50%2525 %3F.pte",
        "s3://bucket/models/a.pte",
        "s3://bucket/models/c.ptd",
    ];
    assert_eq!(uris, named);
    assert!(rows.iter().all(|row| row["mtime_ms"] == 1_767_225_600_000u64));
    assert!(rows.iter().all(|row| row["etag"] == "\"v1\"" && row["requests"] == 1));
    assert!(server.asked().iter().any(|asked| asked.path == "/bucket/models/50%2525%20%3F.pte"));
    let before = server.asked().len();
    let done = local(&s3(&url), &[&args[..], &["--resume"]].concat());
    assert!(text(&done).contains("3 skipped"), "{}", text(&done));
    assert_eq!(server.asked().len(), before + 2, "only the listing is read again");
}

#[test]
fn a_listing_that_fails_or_does_not_end_ends_its_root_alone() {
    let server = Server::start(|asked, _| match asked.path.split(['/', '?']).nth(1).unwrap() {
        "denied" => Act::Send(reply("403 No", "", b"")),
        "loop" => listing(&["m.pte"], Some("same")),
        "text" => Act::Send(reply("200 OK", "", b"no list")),
        "large" => Act::Send(reply("200 OK", "", &vec![b' '; (8 << 20) + 1])),
        _ if is_listing(asked) => listing(&["m.pte"], None),
        _ => Act::Send(partial(LINEAR, asked, "\"v1\"")),
    });
    let url = server.url("");
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    let args = ["scan", "--format", "ndjson", "-o", folder];
    let roots = ["s3://denied/", "s3://loop/x", "s3://text/", "s3://large/", "s3://good/"];
    let done = local(&s3(&url), &[&args[..], &roots[..]].concat());
    assert_eq!(done.status.code(), Some(3));
    let shown = text(&done);
    for part in ["s3://denied/: access denied", "leads to itself", "s3://text/: ", "longer"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("SECRET"), "{shown}");
    assert!(rows(out.path()).iter().any(|row| row["uri"] == "s3://good/m.pte"));
}
