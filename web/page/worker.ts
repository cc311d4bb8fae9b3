// The worker: files, and the runs of the command on them. Reading and judging never stop the page.

import { load, open, type Input, type PteFile } from "../dist/index.js";
import type { Answer, Call, Failure, Request } from "./engine.js";

// A question tries again, and says why it failed.
load().catch(() => undefined);

const files: PteFile[] = [];
/** Posts an answer. The buffer of a tensor or of bytes is moved. */
const post = (answer: Answer) => {
  const result = "result" in answer ? (answer.result as { data?: Uint8Array; buffer?: ArrayBuffer } | null) : null;
  const buffer = result?.data?.buffer ?? result?.buffer;
  postMessage(answer, { transfer: buffer instanceof ArrayBuffer ? [buffer] : [] });
};
// One run after the other: a run takes memory, and the last one reports its progress.
let last: Promise<unknown> = Promise.resolve();

addEventListener("message", ({ data }: MessageEvent<Request>) => {
  last = last.then(async () => {
    try {
      post({ id: data.id, result: await answer(data) });
    } catch (error) {
      const { message, code, offset, path, help } = error as Partial<Failure>;
      post({ id: data.id, error: { message: message ?? String(error), code, offset, path, help } });
    }
  });
});

async function answer(request: Request): Promise<unknown> {
  if ("inputs" in request) return openAll(request.inputs, request.id);
  const args = request.args.map((arg) => (isFile(arg) ? files[arg.file] : arg));
  const file = files[request.file]! as unknown as Record<Call, (...args: unknown[]) => Promise<unknown>>;
  return file[request.call](...args);
}

const isFile = (arg: unknown): arg is { file: number } => typeof arg === "object" && arg !== null && "file" in arg;

/** Returns the name of what a URL leads to; a file has its own. */
function nameOf(input: Input): string | undefined {
  return typeof input === "string" ? decodeURIComponent(new URL(input).pathname.split("/").pop() ?? "") : undefined;
}

/** Opens all files. Each program has all data files that were opened with it. */
async function openAll(inputs: Input[], id: number) {
  const progress = { bytes: 0, at: 0 };
  const onRead = (bytes: number) => {
    progress.bytes += bytes;
    if (performance.now() - progress.at < 100) return;
    progress.at = performance.now();
    post({ id, read: progress.bytes });
  };
  const heads: { input: Input; file: PteFile; isData: boolean }[] = [];
  for (const input of inputs) {
    const file = await open(input, { onRead, name: nameOf(input) });
    const identifier = String.fromCharCode(...(await file.bytes(4, 2)));
    heads.push({ input, file, isData: identifier === "FT" });
  }
  const data = heads.filter((head) => head.isData).map((head) => head.input);
  for (const { input, file, isData } of heads) {
    if (isData || data.length === 0) files.push(file);
    else files.push(await open(input, { partners: data, onRead, name: nameOf(input) }));
  }
  return files.map((file, nth) => ({ name: file.name, size: file.size, isData: heads[nth]!.isData }));
}
