#!/usr/bin/env node
// `npx ptekit check model.pte`: the command, with its arguments and exit statuses, on files of this disk.
// `npx ptekit view model.pte`: the page with these files.

import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.js";
import { openPath } from "./node.js";
import type { Source } from "./source.js";
import { view } from "./view.js";

function models(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return names.filter((name) => /\.(pte|ptd|bpte)$/i.test(name)).map((name) => join(folder, name));
}

/** Opens the page in the browser of this system, and serves it until the command is interrupted. */
async function show(args: string[]): Promise<void> {
  const paths = args.filter((arg) => arg !== "--no-open");
  if (paths.length === 0) {
    process.stderr.write("error: name a file: ptekit view [--no-open] FILE...\n");
    process.exitCode = 2;
    return;
  }
  const { url } = await view(paths);
  process.stdout.write(`${url}\n`);
  if (args.includes("--no-open")) return;
  const [program, ...before] = { darwin: ["open"], win32: ["rundll32", "url.dll,FileProtocolHandler"] }[
    process.platform as string
  ] ?? ["xdg-open"];
  spawn(program!, [...before, url], { stdio: "ignore", detached: true })
    .on("error", () => process.stderr.write("note: open this address in a browser\n"))
    .unref();
}

try {
  if (process.argv[2] === "view") await show(process.argv.slice(3));
  else await command();
} catch (error) {
  process.stderr.write(`error: ${(error as Error).message}\n`);
  process.exitCode = 3;
}

async function command(): Promise<void> {
  const files = new Map<string, Source>();
  const args = process.argv.slice(2).flatMap((arg) => {
    const path = arg.replace(/^--[a-z-]+=/, "");
    if (!existsSync(path)) return [arg];
    const found = statSync(path).isDirectory() && arg === path ? models(path) : [path];
    for (const name of found) if (statSync(name).isFile()) files.set(name, openPath(name));
    return arg === path ? found : [arg];
  });
  const { status, stdout, stderr } = await run(args, files);
  process.stderr.write(stderr);
  process.stdout.write(stdout);
  process.exitCode = status;
}
