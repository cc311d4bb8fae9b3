import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, openAsBlob, readFileSync, truncateSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { check, explain, open, PteError, rules } from "../dist/index.js";

const data = new URL("../../tests/data/pte/", import.meta.url).pathname;
const linear = `${data}linear.pte`;
const bytes = () => new Uint8Array(readFileSync(linear));
const bin = new URL("../dist/bin.js", import.meta.url).pathname;

test("a file has its documents", async () => {
  const file = await open(linear);
  assert.equal((await file.info()).files[0].kind, "pte");
  assert.equal((await file.check()).verdict, "ok");
  for (const verb of ["tensors", "sizes", "modules", "memory", "ops", "map", "graph"]) {
    assert.match((await file[verb]()).schema, /^pte\./, verb);
  }
  assert.equal((await file.mapAt(4)).byte.offset, 4);
  assert.equal((await file.dump()).version, 0);
  assert.match(JSON.stringify(await explain("segment-index")), /segment/);
  assert.match(JSON.stringify(await rules()), /segment-index/);
});

test("sources give the same document", async () => {
  const server = createServer((request, reply) => {
    const [begin, end] = request.headers.range.match(/\d+/g).map(Number);
    const part = bytes().subarray(begin, end + 1);
    reply.writeHead(206, { "Content-Range": `bytes ${begin}-${end}/${bytes().length}` }).end(part);
  }).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const url = `http://127.0.0.1:${server.address().port}/linear.pte`;
  const blobs = [new Blob([bytes()]), await openAsBlob(linear)];
  const inputs = [bytes(), bytes().buffer, ...blobs, new URL(`file://${linear}`), url];
  const expected = await (await open(linear, { name: "a" })).tensors();
  for (const input of inputs) assert.deepEqual(await (await open(input, { name: "a" })).tensors(), expected);
  server.close();
});

test("a refused file is a finding of check, and an error of other requests", async () => {
  const cut = bytes().subarray(0, 100);
  const { verdict, findings } = await check(cut);
  assert.equal(verdict, "error");
  await assert.rejects((await open(cut)).info(), { name: "PteError", code: findings[0].rule });
  const { rule: code, message, help } = findings[0];
  for (const call of ["info", "memory", "modules", "tensor"]) {
    await assert.rejects((await open(cut))[call]("a"), { name: "PteError", code, message, help }, call);
  }
  await assert.rejects((await open(new Uint8Array())).info(), PteError);
  await assert.rejects((await open(bytes())).extract({ tensor: "absent" }), PteError);
});

test("names are never arguments, streams or addresses", async () => {
  for (const name of ["-", "--help", "", "https://a/b", "../x", "<b>", "a b"]) {
    assert.equal((await (await open(bytes(), { name })).check()).verdict, "ok", name);
  }
});

test("two files are compared", async () => {
  const [one, other] = [await open(linear), await open(`${data}add.pte`)];
  assert.match((await one.diff(other)).schema, /^pte.diff/);
  assert.match((await one.diff(await open(linear))).schema, /^pte.diff/);
});

test("a file of 2 GB opens without being loaded", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "ptekit-")), "large.pte");
  copyFileSync(linear, path);
  truncateSync(path, 2 ** 31);
  const before = process.memoryUsage().rss;
  for (const input of [path, await openAsBlob(path)]) {
    assert.equal((await (await open(input)).info()).files[0].kind, "pte");
  }
  assert.ok(process.memoryUsage().rss - before < 200e6);
});

test("the command has its exit statuses", () => {
  const status = (...args) => spawnSync(process.execPath, [bin, ...args]).status;
  assert.equal(status("check", linear), 0);
  assert.equal(status("check", bin), 1);
  assert.equal(status("check", "--wrong"), 2);
  assert.equal(status("check", "absent.pte"), 3);
});

test("the examples of the README run", async () => {
  const examples = [...readFileSync(new URL("../README.md", import.meta.url), "utf8").matchAll(/```js\n(.*?)```/gs)];
  assert.equal(examples.length, 3);
  const index = new URL("../dist/index.js", import.meta.url).href;
  for (const [, example] of examples) {
    const code = example.replace('"ptekit"', `"${index}"`).replace('"model.pte"', `"${linear}"`);
    await import(`data:text/javascript,${encodeURIComponent(code)}`);
  }
});

test("view serves the page and its files alone, by a token, to this host's name", async (context) => {
  const { view } = await import("../dist/view.js");
  const { url, close } = await view([linear]);
  context.after(close);
  const { origin, pathname, searchParams } = new URL(url);
  const file = new URL(searchParams.get("url"), url);
  assert.deepEqual(new Uint8Array(await (await fetch(file)).arrayBuffer()), bytes());
  const part = await fetch(file, { headers: { Range: "bytes=4-7" } });
  assert.deepEqual([part.status, await part.text()], [206, "ET12"]);
  assert.match(await (await fetch(url)).text(), /<title>pte/);
  for (const path of ["/", "/file/0/linear.pte", `${pathname}file/1/a`, `${pathname}package.json`, `${pathname}%2e%2e/package.json`]) {
    assert.equal((await fetch(origin + path)).status, 404, path);
  }
  assert.equal((await fetch(file, { method: "POST" })).status, 403);
  const renamed = await new Promise((done) => request(url, { headers: { Host: "evil.example" } }, done).end());
  assert.equal(renamed.statusCode, 403);
});
