//! The page of `pte map --html` in headless Chromium, if it is installed.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::super::good;
use super::super::view::Server;
use super::page::hostile;

/// Returns the browser of `PTE_CHROMIUM`, or the first one on the path; prints a note if there is none.
fn browser() -> Option<PathBuf> {
    let named = env::var_os("PTE_CHROMIUM").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"];
    let mut on_path = names.iter().flat_map(|name| {
        env::split_paths(&path).map(move |folder| folder.join(name)).collect::<Vec<_>>()
    });
    let found = named.or_else(|| on_path.find(|file| file.is_file()));
    if found.is_none() {
        println!("skipped: no Chromium on the path, and PTE_CHROMIUM names none");
    }
    found
}

/// Loads the page at `path`, and returns its DOM after a second and the messages on the console.
fn load(browser: &Path, path: &Path) -> (String, Vec<String>) {
    load_tab(browser, path, "summary")
}

/// The page of `pte view` asks its server, under its policy.
#[test]
fn browser_shows_the_page_of_view() {
    let Some(browser) = browser() else { return };
    let server = Server::new(&["tests/data/pte/xnn_mixed.pte", "tests/data/pte/linear.pte"]);
    for (tab, text) in [
        ("summary", "Releases"),
        ("findings", "aten::sort"),
        ("graph", "Search "),
        ("size", "Parts of xnn_mixed.pte"),
        ("bytes", "The file to scale"),
        ("compare", "difference"),
    ] {
        let (dom, log) = load_url(&browser, &format!("{}#{tab}", server.url()));
        assert_eq!(log, Vec::<String>::new(), "nothing is wrong on {tab}");
        assert!(dom.contains(text), "{text} on {tab}");
    }
}

/// The page shows a refused file as the terminal does.
#[test]
fn browser_shows_the_errors_of_view_with_code_and_help() {
    let Some(browser) = browser() else { return };
    let server = Server::new(&["README.md", "tests/data/pte/linear.pte"]);
    for tab in ["summary", "graph", "memory", "size", "operators", "compare"] {
        let (dom, _) = load_url(&browser, &format!("{}#{tab}", server.url()));
        for text in
            ["Not shown: other-format", "this is a text file, not a .pte", "Give a .pte program"]
        {
            assert!(dom.contains(text), "{text} on {tab}: {dom}");
        }
    }
}

/// Loads a tab of the page at `path`.
fn load_tab(browser: &Path, path: &Path, tab: &str) -> (String, Vec<String>) {
    load_url(browser, &format!("file://{}#{tab}", path.display()))
}

/// Loads an address.
fn load_url(browser: &Path, url: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let [out, err] = ["out", "err"].map(|name| folder.path().join(name));
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"])
        .args(["--no-first-run", "--enable-logging=stderr", "--timeout=20000"])
        .args(["--virtual-time-budget=1000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(url)
        .stdin(Stdio::null())
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(&err).unwrap())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            panic!("the browser does not end");
        }
        thread::sleep(Duration::from_millis(50));
    };
    let log = String::from_utf8_lossy(&fs::read(err).unwrap()).into_owned();
    assert!(status.success(), "{log}");
    let log = log.lines().filter(|line| line.contains("CONSOLE")).map(Into::into);
    (fs::read_to_string(out).unwrap(), log.collect())
}

/// A server that counts requests, and answers none.
fn server() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, asked) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&asked);
    // The thread ends with the process.
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 4096]);
            let nothing =
                b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(nothing);
        }
    });
    (port, asked)
}

#[test]
fn browser_shows_the_page_and_runs_no_script_of_the_file() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (port, asked) = server();
    let markup = format!(
        "</title></style></script><script>document.title='taken'</script>\
         <img src=http://127.0.0.1:{port}/x onerror=\"document.title='taken'\">"
    );

    // Names that are harmful as markup.
    let control = folder.path().join("control.html");
    fs::write(&control, format!("<!DOCTYPE html><title>mine</title><p>{markup}")).unwrap();
    let (dom, _) = load(&browser, &control);
    assert!(dom.contains("<title>taken</title>"), "{dom}");
    assert!(asked.swap(0, Ordering::SeqCst) > 0, "the picture was asked for");

    let model = hostile(folder.path(), &markup);
    let page = folder.path().join("page.html");
    good(&["map", "--html", model.to_str().unwrap(), "-o", page.to_str().unwrap()]);
    for (tab, text) in [
        ("summary", "Does not load"),
        ("findings", "What to do"),
        ("graph", "Search "),
        ("memory", "planned"),
        ("size", "Parts of a.pte"),
        ("bytes", "The file to scale"),
        ("operators", "Operators of the runtime"),
    ] {
        let (dom, log) = load_tab(&browser, &page, tab);
        assert_eq!(log, Vec::<String>::new(), "nothing is wrong on {tab}");
        assert!(dom.contains("<title>a.pte – "), "no script of the file has run");
        assert!(!dom.contains("<img"), "names are text");
        assert_eq!(dom.matches("<script").count(), 2, "that of the page, and the documents");
        assert!(dom.contains(text), "{text} on {tab}");
        if ["summary", "size"].contains(&tab) {
            assert!(dom.contains("&lt;img src="), "{tab} shows the name");
        }
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0, "nothing was asked for");
}

/// A reader types into the search, folds and unfolds, sorts, and follows a link into a folded part.
#[test]
fn browser_searches_folds_sorts_and_follows_links() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    good(&["map", "--html", "tests/data/pte/xnn_gpt.pte", "-o", page.to_str().unwrap()]);
    // The policy would forbid the reader's script too. Another test holds that it allows the page's.
    let written = fs::read_to_string(&page).unwrap();
    let (before, rest) = written.split_once("<meta http-equiv=").unwrap();
    let (_, after) = rest.split_once('>').unwrap();
    let reader = r##"<script type="module">
        const said = [];
        const say = (what, is) => said.push(what + (is ? " yes" : " no"));
        const rows = () => Array.from(document.querySelectorAll("#panel tbody tr"));
        const box = () => document.querySelector("input[type=search]");
        const type = text => { box().value = text; box().dispatchEvent(new Event("input")); };
        const wait = () => new Promise(done => setTimeout(done, 50));
        const tab = async name => { document.getElementById("tab-" + name).click(); await wait(); };
        await wait();
        await tab("size");
        const all = rows().length;
        type("fullyconnected");
        say("found", rows().length > 5);
        say("matching", rows().every(row => row.textContent.toLowerCase().includes("fullyconnected")));
        say("counted", document.getElementById("panel").textContent.includes(rows().length + " parts"));
        type("no such text");
        say("none", rows().length === 0);
        type("");
        say("again", rows().length === all);
        const head = document.querySelectorAll("#panel th")[1];
        const first = () => parseInt(rows()[0].children[1].textContent.replace(/,/g, ""));
        const largest = first();
        const sort = () => document.querySelectorAll("#panel th button")[1].click();
        sort(); sort();
        say("sorted", first() < largest && head.getAttribute("aria-sort") === "ascending");
        document.querySelector("#panel tbody button.link").click();
        say("followed", document.querySelectorAll("#panel .trail button").length === 2);
        await tab("bytes");
        const folded = document.querySelector("#panel .tree details");
        say("folded", !folded.open);
        folded.querySelector("summary").click();
        await wait();
        say("unfolded", folded.open && folded.querySelector("li") !== null);
        folded.querySelector("summary").click();
        await wait();
        say("refolded", !folded.open);
        document.body.dataset.said = said.join(", ");
    </script></body>"##;
    fs::write(&page, format!("{before}{}", after.replace("</body>", reader))).unwrap();
    let (dom, log) = load(&browser, &page);
    assert_eq!(log, Vec::<String>::new());
    let said = dom.split("data-said=\"").nth(1).unwrap_or_else(|| panic!("{dom}"));
    let said = said.split('"').next().unwrap();
    assert_eq!(
        said,
        "found yes, matching yes, counted yes, none yes, again yes, sorted yes, followed yes, \
         folded yes, unfolded yes, refolded yes"
    );
}
