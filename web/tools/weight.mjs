// Prints what a browser loads, in bytes, and fails above the limit of 900 kB gzipped.

import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const dist = new URL("../dist/", import.meta.url);
const loaded = readdirSync(dist).filter((name) => /\.(js|wasm)$/.test(name) && name !== "bin.js" && name !== "node.js");
let all = 0;
for (const name of loaded) {
  const bytes = readFileSync(new URL(name, dist));
  const small = gzipSync(bytes, { level: 9 }).length;
  all += small;
  console.log(`${String(bytes.length).padStart(9)} ${String(small).padStart(9)} gzipped  ${name}`);
}
console.log(`${String(all).padStart(19)} gzipped  all`);
process.exitCode = all > 900_000 ? 1 : 0;
