// Runs of the command: as often as bytes have to be fetched.

import { PteError } from "./error.js";
import { Missing, type Source } from "./source.js";
import { runModule, type Output } from "./wasi.js";

export type { Output } from "./wasi.js";

/** The module: its bytes, or where they are. */
export type Wasm = WebAssembly.Module | BufferSource | URL | string;

let compiled: Promise<WebAssembly.Module> | undefined;

/** Compiles the module, once. Without an argument, it is the file beside this one. */
export function load(wasm?: Wasm): Promise<WebAssembly.Module> {
  if (wasm !== undefined || !compiled) {
    compiled = compile(wasm ?? new URL("./pte.wasm", import.meta.url));
    compiled.catch(() => (compiled = undefined));
  }
  return compiled;
}

async function compile(wasm: Wasm): Promise<WebAssembly.Module> {
  if (wasm instanceof WebAssembly.Module) return wasm;
  if (typeof wasm !== "string" && !(wasm instanceof URL)) return WebAssembly.compile(wasm);
  const url = new URL(wasm, import.meta.url);
  if (url.protocol === "file:") return WebAssembly.compile(await (await import("./node.js")).readOwn(url));
  const reply = await fetch(url);
  if (!reply.ok) throw new Error(`${url}: HTTP status ${reply.status}`);
  const isStream = reply.headers.get("Content-Type") === "application/wasm";
  return isStream ? WebAssembly.compileStreaming(reply) : WebAssembly.compile(await reply.arrayBuffer());
}

/** Runs the command with `args` on files by name: `run(["check", "--json", "a.pte"], files)`. */
export async function run(args: string[], files: ReadonlyMap<string, Source>, signal?: AbortSignal): Promise<Output> {
  const module = await load();
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await runModule(module, ["pte", ...args], files);
    } catch (error) {
      if (error instanceof Missing) {
        await error.source.fetch(error.offset, error.length);
        continue;
      }
      throw ended(error);
    }
  }
}

/** Returns the error of a run that did not end by itself. */
function ended(error: unknown): unknown {
  if (!(error instanceof WebAssembly.RuntimeError) && !(error instanceof RangeError)) return error;
  const { stderr } = error as { stderr?: string };
  const isMemory = stderr?.includes("memory allocation of");
  const message = isMemory ? "memory is short" : `an error in ptekit itself, please report it with the file: ${error}`;
  return new PteError({ code: isMemory ? "memory" : "internal", message, status: 3 });
}
