#!/usr/bin/env node
// `npx ptekit check model.pte`: the command, with its arguments and exit statuses, on files of this disk.

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.js";
import { openPath } from "./node.js";
import type { Source } from "./source.js";

const files = new Map<string, Source>();
const args = process.argv.slice(2).flatMap((arg) => {
  const path = arg.replace(/^--[a-z-]+=/, "");
  if (!existsSync(path)) return [arg];
  const found = statSync(path).isDirectory() && arg === path ? models(path) : [path];
  for (const name of found) if (statSync(name).isFile()) files.set(name, openPath(name));
  return arg === path ? found : [arg];
});

function models(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return names.filter((name) => /\.(pte|ptd|bpte)$/i.test(name)).map((name) => join(folder, name));
}

try {
  const { status, stdout, stderr } = await run(args, files);
  process.stderr.write(stderr);
  process.stdout.write(stdout);
  process.exitCode = status;
} catch (error) {
  process.stderr.write(`error: ${(error as Error).message}\n`);
  process.exitCode = 3;
}
