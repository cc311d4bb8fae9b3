// The page in Chromium: CHROMIUM is the program, or one of its usual names. Pictures go to snapshots/page with PTE_BLESS=1.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { check, open } from "../dist/index.js";

const root = new URL("../../", import.meta.url).pathname;
const data = `${root}tests/data/`;
const site = new URL("../site/", import.meta.url).pathname;
const names = ["chromium", "chromium-headless-shell", "google-chrome"];
const program =
  process.env.CHROMIUM ?? names.map((name) => spawnSync("which", [name]).stdout?.toString().trim()).find(Boolean);
const skip = !program
  ? "there is no Chromium (CHROMIUM)"
  : !existsSync(site) && "the page is not built (npm run build)";
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

let server, browser, address;
/** What a test has made, by its path: the text of a page, or what answers a request. */
const made = new Map();
before(async () => {
  if (skip) return;
  server = createServer((request, reply) => {
    const path = new URL(request.url, "http://a").pathname.replace(/\/$/, "/index.html");
    const own = made.get(path);
    if (typeof own === "function") return own(request, reply);
    if (own !== undefined) return reply.writeHead(200, { "Content-Type": "text/html" }).end(own);
    const file = path.startsWith("/data/") ? data + path.slice(6) : site + path;
    if (path.includes("..") || !existsSync(file)) return reply.writeHead(404).end();
    const bytes = readFileSync(file);
    const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "");
    const headers = { "Content-Type": TYPES[extname(path)] ?? "application/octet-stream" };
    if (!range) return reply.writeHead(200, headers).end(bytes);
    const part = bytes.subarray(Number(range[1]), Number(range[2]) + 1);
    const end = Number(range[1]) + part.length - 1;
    reply.writeHead(206, { ...headers, "Content-Range": `bytes ${range[1]}-${end}/${bytes.length}` }).end(part);
  }).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  address = `http://127.0.0.1:${server.address().port}/`;
  browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--no-proxy-server"] });
});
after(async () => {
  await browser?.close();
  server?.close();
});

/** Opens the page in a context of its own, where each error and each refused request fails the test. */
async function visit(options = {}, query = "") {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("request", (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith("blob:")) problems.push(request.url());
  });
  page.on("dialog", (dialog) => {
    problems.push("a dialog");
    void dialog.dismiss();
  });
  await page.goto(address + query);
  page.problems = problems;
  return page;
}

/** Drops files on the page, as a person does: `[path, name]` or a path. */
async function drop(page, ...paths) {
  const files = paths.map((path) => (Array.isArray(path) ? path : [path, path.split("/").pop()]));
  const contents = files.map(([path, name]) => [name, readFileSync(path).toString("base64")]);
  await page.evaluate((contents) => {
    const transfer = new DataTransfer();
    for (const [name, text] of contents) {
      transfer.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], name));
    }
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, contents);
  await page.locator(".hero, .refused").first().waitFor();
}

const TABS = ["Summary", "Findings", "Graph", "Memory", "Size", "Bytes", "Operators", "Compare"];

async function tab(page, name) {
  await page.getByRole("tab", { name }).click();
  await page.locator(`#panel.${name.toLowerCase()}:not([aria-busy])`).waitFor({ timeout: 60_000 });
}

const pte = (name) => `${data}pte/${name}.pte`;

test("a dropped file has its summary and its findings", { skip }, async () => {
  const page = await visit();
  await drop(page, pte("xnn_mixed"));
  assert.equal(await page.locator(".hero h1").textContent(), "Loads");
  await page.locator(".releases li").last().waitFor();
  await tab(page, "Findings");
  assert.match(await page.locator(".finding").textContent(), /operator-unknown.*aten::sort\.values/s);
  await page.locator(".finding .fields .here").waitFor();
  assert.match(await page.locator(".finding .hex mark").first().textContent(), /^[0-9a-f]{2}$/);
  const [sarif] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "SARIF" }).click(),
  ]);
  assert.equal(JSON.parse(readFileSync(await sarif.path(), "utf8")).version, "2.1.0");
  await page.getByLabel("Filter findings").fill("nothing like it");
  assert.equal(await page.locator(".finding:visible").count(), 0);
  assert.deepEqual(page.problems, []);
});

test("every tab of every kind of file", { skip }, async () => {
  const page = await visit();
  const files = [
    pte("linear"),
    pte("cond_nested"),
    pte("xnn_gpt"),
    pte("quantized_portable"),
    pte("multi_method"),
    `${data}ptd/ptd_basic.ptd`,
    `${data}other/linear_bundled.bpte`,
    `${data}other/mlp.etdp`,
  ];
  for (const path of files) {
    await drop(page, path);
    for (const name of TABS) {
      await tab(page, name);
      assert.notEqual((await page.locator("#panel").textContent()).trim(), "", `${path} ${name}`);
      if (path.endsWith(".pte")) assert.equal(await page.locator("#panel .refused").count(), 0, `${path} ${name}`);
    }
    await tab(page, "Summary");
  }
  assert.deepEqual(page.problems, []);
});

test("verdicts are the package's", { skip }, async () => {
  const page = await visit();
  const corpus = process.env.PTE_CORPUS ? list(process.env.PTE_CORPUS) : [];
  const step = Math.max(Math.floor(corpus.length / 40), 1);
  const paths = [...list(`${data}pte`).slice(0, 20), ...corpus.filter((_, nth) => nth % step === 0).slice(0, 40)];
  for (const path of paths.filter((path) => statSync(path).size < 30e6)) {
    const file = await open(path);
    const { verdict } = await file.check();
    file.close();
    await drop(page, path);
    assert.match(await page.locator(".hero").getAttribute("class"), new RegExp(`\\b${verdict}\\b`), path);
  }
  assert.deepEqual(page.problems, []);
});

test("a program and its data are judged together", { skip }, async () => {
  const page = await visit();
  await drop(page, pte("external_all"));
  assert.equal(await page.locator(".hero h1").textContent(), "Needs data");
  await drop(page, `${data}ptd/external_all.default_external_constant.ptd`, pte("external_all"));
  assert.equal(await page.locator(".hero h1").textContent(), "Loads");
});

test("two files are compared", { skip }, async () => {
  const page = await visit();
  await drop(page, pte("linear"), pte("add"), [pte("linear"), "same.pte"], `${root}README.md`);
  await tab(page, "Compare");
  assert.match(await page.locator(".result h1").textContent(), /^[\d,]+ differences$/);
  const shown = Number((await page.locator(".result h1").textContent()).replace(/\D/g, ""));
  const [one, other] = [await open(pte("linear")), await open(pte("add"))];
  assert.equal(shown, (await one.diff(other)).count);
  assert.match(await page.locator(".result").textContent(), /removed.*aten::addmm/s);
  await page.getByLabel("Compare with").selectOption("same.pte");
  await page.locator(".result h1", { hasText: "No difference in meaning" }).waitFor();
  await page.getByLabel("Compare with").selectOption("README.md");
  assert.match(await page.locator(".result .refused").textContent(), /other-format.*Give a \.pte/s);
  await page.getByRole("combobox", { name: "File" }).selectOption("add.pte");
  await page.locator(".result h1", { hasText: "differences" }).waitFor();
  assert.deepEqual(page.problems, []);
});

test("damaged, empty and foreign files are refused in words", { skip }, async () => {
  const page = await visit();
  const folder = mkdtempSync(join(tmpdir(), "page-"));
  const cut = join(folder, "cut.pte");
  cpSync(pte("linear"), cut);
  truncateSync(cut, 200);
  const empty = join(folder, "empty.pte");
  cpSync(pte("linear"), empty);
  truncateSync(empty, 0);
  for (const path of [cut, empty, `${root}README.md`]) {
    await drop(page, path);
    assert.equal(await page.locator(".hero h1").textContent(), "Does not load", path);
    const { findings } = await check(path);
    for (const name of TABS) {
      await tab(page, name);
      if (["Findings", "Bytes", "Compare"].includes(name)) continue;
      // As the terminal does: the code, what is wrong and what to do.
      const shown = await page.locator("#panel .refused").textContent();
      for (const part of [findings[0].rule, findings[0].message, findings[0].help]) {
        assert.ok(shown.includes(part), `${path} ${name}: ${shown}`);
      }
    }
    await tab(page, "Summary");
  }
  assert.deepEqual(page.problems, []);
});

test("hostile names are text", { skip }, async () => {
  const page = await visit();
  const markup = '<img src=x onerror="alert(1)">"\'<script>alert(1)<\u2044script>.pte';
  for (const name of [markup, "--help", "-", "a\u202eb.pte", "__proto__", "x".repeat(300)]) {
    await drop(page, [pte("linear"), name]);
    assert.equal(await page.locator(".hero h1").textContent(), "Loads");
    assert.equal(await page.locator("main img, main script").count(), 0);
    await tab(page, "Graph");
    await tab(page, "Size");
    await tab(page, "Summary");
  }
  assert.deepEqual(page.problems, []);
});

test("a file of 2 GB opens without being loaded", { skip }, async () => {
  const page = await visit();
  const large = join(mkdtempSync(join(tmpdir(), "page-")), "large.pte");
  cpSync(pte("linear"), large);
  truncateSync(large, 2 ** 31);
  const began = Date.now();
  await page.locator("#chosen").setInputFiles(large);
  await page.locator(".hero").waitFor();
  assert.ok(Date.now() - began < 10_000, `${Date.now() - began} ms`);
  for (const name of ["Findings", "Bytes", "Graph"]) await tab(page, name);
});

test("?url= reads from this origin, and no other", { skip }, async () => {
  const page = await visit({}, "?url=data/pte/linear.pte");
  await page.locator(".hero").waitFor();
  assert.equal(await page.locator(".hero h1").textContent(), "Loads");
  assert.deepEqual(page.problems, []);
  for (const url of ["https://example.invalid/a.pte", "http://[", "javascript:alert(1)", "file:///etc/passwd", "absent.pte"]) {
    const other = await visit({}, `?url=${encodeURIComponent(url)}`);
    assert.match(await other.locator(".refused").textContent(), /Not shown/, url);
  }
});

/** A server of bytes by ranges; `change` may replace its parts, the size and the headers of an answer. */
const ranges = (bytes, change) => (request, reply) => {
  const [begin, end] = request.headers.range.match(/\d+/g).map(Number);
  const part = bytes.subarray(begin, end + 1);
  const headers = { "Content-Range": `bytes ${begin}-${begin + part.length - 1}/${bytes.length}` };
  change(reply, part, headers, begin);
};

test("a file that changes while it is read is an error", { skip }, async () => {
  const bytes = new Uint8Array(readFileSync(pte("linear")).length + 1e6);
  bytes.set(readFileSync(pte("linear")));
  let version = 0;
  made.set("/changing.pte", ranges(bytes, (reply, part, headers) => reply.writeHead(206, { ...headers, ETag: `"${version++}"` }).end(part)));
  const page = await visit({}, "?url=changing.pte");
  assert.match(await page.locator(".refused").textContent(), /Not shown.*it changed while it was read/);
  const path = join(mkdtempSync(join(tmpdir(), "page-")), "a.pte");
  writeFileSync(path, bytes);
  await page.locator("#chosen").setInputFiles(path);
  await page.locator(".hero").waitFor();
  truncateSync(path, 100);
  await tab(page, "Memory");
  assert.match(await page.locator("#panel .refused").textContent(), /Not shown/);
  assert.deepEqual(page.problems, []);
});

test("a hostile server gets an error, and the page stays alive", { skip }, async () => {
  const bytes = readFileSync(pte("linear"));
  const endless = (reply) => {
    const timer = setInterval(() => reply.write(Buffer.alloc(1 << 20)), 1);
    reply.on("close", () => clearInterval(timer));
  };
  const size = (text) => ranges(bytes, (reply, part, headers, begin) => {
    reply.writeHead(206, { ...headers, "Content-Range": `bytes ${begin}-${begin + part.length - 1}/${text}` }).end(part);
  });
  const hostile = {
    "markup.pte": (_, reply) => reply.writeHead(200, { "Content-Type": "text/html" }).end("<script>alert(1)</script>"),
    "empty.pte": (_, reply) => reply.writeHead(200).end(),
    "large.pte": size(Number.MAX_SAFE_INTEGER),
    "negative.pte": size(-5),
    "shorter.pte": ranges(bytes, (reply, part, headers) => reply.writeHead(206, headers).end(part.subarray(0, 9))),
    "longer.pte": ranges(bytes, (reply, _, headers) => endless(reply.writeHead(206, headers))),
    "elsewhere.pte": (_, reply) => reply.writeHead(302, { Location: "https://example.invalid/a.pte" }).end(),
    "status.pte": (_, reply) => reply.writeHead(500).end("no"),
    "closed.pte": (request) => request.socket.destroy(),
  };
  const page = await visit();
  for (const [name, answer] of Object.entries(hostile)) {
    made.set(`/${name}`, answer);
    await page.goto(`${address}?url=${name}`);
    const shown = page.locator(".refused, .hero.error").first();
    await shown.waitFor({ timeout: 20_000 });
    assert.match(await shown.textContent(), /Not shown|Does not load/, name);
  }
  const problems = page.problems.filter((text) => !/Failed to load|Content Security Policy|example\.invalid|Fetch API/.test(text));
  assert.deepEqual(problems, []);
  await drop(page, pte("linear"));
  assert.equal(await page.locator(".hero h1").textContent(), "Loads");
});

test("the graph: layers, search, details, keyboard", { skip }, async () => {
  const page = await visit();
  await drop(page, pte("xnn_mixed"));
  await tab(page, "Graph");
  await page.locator(".box.layer").first().waitFor();
  await page.locator(".box.layer").first().dblclick();
  await page.locator(".box", { hasText: "XNNFullyConnected" }).click();
  assert.match(await page.locator(".details").textContent(), /XNNFullyConnected/);
  await page.getByLabel("Search nodes").fill("cumsum");
  await page.locator(".results button").first().click();
  await page.locator(".box.chosen", { hasText: "cumsum" }).waitFor();
  await page.locator(".picture").press("ArrowUp");
  assert.doesNotMatch(await page.locator(".box.chosen").textContent(), /cumsum/);
  assert.deepEqual(page.problems, []);
});

test("the picture of a layer is saved as SVG, with its style", { skip }, async () => {
  const page = await visit();
  await drop(page, pte("cond_nested"));
  await tab(page, "Graph");
  await page.locator(".box").first().waitFor();
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save the picture" }).click(),
  ]);
  assert.equal(saved.suggestedFilename(), "cond_nested.pte.svg");
  const text = readFileSync(await saved.path(), "utf8");
  assert.match(text, /^<svg[^>]*viewBox="-8 -8 [^>]*><style>.*\.box.*<\/style>.*<\/svg>$/s);
  assert.ok(text.match(/<g class="box /g).length > 3);
  // It is a picture for other programs.
  const own = await (await browser.newContext()).newPage();
  await own.setContent(`<img src="data:image/svg+xml;base64,${Buffer.from(text).toString("base64")}">`);
  await own.waitForFunction(() => document.images[0].complete && document.images[0].naturalWidth > 100);
  assert.deepEqual(page.problems, []);
});

const command = process.env.PTE_COMMAND ?? `${root}target/debug/pte`;
const noCommand = !existsSync(command) && "there is no command to build a program with (PTE_COMMAND)";

test(
  "of a graph of 10,000 nodes a layer is laid out, and only what is in sight is drawn",
  { skip: skip || noCommand },
  async () => {
    const source = await open(pte("add"));
    const program = await source.dump();
    const [plan] = program.execution_plan;
    const [call] = plan.chains[0].instructions;
    // Each call adds to what the one before it wrote.
    plan.chains[0].instructions = Array.from({ length: 10_000 }, (_, nth) => {
      const [from, to] = [nth === 0 ? 0 : 3 + nth, nth === 9_999 ? 2 : 4 + nth];
      if (to !== 2) plan.values.push(structuredClone(plan.values[2]));
      const [, other, alpha] = call.instr_args.args;
      return { ...call, instr_args: { ...call.instr_args, args: [from, other, alpha, to, to] } };
    });
    const folder = mkdtempSync(join(tmpdir(), "page-"));
    writeFileSync(join(folder, "many.json"), JSON.stringify(program));
    const built = spawnSync(command, ["build", join(folder, "many.json"), "-o", join(folder, "many.pte")]);
    assert.equal(built.status, 0, String(built.stderr));
    const page = await visit();
    await page.locator("#chosen").setInputFiles(join(folder, "many.pte"));
    await page.locator(".hero").waitFor({ timeout: 60_000 });
    await tab(page, "Graph");
    await page.locator(".box.layer").first().waitFor({ timeout: 60_000 });
    assert.ok((await page.locator(".box").count()) < 200);
    await page.getByLabel("Search nodes").fill("0:9000");
    await page.locator(".results button").first().click();
    await page.locator(".box.chosen").waitFor({ timeout: 60_000 });
    assert.match(await page.locator(".details").textContent(), /0:9000/);
    assert.ok((await page.locator(".box").count()) < 200);
  },
);

/** Builds a program like `linear` with a weight of 64 MB, as a file. */
function heavy() {
  const folder = mkdtempSync(join(tmpdir(), "page-"));
  const run = (...args) => assert.equal(spawnSync(command, args, { cwd: folder }).status, 0, args.join(" "));
  run("dump", "--container", "--blobs", "dir=.", pte("linear"), "-o", "a.json");
  const program = JSON.parse(readFileSync(join(folder, "a.json"), "utf8"));
  program.execution_plan[0].values[0].val.sizes = [4_000_000, 4];
  program.constant_segment.offsets = [0, 0, 64e6];
  program.segments[0].size = 64e6 + 16;
  program.container.segments[0].file = "b.bin";
  writeFileSync(join(folder, "a.json"), JSON.stringify(program));
  writeFileSync(join(folder, "b.bin"), new Uint8Array(Float32Array.from({ length: 16e6 + 4 }, (_, nth) => nth % 1000).buffer));
  // Its shapes no longer fit each other, which is a finding.
  spawnSync(command, ["build", "a.json", "--blobs", "dir=.", "--lay-out", "-o", "a.pte"], { cwd: folder });
  return join(folder, "a.pte");
}

/** Returns the anonymous memory in MB of the largest renderer: what the task manager of Chromium shows for a tab. */
async function tabMemory() {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const status = ({ id }) => readFileSync(`/proc/${id}/status`, "utf8");
  const memory = (one) => Number(/RssAnon:\s+(\d+)/.exec(status(one))[1]) / 1000;
  return Math.max(...processInfo.filter(({ type }) => type === "renderer").map(memory));
}

const notLinux = process.platform !== "linux" && "the memory of a tab is read from /proc";

test("a model of 50 MB: the time to its verdict, and the memory of the tab", { skip: skip || noCommand || notLinux }, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "page-"));
  const [weights, model] = [join(folder, "weights"), join(folder, "model.pte")];
  writeFileSync(weights, randomBytes(49_800_000));
  const edited = spawnSync(command, ["edit", pte("xnn_gpt"), "--set-data", `weights=${weights}`, "-o", model]);
  assert.equal(edited.status, 0, String(edited.stderr));
  await Promise.all(browser.contexts().map((one) => one.close()));
  const page = await visit();
  await page.waitForTimeout(2000);
  await page.evaluate(() => {
    let began;
    document.getElementById("chosen").addEventListener("change", () => (began = performance.now()), true);
    new MutationObserver(() => {
      if (document.querySelector(".hero")) globalThis.took ??= performance.now() - began;
    }).observe(document.body, { childList: true, subtree: true });
  });
  let peak = 0;
  const watch = setInterval(async () => (peak = Math.max(peak, await tabMemory().catch(() => 0))), 50);
  await page.locator("#chosen").setInputFiles(model);
  await page.locator(".releases li").last().waitFor();
  const took = await page.evaluate(() => globalThis.took);
  const first = await tabMemory();
  context.diagnostic(`verdict after ${took.toFixed(0)} ms; then the tab has ${first.toFixed(0)} MB, at most ${peak.toFixed(0)} MB before`);
  for (const name of TABS) await tab(page, name);
  context.diagnostic(`at most ${peak.toFixed(0)} MB while all tabs are shown, then ${(await tabMemory()).toFixed(0)} MB`);
  clearInterval(watch);
  assert.ok(first <= 100 && took < 10_000, `${first} MB, ${took} ms`);
});

test("a histogram of 64 MB is made without a pause of the page", { skip: skip || noCommand }, async () => {
  const page = await visit();
  await page.locator("#chosen").setInputFiles(heavy());
  await page.locator(".hero").waitFor();
  await tab(page, "Graph");
  await page.getByLabel("Search nodes").fill("constant v0");
  await page.locator(".results button").first().click();
  await page.getByRole("button", { name: "Histogram" }).waitFor();
  await page.evaluate(() => {
    globalThis.longest = 0;
    let last = performance.now();
    setInterval(() => {
      const now = performance.now();
      globalThis.longest = Math.max(globalThis.longest, now - last);
      last = now;
    }, 10);
  });
  await page.getByRole("button", { name: "Histogram" }).click();
  await page.locator(".histogram").waitFor({ timeout: 60_000 });
  assert.match(await page.locator(".histogram").textContent(), /16,000,000 elements, from 0 to 999, mean 499.5/);
  await page.getByText("Elements", { exact: true }).click();
  await page.getByRole("button", { name: "More elements" }).click();
  assert.equal((await page.locator(".elements").textContent()).trim().split("\n").length, 128);
  const longest = await page.evaluate(() => globalThis.longest);
  assert.ok(longest < 500, `${longest} ms`);
  assert.deepEqual(page.problems, []);
});

test("a histogram of float16 has its numbers", { skip }, async () => {
  const page = await visit({ bypassCSP: true });
  await drop(page, pte("dtype_float16"));
  await tab(page, "Graph");
  await page.getByLabel("Search nodes").fill("constant v");
  await page.locator(".results button").first().click();
  await page.getByRole("button", { name: "Histogram" }).click();
  assert.match(await page.locator(".histogram").textContent(), /12 elements, from 0 to 11, mean 5.5/);
  await page.getByText("Elements", { exact: true }).click();
  assert.equal(await page.locator(".elements").textContent(), "[0, 0]  0  1  2  3\n[1, 0]  4  5  6  7\n[2, 0]  8  9  10  11\n");
  assert.deepEqual(await serious(page), []);
  assert.deepEqual(page.problems, []);
});

test("a histogram is made when it is asked for", { skip }, async () => {
  const page = await visit();
  await drop(page, pte("linear"));
  await tab(page, "Graph");
  await page.getByLabel("Search nodes").fill("constant v0");
  await page.locator(".results button").first().click();
  await page.getByRole("button", { name: "Histogram" }).waitFor();
  assert.equal(await page.locator(".histogram").count(), 0);
  await page.getByRole("button", { name: "Histogram" }).click();
  assert.match(await page.locator(".histogram").textContent(), /32 elements/);
  assert.deepEqual(page.problems, []);
});

/** Opens a page as `map --html` writes it, with these documents inside. */
async function inside(documents, omitted = {}) {
  const entries = Object.entries(documents).map(([call, document]) => [call, { omitted: omitted[call] ?? 0, document }]);
  const contents = {
    files: [{ name: "a.pte", size: 1000, isData: false }],
    documents: Object.fromEntries(entries),
    bytes: [],
    fields: [],
  };
  const whole = readFileSync(`${root}src/cli/map/page/page.html`, "utf8").replace("connect-src CONNECT", "connect-src 'none'");
  made.set("/made.html", whole.replace("CONTENTS", () => JSON.stringify(contents)));
  const page = await visit({}, `made.html#${Object.keys(documents).at(-1)}`);
  return page;
}

/** Waits for a tab of a page in one file, which has to show it within some seconds. */
async function shows(page, name) {
  await page.evaluate((name) => (location.hash = name), name);
  await page.locator(`#panel.${name}:not([aria-busy])`).waitFor({ timeout: 15_000 });
}

const info = { files: [{ kind: "pte", methods: [] }] };
const arena = (id, tensors, more) => ({ id, planned: 64, reach: 64, peak: 64, peak_at: null, slack: 0, fragmentation: 0, gaps: 0, tensors, ...more });
const tensor = (value, first, last) => ({
  value,
  dtype: "FLOAT",
  sizes: [4],
  bytes: 16,
  offset: (value % 4) * 16,
  role: "scratch",
  lives: { first: { chain: 0, instruction: first }, last: { chain: 0, instruction: last } },
});
const planned = (instructions, arenas) => ({
  methods: [{ name: "forward", instructions, planned: 64, arenas, unplanned: [], outside: {}, pools: [] }],
});

test("a page in one file without JavaScript has its summary as text", { skip }, async () => {
  const whole = readFileSync(`${root}src/cli/map/page/page.html`, "utf8");
  made.set("/plain.html", whole.replace("SUMMARY", "a.pte  .pte program").replace("CONTENTS", "{}"));
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${address}plain.html`);
  assert.equal(await page.locator("pre").innerText(), "a.pte  .pte program");
});

test("a printed page has no tabs and buttons, and all of its findings", { skip }, async () => {
  const page = await visit();
  await drop(page, pte("xnn_mixed"));
  await tab(page, "Findings");
  await page.locator(".finding summary").click();
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".tabs:visible, .tools:visible, #choose:visible").count(), 0);
  assert.ok(await page.locator(".finding dl").isVisible());
  const pdf = await page.pdf();
  assert.ok(pdf.length > 10_000, `${pdf.length}`);
});

test("a size by module is a treemap of the dotted names", { skip }, async () => {
  const page = await visit();
  await drop(page, `${data}ptd/ptd_basic.ptd`);
  await tab(page, "Size");
  const before = await page.locator("#panel table").textContent();
  await page.getByLabel("by module").check();
  const { files } = await (await open(`${data}ptd/ptd_basic.ptd`)).modules();
  await page.locator("#panel table", { hasText: files[0].parts[0].name }).waitFor();
  assert.notEqual(await page.locator("#panel table").textContent(), before);
  await page.locator(".treemap .cell").first().waitFor();
  assert.deepEqual(page.problems, []);
});

test("a graph of 100,000 nodes is shown within seconds", { skip }, async () => {
  const node = (nth) => ({
    id: `n${nth}`,
    label: `aten::add.out`,
    namespace: "forward",
    attrs: [{ key: "kind", value: "kernel" }, { key: "instruction", value: `0:${nth}` }],
    incomingEdges: nth === 0 ? [] : [{ sourceNodeId: `n${nth - 1}` }],
  });
  const began = Date.now();
  const page = await inside({ explorer: { graphs: [{ nodes: Array.from({ length: 100_000 }, (_, nth) => node(nth)) }] } });
  await shows(page, "graph");
  await page.getByLabel("Search nodes").fill("0:99999");
  await page.locator(".results button").first().click();
  await page.locator(".box.chosen").waitFor();
  assert.ok((await page.locator(".box").count()) < 200);
  assert.ok(Date.now() - began < 20_000, `${Date.now() - began} ms`);
  assert.deepEqual(page.problems, []);
});

test("memory of many arenas and instructions has a few pictures", { skip }, async () => {
  const filled = Array.from({ length: 30 }, (_, id) => arena(id, [tensor(0, 0, 9), tensor(1, 5, 199_999)]));
  const empty = Array.from({ length: 700 }, (_, id) => arena(30 + id, []));
  const page = await inside({ memory: planned(200_000, [...filled, ...empty]) });
  await shows(page, "memory");
  assert.equal(await page.locator(".memory-picture").count(), 20);
  assert.equal(await page.locator("table", { hasText: "Other arenas" }).locator("tbody tr").count(), 710);
  // A curve of 2,000 points and not of 200,000.
  const curve = await page.locator("path.live").first().getAttribute("d");
  assert.ok(curve.length < 200_000 && curve.includes("L"), `${curve.length}`);
  assert.deepEqual(page.problems, []);
});

test("memory of some of the tensors says so, and has no curve", { skip }, async () => {
  const cut = planned(10, [arena(1, [tensor(0, 0, 9)], { tensor_count: 7 })]);
  const page = await inside({ memory: cut }, { memory: 6 });
  await shows(page, "memory");
  assert.match(await page.locator(".arena").textContent(), /the largest 1 of 7 tensors/);
  assert.equal(await page.locator("path.live").count(), 0);
  const whole = await inside({ memory: planned(10, [arena(1, [tensor(0, 0, 9)])]) });
  await shows(whole, "memory");
  assert.equal(await whole.locator("path.live").count(), 1);
});

test("200,000 operators are listed", { skip }, async () => {
  const row = (nth) => ({ name: `own::op${nth}`, library: null, calls: nth, dtypes: [] });
  const operators = Array.from({ length: 200_000 }, (_, nth) => row(nth));
  const page = await inside({ info, ops: { operators, backends: [], nodes: [], files: [{ methods: [] }] } });
  await shows(page, "operators");
  assert.match(await page.locator("#panel").textContent(), /and 199,000 more/);
  assert.deepEqual(page.problems, []);
});

test("a layer of many inputs, and a deep namespace, are laid out", { skip }, async () => {
  const node = (nth, namespace, kind) => ({ id: `n${nth}`, label: `node ${nth}`, namespace, attrs: [{ key: "kind", value: kind }] });
  const inputs = Array.from({ length: 5000 }, (_, nth) => node(nth, "forward", "input"));
  const deep = node(5000, `forward/${"a/".repeat(20_000)}b`, "kernel");
  const page = await inside({ explorer: { graphs: [{ nodes: [...inputs, deep] }] } });
  await shows(page, "graph");
  assert.match(await page.locator(".status").textContent(), /600 nodes.*and 4,401 more nodes/);
  await page.getByLabel("Search nodes").fill("node 4321");
  await page.locator(".results button").first().click();
  await page.locator(".box.chosen", { hasText: "node 4321" }).waitFor();
  await page.getByLabel("Search nodes").fill("node 5000");
  await page.locator(".results button").first().click();
  await page.locator(".box.chosen", { hasText: "node 5000" }).waitFor();
  assert.deepEqual(page.problems, []);
});

/** Returns what axe finds serious on a page that was visited with `bypassCSP`. */
async function serious(page) {
  await page.evaluate(readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8"));
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const found = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const html = (nodes) => nodes.slice(0, 3).map((node) => node.html);
  return found.map(({ id, nodes }) => `${id} ${html(nodes).join(" ")}`);
}

test("tabs by the keyboard, and axe finds nothing serious", { skip }, async () => {
  const screens = [1280, 360].flatMap((width) => ["light", "dark"].map((colorScheme) => [width, colorScheme]));
  for (const [width, colorScheme] of screens) {
    const page = await visit({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
    const judge = async (where) => {
      await page.waitForTimeout(400);
      assert.deepEqual(await serious(page), [], where);
    };
    await judge("start");
    await drop(page, pte("xnn_mixed"), pte("linear"));
    await page.locator("#tab-summary").focus();
    for (const name of TABS) {
      await page.locator(`#panel.${name.toLowerCase()}:not([aria-busy])`).waitFor();
      await judge(`${name}, ${colorScheme}, ${width}`);
      await page.keyboard.press("ArrowRight");
    }
  }
});

test("no tab is wider than a screen of 360 pixels", { skip }, async () => {
  const page = await visit({ viewport: { width: 360, height: 740 } });
  await drop(page, pte("xnn_mixed"), pte("xnn_gpt"));
  for (const name of TABS) {
    await tab(page, name);
    const width = await page.evaluate(() =>
      Math.max(document.documentElement.scrollWidth, document.querySelector("main").scrollWidth),
    );
    assert.ok(width <= 360, `${name}: ${width}`);
  }
});

test(
  "pictures for people",
  { skip: skip || (!process.env.PTE_BLESS && "PTE_BLESS=1 writes snapshots/page") },
  async () => {
    const folder = `${root}snapshots/page/`;
    mkdirSync(folder, { recursive: true });
    const states = [
      ["start", [], null, {}],
      ["summary", [pte("xnn_gpt")], "Summary", {}],
      ["findings", [pte("xnn_mixed")], "Findings", { colorScheme: "dark" }],
      ["graph", [pte("cond_nested")], "Graph", {}],
      ["memory", [pte("llm_sdpa")], "Memory", {}],
      ["size", [pte("xnn_gpt")], "Size", { colorScheme: "dark" }],
      ["bytes", [pte("linear")], "Bytes", {}],
      ["phone", [pte("external_all")], "Summary", { viewport: { width: 360, height: 740 } }],
    ];
    for (const [name, files, title, options] of states) {
      const page = await visit({ viewport: { width: 1120, height: 720 }, ...options });
      if (files.length > 0) await drop(page, ...files);
      if (title) await tab(page, title);
      await page.waitForTimeout(1500);
      await page.screenshot({ path: `${folder}${name}.png` });
    }
  },
);

test("the page of the command is what the build makes", () => {
  const done = spawnSync("node", ["tools/page.mjs", "--check"], { cwd: new URL("..", import.meta.url).pathname });
  assert.equal(done.status, 0, String(done.stderr));
});

function list(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return names.map((name) => join(folder, name)).filter((path) => /\.(pte|ptd)$/.test(path) && statSync(path).isFile());
}
