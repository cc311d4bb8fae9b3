// Verdicts beside the command's, on tests/data and on PTE_CORPUS: the same documents, and no run that traps.
// PTE_COMMAND is the command; without it, target/debug/pte, or the test is skipped.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { test } from "node:test";
import { open, PteError } from "../dist/index.js";

const root = new URL("../../", import.meta.url).pathname;
const command = process.env.PTE_COMMAND ?? `${root}target/debug/pte`;
const args = ["check", "--json", "--no-config"];
const corpora = [`${root}tests/data`, process.env.PTE_CORPUS].filter(Boolean);
const skip = !existsSync(command) && "there is no command to compare with (PTE_COMMAND)";

test("verdicts are the command's", { skip }, async () => {
  const differences = [];
  let files = 0;
  for (const path of corpora.flatMap(list)) {
    const file = await open(path);
    try {
      const found = await file.run(args);
      const expected = spawnSync(command, [...args, "--quiet", "--", path], { maxBuffer: 1 << 28 });
      files++;
      const same = found.status === expected.status && Buffer.compare(found.stdout, expected.stdout) === 0;
      if (!same) differences.push(path);
    } catch (error) {
      differences.push(`${path}: ${error instanceof PteError ? error.code : error}`);
    }
    file.close();
  }
  console.log(`${files} files, ${differences.length} differences`);
  assert.deepEqual(differences, []);
});

function list(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return names.map((name) => `${folder}/${name}`).filter((path) => statSync(path).isFile());
}
