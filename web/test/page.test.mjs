// The page in Chromium: CHROMIUM is the program, or one of its usual names. Pictures go to snapshots/page with PTE_BLESS=1.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
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
import { open } from "../dist/index.js";

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
/** Pages that a test has made, by their paths. */
const made = new Map();
before(async () => {
  if (skip) return;
  server = createServer((request, reply) => {
    const path = new URL(request.url, "http://a").pathname.replace(/\/$/, "/index.html");
    if (made.has(path)) return reply.writeHead(200, { "Content-Type": "text/html" }).end(made.get(path));
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
  await drop(page, pte("linear"), pte("add"));
  await tab(page, "Compare");
  assert.match(await page.locator(".result h1").textContent(), /difference/);
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
    for (const name of TABS) await tab(page, name);
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

test("tabs by the keyboard, and axe finds nothing serious", { skip }, async () => {
  const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
  for (const colorScheme of ["light", "dark"]) {
    const page = await visit({ colorScheme, bypassCSP: true });
    const judge = async (where) => {
      await page.waitForTimeout(400);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(
        serious.map(
          ({ id, nodes }) =>
            `${where}: ${id} ${nodes
              .slice(0, 3)
              .map((node) => node.html)
              .join(" ")}`,
        ),
        [],
      );
    };
    await judge("start");
    await drop(page, pte("xnn_mixed"), pte("linear"));
    await page.locator("#tab-summary").focus();
    for (const name of TABS) {
      await page.locator(`#panel.${name.toLowerCase()}:not([aria-busy])`).waitFor();
      await judge(`${name}, ${colorScheme}`);
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
