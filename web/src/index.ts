// The package: files, and their documents as the command prints them with --json.

import { load, run, type Output, type Wasm } from "./command.js";
import type { CheckedFile, Documents } from "./documents.js";
import { PteError } from "./error.js";
import { readNpy, type Tensor } from "./npy.js";
import { openSource, type Input, type Source } from "./source.js";

export type * from "./documents.js";
export { PteError, load, type Input, type Output, type Tensor, type Wasm };

/** How a file is opened. */
export interface OpenOptions {
  /** The name of the file in documents and messages; of a path, a `File` and a URL it is known. */
  name?: string;
  /** The data files (`.ptd`) that belong to a program. */
  partners?: Input[];
  /** Ends a request whose bytes are still being fetched. */
  signal?: AbortSignal;
  /** Called with the number of bytes of each read, to show progress. */
  onRead?: (bytes: number) => void;
}

/** How a file is judged: the options of `pte check`. */
export interface CheckOptions {
  allow?: string[];
  deny?: string[];
  preset?: string;
  runtime?: string;
  scanBlobs?: boolean;
}

/** Which part of a file is extracted: one of them. */
export interface Part {
  tensor?: string;
  key?: string;
  segment?: number;
  delegate?: string;
  graph?: string;
}

/** Opens a file. Only what a request needs is read. */
export async function open(input: Input, options: OpenOptions = {}): Promise<PteFile> {
  const opened = [await openSource(input)];
  for (const partner of options.partners ?? []) opened.push(await openSource(partner));
  if (options.name !== undefined) opened[0]!.name = options.name;
  const taken = new Set<string>();
  const { onRead } = options;
  const files = opened.map(({ source, name }) => ({
    source: onRead ? counted(source, onRead) : source,
    name: unique(plain(name), taken),
  }));
  return new PteFile(files[0]!, files.slice(1), options.signal);
}

/** Judges a file: `(await check("model.pte")).verdict`. A refused file has a finding, and is no exception. */
export async function check(input: Input, options: OpenOptions & CheckOptions = {}): Promise<CheckedFile> {
  const file = await open(input, options);
  try {
    return await file.check(options);
  } finally {
    file.close();
  }
}

/** Returns a rule or a refusal by its id. */
export function explain(rule: string): Promise<Documents["explain"]> {
  return document(["explain", "--json", "--", rule], new Map());
}

/** Returns all rules and refusals. */
export function rules(): Promise<Documents["rules"]> {
  return document(["rules", "--json"], new Map());
}

interface Named {
  source: Source;
  name: string;
}

/** An opened file. */
export class PteFile {
  constructor(
    private readonly own: Named,
    private readonly partners: Named[],
    private readonly signal?: AbortSignal,
  ) {}

  /** The name of the file in documents. */
  get name(): string {
    return this.own.name;
  }

  /** The length of the file in bytes. */
  get size(): number {
    return this.own.source.size;
  }

  /** What the file is and has: `pte info`. */
  info(): Promise<Documents["info"]> {
    return this.document(["info"]);
  }

  /** The findings: `pte check`. A refused file has a finding, and is no exception. */
  async check(options: CheckOptions = {}): Promise<CheckedFile> {
    const args = this.judgement(options);
    const found = await this.run(["check", "--json", ...args], false, this.partners);
    if (found.status > 1) throw failure(found);
    return (JSON.parse(decode(found.stdout)) as Documents["check"]).files[0]!;
  }

  /** The findings as SARIF 2.1.0. */
  async sarif(options: CheckOptions = {}): Promise<unknown> {
    const args = this.judgement(options);
    const found = await this.run(["check", "--format", "sarif", ...args], false, this.partners);
    if (found.status > 1) throw failure(found);
    return JSON.parse(decode(found.stdout));
  }

  /** The tensors: `pte tensors`. */
  tensors(): Promise<Documents["tensors"]> {
    return this.document(["tensors"]);
  }

  /** The size by parts: `pte size`. */
  sizes(): Promise<Documents["size"]> {
    return this.document(["size"]);
  }

  /** The size by modules of the model: `pte size --by-module`. */
  modules(): Promise<Documents["size"]> {
    return this.document(["size", "--by-module"]);
  }

  /** The planned memory over time: `pte memory`. */
  memory(): Promise<Documents["memory"]> {
    return this.document(["memory"]);
  }

  /** The times of an ETDump: `pte profile`. */
  profile(): Promise<Documents["profile"]> {
    return this.document(["profile"]);
  }

  /** The operators: `pte ops`. */
  ops(): Promise<Documents["ops"]> {
    return this.document(["ops"]);
  }

  /** The ranges of the file: `pte map`. */
  map(depth?: number): Promise<Documents["map"]> {
    return this.document(depth === undefined ? ["map"] : ["map", "--depth", String(depth)]);
  }

  /** The meaning of one byte: `pte map --at`. */
  mapAt(offset: number): Promise<Documents["mapAt"]> {
    return this.document(["map", "--at", String(offset)]);
  }

  /** The instructions of the methods, and the nodes inside delegates: `pte graph --payloads`. */
  graph(options: { method?: string; payloads?: boolean } = {}): Promise<Documents["graph"]> {
    const args = options.payloads === false ? [] : ["--payloads"];
    if (options.method !== undefined) args.push(`--method=${options.method}`);
    return this.document(["graph", ...args]);
  }

  /** The graph in nested layers: `pte graph --format model-explorer`. */
  async explorer(options: { stats?: boolean } = {}): Promise<any> {
    const args = ["graph", "--format", "model-explorer", ...(options.stats ? ["--stats"] : [])];
    return JSON.parse(decode((await this.run(args, true)).stdout));
  }

  /** The tables: `pte dump`. */
  async dump(options: { payloads?: boolean } = {}): Promise<any> {
    const found = await this.run(["dump", "--compact", ...(options.payloads ? ["--payloads"] : [])], true);
    return JSON.parse(decode(found.stdout));
  }

  /** The differences to another file: `pte diff`. */
  async diff(other: PteFile): Promise<Documents["diff"]> {
    const taken = new Set([this.name]);
    const files = [this.own, { source: other.own.source, name: unique(other.name, taken) }];
    const found = await run(
      ["diff", "--json", "--", ...files.map((file) => file.name)],
      new Map(files.map((file) => [file.name, file.source])),
      this.signal,
    );
    // Status 1 is that the files differ, or that one of them is refused.
    return parsed(found, true);
  }

  /** The bytes of a part: `pte extract`. */
  async extract(part: Part | string): Promise<Uint8Array> {
    return (await this.run(["extract", ...choice(part)], true)).stdout;
  }

  /** The elements of a tensor, by its name or as `METHOD:INDEX`, or of a part. */
  async tensor(part: Part | string): Promise<Tensor> {
    return readNpy((await this.run(["extract", "--as", "npy", ...choice(part)], true)).stdout);
  }

  /** Reads bytes of the file itself, for a hex view. */
  async bytes(offset: number, length: number): Promise<Uint8Array> {
    const end = Math.min(offset + length, this.size);
    const out = new Uint8Array(Math.max(end - offset, 0));
    for (let at = offset; at < end; ) {
      try {
        const part = this.own.source.read(at, end - at);
        if (part.length === 0) break;
        out.set(part, at - offset);
        at += part.length;
      } catch (missing) {
        if (!(missing instanceof Error) || !("source" in missing)) throw missing;
        await this.own.source.fetch(at, end - at);
      }
    }
    return out;
  }

  /** Runs a verb of the command on this file, for what has no method here. */
  async run(args: string[], mustSucceed = false, data: Named[] = []): Promise<Output> {
    const files = new Map([this.own, ...data].map((file) => [file.name, file.source]));
    const found = await run([...args, "--quiet", "--", this.name], files, this.signal);
    if (mustSucceed && found.status !== 0) throw failure(found);
    return found;
  }

  /** Closes the file. */
  close(): void {
    for (const { source } of [this.own, ...this.partners]) source.close();
  }

  private async document<T>(args: string[]): Promise<T> {
    return parsed(await this.run([...args, "--json"]));
  }

  private judgement(options: CheckOptions): string[] {
    const args = ["--no-config", ...this.partners.map((data) => `--with=${data.name}`)];
    for (const rule of options.allow ?? []) args.push(`--allow=${rule}`);
    for (const rule of options.deny ?? []) args.push(`--deny=${rule}`);
    if (options.preset !== undefined) args.push(`--preset=${options.preset}`);
    if (options.runtime !== undefined) args.push(`--runtime=${options.runtime}`);
    if (options.scanBlobs) args.push("--scan-blobs");
    return args;
  }
}

function choice(part: Part | string): string[] {
  if (typeof part === "string") return [`--tensor=${part}`];
  return Object.entries(part).map(([name, value]) => `--${name}=${value}`);
}

async function document<T>(args: string[], files: Map<string, Source>): Promise<T> {
  return parsed(await run(args, files));
}

function parsed<T>(found: Output, mayDiffer = false): T {
  if (found.status !== 0 && !(mayDiffer && found.status === 1)) throw failure(found);
  const document = found.stdout.length > 0 ? JSON.parse(decode(found.stdout)) : undefined;
  if (document === undefined || document.schema === "pte.error/1") throw failure(found);
  return document;
}

/** Returns the error of a run: of the document `pte.error/1`, of `refused`, or else of the message. */
function failure({ status, stdout, stderr }: Output): PteError {
  try {
    const document = JSON.parse(decode(stdout));
    const finding = (document.refused ?? document.files)?.[0]?.findings?.[0];
    if (finding) return new PteError({ ...finding, code: finding.rule, status });
  } catch {
    // No document: the message says it.
  }
  // Text of a file has no line breaks here.
  const [, code, message] = /^error(?:\[(.*?)\])?: (.*)/m.exec(stderr) ?? [];
  return new PteError({
    code: code ?? (status === 2 ? "usage" : "unreadable"),
    message: message ?? stderr.trim(),
    status,
    help: /^  help: (.*)/m.exec(stderr)?.[1],
  });
}

/** Returns a name that the command takes for a file: not for standard input. */
function plain(name: string): string {
  return name === "-" || name === "" ? `./${name || "file"}` : name;
}

function unique(name: string, taken: Set<string>): string {
  let free = name;
  for (let nth = 2; taken.has(free); nth++) free = `${name} (${nth})`;
  taken.add(free);
  return free;
}

/** Reports each read of a source. */
function counted(source: Source, onRead: (bytes: number) => void): Source {
  return {
    size: source.size,
    read(offset, length) {
      const bytes = source.read(offset, length);
      onRead(bytes.length);
      return bytes;
    },
    fetch: (offset, length) => source.fetch(offset, length),
    close: () => source.close(),
  };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
