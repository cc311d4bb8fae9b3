// Prints what the package and the page load, in bytes, and fails above the limits.
//
// The limits are a little above what was measured, so that nothing grows unseen. docs/page.md has what was tried to get
// to the aim of 900,000.

import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** Sums files of a folder, and compares the sum with its limit. */
function weigh(folder, isCounted, limit) {
  let all = 0;
  for (const name of readdirSync(folder).filter(isCounted)) {
    const bytes = readFileSync(new URL(name, folder));
    const small = gzipSync(bytes, { level: 9 }).length;
    all += small;
    console.log(`${String(bytes.length).padStart(9)} ${String(small).padStart(9)} gzipped  ${name}`);
  }
  console.log(`${String(all).padStart(19)} gzipped  all, of at most ${limit}\n`);
  if (all > limit) process.exitCode = 1;
}

const at = (folder) => new URL(`../${folder}/`, import.meta.url);
weigh(at("dist"), (name) => /\.(js|wasm)$/.test(name) && !["bin.js", "node.js", "view.js"].includes(name), 1_576_000);
// Without the module, which is the package's.
weigh(at("site"), (name) => name !== "pte.wasm", 72_000);
