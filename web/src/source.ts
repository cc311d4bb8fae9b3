// Sources of bytes that are read by ranges: bytes in memory, files of Node, blobs and URLs.

/** Anything that can be opened: a path (Node), bytes, a `Blob` or `File`, or a URL. */
export type Input = string | URL | Uint8Array | ArrayBuffer | Blob;

/** Bytes that are read by ranges. */
export interface Source {
  readonly size: number;
  /** Reads bytes at `offset`. Throws {@link Missing} if they have to be fetched first. */
  read(offset: number, length: number): Uint8Array;
  /** Fetches bytes, so that a later {@link read} has them. */
  fetch(offset: number, length: number): Promise<void>;
  /** Releases what the source holds. */
  close(): void;
}

/** Thrown by a source whose bytes have to be fetched: the run ends, and begins again with them. */
export class Missing extends Error {
  constructor(readonly source: Source, readonly offset: number, readonly length: number) {
    super("bytes have to be fetched");
  }
}

/** Bytes in memory. */
export class BytesSource implements Source {
  constructor(private readonly bytes: Uint8Array) {}
  get size() {
    return this.bytes.length;
  }
  read(offset: number, length: number) {
    return this.bytes.subarray(offset, offset + length);
  }
  async fetch() {}
  close() {}
}

/** A blob in a worker, where it can be read without waiting. */
class WorkerBlobSource implements Source {
  private readonly reader = new (globalThis as any).FileReaderSync();
  constructor(private readonly blob: Blob) {}
  get size() {
    return this.blob.size;
  }
  read(offset: number, length: number) {
    return new Uint8Array(this.reader.readAsArrayBuffer(this.blob.slice(offset, offset + length)));
  }
  async fetch() {}
  close() {}
}

/** Bytes that are fetched range by range, and kept. */
export class RangeSource implements Source {
  private readonly kept: { begin: number; bytes: Uint8Array }[] = [];
  private total = 0;
  private ahead = FIRST_AHEAD;

  constructor(
    readonly size: number,
    private readonly load: (begin: number, end: number) => Promise<Uint8Array>,
  ) {}

  read(offset: number, length: number): Uint8Array {
    const end = Math.min(offset + length, this.size);
    const part = this.kept.find((part) => part.begin <= offset && offset < part.begin + part.bytes.length);
    if (part && offset < end) {
      // A short read is legal: the rest is read by the next call.
      return part.bytes.subarray(offset - part.begin, end - part.begin);
    }
    if (offset >= end) return new Uint8Array();
    throw new Missing(this, offset, end - offset);
  }

  async fetch(offset: number, length: number): Promise<void> {
    const end = Math.min(offset + Math.max(length, this.ahead), this.size);
    this.ahead = Math.min(this.ahead * 2, LARGEST_AHEAD);
    this.total += end - offset;
    if (this.total > MOST_KEPT) throw new RangeError(`more than ${MOST_KEPT} bytes of the file would be kept`);
    const bytes = await this.load(offset, end);
    if (bytes.length !== end - offset) throw new RangeError("the file became shorter while it was read");
    this.kept.push({ begin: offset, bytes });
  }

  close() {
    this.kept.length = 0;
  }
}

// Few requests: each one doubles the next, as each one costs a run.
const FIRST_AHEAD = 1 << 18;
const LARGEST_AHEAD = 1 << 25;
// The bytes of one file that are kept.
const MOST_KEPT = 2 ** 31;

/** Opens an input, and returns its source and its name. */
export async function openSource(input: Input): Promise<{ source: Source; name: string }> {
  if (input instanceof Uint8Array) return { source: new BytesSource(input), name: "file" };
  if (input instanceof ArrayBuffer) return { source: new BytesSource(new Uint8Array(input)), name: "file" };
  if (typeof Blob !== "undefined" && input instanceof Blob) {
    const name = (input as File).name || "file";
    if (typeof (globalThis as any).FileReaderSync === "function") return { source: new WorkerBlobSource(input), name };
    const load = async (begin: number, end: number) => new Uint8Array(await input.slice(begin, end).arrayBuffer());
    return { source: new RangeSource(input.size, load), name };
  }
  const text = String(input);
  if (/^(https?|blob):/.test(text)) return { source: await openUrl(text), name: text };
  const { openPath } = await import("./node.js");
  return { source: openPath(input as string | URL), name: text };
}

async function openUrl(url: string): Promise<Source> {
  const ranged = (begin: number, end: number) => ({ headers: { Range: `bytes=${begin}-${end - 1}` } });
  const first = await fetch(url, ranged(0, FIRST_AHEAD));
  if (!first.ok && first.status !== 416) throw new Error(`${url}: HTTP status ${first.status}`);
  const size = Number(first.headers.get("Content-Range")?.split("/")[1] ?? NaN);
  // A server without ranges sends everything.
  if (first.status !== 206 || !Number.isSafeInteger(size)) {
    return new BytesSource(await body(first, MOST_KEPT));
  }
  await first.body?.cancel();
  const version = first.headers.get("ETag") ?? first.headers.get("Last-Modified");
  return new RangeSource(size, async (begin, end) => {
    const reply = await fetch(url, ranged(begin, end));
    const changed = version !== (reply.headers.get("ETag") ?? reply.headers.get("Last-Modified"));
    if (reply.status !== 206 || changed) throw new Error(`${url}: it changed while it was read`);
    return body(reply, end - begin);
  });
}

/** Reads an answer. A server that sends more than `most` bytes is refused, as it might never end. */
async function body(reply: Response, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for (const reader = reply.body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    length += value.length;
    if (length <= most) continue;
    await reader.cancel();
    throw new Error(`${reply.url}: the server sends more than ${most} bytes`);
  }
  const all = new Uint8Array(length);
  for (const part of parts.reverse()) all.set(part, (length -= part.length));
  return all;
}
