// The system of one run of the command: its arguments, files and output. Nothing else is given to it: no disk,
// no network, no environment.

import type { Source } from "./source.js";

/** What a run wrote, and how it ended. */
export interface Output {
  status: number;
  stdout: Uint8Array;
  stderr: string;
}

/** The exit of the command, as an exception. */
class Exit {
  constructor(readonly status: number) {}
}

interface Open {
  source: Source;
  position: number;
}

// Numbers of WASI preview 1.
const OK = 0;
const BADF = 8;
const INVAL = 28;
const NOENT = 44;
const NOSYS = 52;
const ROFS = 69;
const DIRECTORY = 3;
const REGULAR = 4;
const CHARACTERS = 2;
const ROOT = 3;

/** Runs the command on files by name. Exceptions of the files' sources end the run and are passed on. */
export async function runModule(
  module: WebAssembly.Module,
  args: string[],
  files: ReadonlyMap<string, Source>,
): Promise<Output> {
  const names = new Map([...files].map(([name, source]) => [normal(name), source]));
  const out: Uint8Array[] = [];
  const err: Uint8Array[] = [];
  const open = new Map<number, Open>();
  let memory: WebAssembly.Memory;
  let next = ROOT + 1;
  const view = () => new DataView(memory.buffer);
  const bytes = (at: number, length: number) => new Uint8Array(memory.buffer, at >>> 0, length >>> 0);
  const argv = args.map((text) => new TextEncoder().encode(`${text}\0`));

  const filestat = (at: number, type: number, size: number) => {
    bytes(at, 64).fill(0);
    view().setUint8(at + 16, type);
    view().setBigUint64(at + 32, BigInt(size), true);
    return OK;
  };
  const buffers = (at: number, count: number) =>
    Array.from({ length: count }, (_, nth) => {
      const entry = at + nth * 8;
      return bytes(view().getUint32(entry, true), view().getUint32(entry + 4, true));
    });

  const system: Record<string, (...args: any[]) => number> = {
    args_sizes_get(count, size) {
      view().setUint32(count, argv.length, true);
      view().setUint32(size, argv.reduce((sum, arg) => sum + arg.length, 0), true);
      return OK;
    },
    args_get(pointers, at) {
      for (const arg of argv) {
        view().setUint32(pointers, at, true);
        bytes(at, arg.length).set(arg);
        pointers += 4;
        at += arg.length;
      }
      return OK;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return OK;
    },
    environ_get: () => OK,
    clock_time_get(_id, _precision, at) {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return OK;
    },
    random_get(at, length) {
      for (let done = 0; done < length; done += 65536) {
        crypto.getRandomValues(bytes(at + done, Math.min(65536, length - done)));
      }
      return OK;
    },
    fd_prestat_get(fd, at) {
      if (fd !== ROOT) return BADF;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
      return OK;
    },
    fd_prestat_dir_name(_fd, at, _length) {
      bytes(at, 1)[0] = 0x2f;
      return OK;
    },
    fd_fdstat_get(fd, at) {
      const type = fd < ROOT ? CHARACTERS : fd === ROOT ? DIRECTORY : open.has(fd) ? REGULAR : 0;
      if (!type) return BADF;
      bytes(at, 24).fill(0);
      view().setUint8(at, type);
      view().setBigUint64(at + 8, ~0n & 0xffff_ffff_ffff_ffffn, true);
      view().setBigUint64(at + 16, ~0n & 0xffff_ffff_ffff_ffffn, true);
      return OK;
    },
    fd_filestat_get(fd, at) {
      const file = open.get(fd);
      if (file) return filestat(at, REGULAR, file.source.size);
      return fd === ROOT ? filestat(at, DIRECTORY, 0) : fd < ROOT ? filestat(at, CHARACTERS, 0) : BADF;
    },
    path_filestat_get(_fd, _flags, path, length, at) {
      const name = normal(text(bytes(path, length)));
      const source = names.get(name);
      if (source) return filestat(at, REGULAR, source.size);
      return name === "" ? filestat(at, DIRECTORY, 0) : NOENT;
    },
    path_open(_fd, _look, path, length, flags, _base, _inheriting, _fdflags, at) {
      const source = names.get(normal(text(bytes(path, length))));
      if (!source) return flags & 1 ? ROFS : NOENT;
      open.set(next, { source, position: 0 });
      view().setUint32(at, next++, true);
      return OK;
    },
    fd_close(fd) {
      return open.delete(fd) || fd <= ROOT ? OK : BADF;
    },
    fd_seek(fd, offset, whence, at) {
      const file = open.get(fd);
      if (!file) return BADF;
      const from = whence === 0 ? 0n : BigInt(whence === 1 ? file.position : file.source.size);
      const position = from + offset;
      if (position < 0n || position > BigInt(Number.MAX_SAFE_INTEGER)) return INVAL;
      file.position = Number(position);
      view().setBigUint64(at, position, true);
      return OK;
    },
    fd_read(fd, at, count, read) {
      const file = open.get(fd);
      if (!file) return fd === 0 ? (view().setUint32(read, 0, true), OK) : BADF;
      let all = 0;
      for (const buffer of buffers(at, count)) {
        const length = Math.min(buffer.length, Math.max(file.source.size - file.position, 0));
        if (length === 0) continue;
        const part = file.source.read(file.position, length);
        buffer.set(part);
        file.position += part.length;
        all += part.length;
        if (part.length < buffer.length) break;
      }
      view().setUint32(read, all, true);
      return OK;
    },
    fd_write(fd, at, count, written) {
      if (fd !== 1 && fd !== 2) return BADF;
      let all = 0;
      for (const buffer of buffers(at, count)) {
        (fd === 1 ? out : err).push(buffer.slice());
        all += buffer.length;
      }
      view().setUint32(written, all, true);
      return OK;
    },
    proc_exit(status) {
      throw new Exit(status);
    },
    sched_yield: () => OK,
  };

  // What the standard library names but this command has no use of here is refused.
  const imports: Record<string, Record<string, Function>> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = system[name] ?? (() => NOSYS);
  }
  const instance = await WebAssembly.instantiate(module, imports as WebAssembly.Imports);
  memory = instance.exports.memory as WebAssembly.Memory;
  let status = 0;
  try {
    (instance.exports._start as () => void)();
  } catch (exit) {
    if (!(exit instanceof Exit)) throw Object.assign(exit as Error, { stderr: text(join(err)) });
    status = exit.status;
  }
  return { status, stdout: join(out), stderr: text(join(err)) };
}

/** Returns a name without `.`, empty parts and a slash in front, as the command's paths arrive. */
function normal(name: string): string {
  const parts: string[] = [];
  for (const part of name.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function join(parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
