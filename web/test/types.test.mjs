import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

test("the types are those of today's documents: npm run types", () => {
  const made = join(mkdtempSync(join(tmpdir(), "types-")), "documents.ts");
  execFileSync(process.execPath, [new URL("../tools/types.mjs", import.meta.url).pathname, made]);
  const kept = readFileSync(new URL("../src/documents.ts", import.meta.url), "utf8");
  assert.equal(readFileSync(made, "utf8"), kept);
});
