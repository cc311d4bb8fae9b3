// `npx ptekit view model.pte`: the page with files of this disk, from 127.0.0.1, for as long as the command runs.

import { randomBytes, timingSafeEqual } from "node:crypto";
import { closeSync, createReadStream, existsSync, fstatSync, openSync, readdirSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, extname } from "node:path";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** A server of the page. */
export interface View {
  /** The address of the page, with its token. */
  url: string;
  close(): void;
}

/**
 * Serves the page and `paths`, and nothing else, read-only. Each address begins with a random token, so that neither
 * other users nor other pages can read a file; the name of the host is compared, against rebinding of names.
 */
export async function view(paths: string[]): Promise<View> {
  const files = paths.map((path) => ({ path, file: openSync(path, "r") }));
  const close = () => files.forEach(({ file }) => closeSync(file));
  const wrong = files.find(({ file }) => !fstatSync(file).isFile());
  if (wrong) {
    close();
    throw new Error(`${wrong.path}: this is not a file`);
  }
  const token = randomBytes(24).toString("base64url");
  const server = createServer((request, reply) =>
    answer(
      request,
      reply,
      `/${token}/`,
      files.map(({ file }) => file),
    ),
  );
  await new Promise<void>((done, fail) => server.once("error", fail).listen(0, "127.0.0.1", done));
  const query = new URLSearchParams(
    paths.map((path, nth) => ["url", `file/${nth}/${encodeURIComponent(basename(path))}`]),
  );
  return {
    url: `http://${host(server)}/${token}/?${query}`,
    close: () => {
      server.close();
      server.closeAllConnections();
      close();
    },
  };
}

function host(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function answer(request: IncomingMessage, reply: ServerResponse, prefix: string, files: number[]): void {
  reply.setHeader("Cache-Control", "no-store");
  reply.setHeader("X-Content-Type-Options", "nosniff");
  reply.setHeader("Referrer-Policy", "no-referrer");
  reply.setHeader("Cross-Origin-Resource-Policy", "same-origin");
  const isLocal = request.headers.host === `127.0.0.1:${request.socket.localPort}`;
  if (!isLocal || (request.method !== "GET" && request.method !== "HEAD")) return void reply.writeHead(403).end();
  const path = (request.url ?? "").split("?")[0]!;
  const given = Buffer.from(path.slice(0, prefix.length));
  const expected = Buffer.from(prefix);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return void reply.writeHead(404).end();
  const name = path.slice(prefix.length) || "index.html";
  const file = files[Number(/^file\/(\d+)\//.exec(name)?.[1] ?? NaN)];
  if (file !== undefined) return sendRange(request, reply, file);
  const own = asset(name);
  if (!own) return void reply.writeHead(404).end();
  reply.setHeader("Content-Type", TYPES[extname(name)] ?? "application/octet-stream");
  createReadStream(own).pipe(reply);
}

/** Returns the file of the page with a name. */
function asset(name: string): URL | undefined {
  // The package has the module once.
  if (name === "pte.wasm") return new URL("./pte.wasm", import.meta.url);
  const site = new URL("../site/", import.meta.url);
  return existsSync(site) && readdirSync(site).includes(name) ? new URL(name, site) : undefined;
}

function sendRange(request: IncomingMessage, reply: ServerResponse, file: number): void {
  const { size, mtimeMs } = fstatSync(file);
  reply.setHeader("Content-Type", "application/octet-stream");
  reply.setHeader("Accept-Ranges", "bytes");
  reply.setHeader("ETag", `"${size}-${mtimeMs}"`);
  const range = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(request.headers.range ?? "");
  const [start, end] = range ? [Number(range[1]), Math.min(Number(range[2]), size - 1)] : [0, size - 1];
  if (range && start > end) return void reply.writeHead(416, { "Content-Range": `bytes */${size}` }).end();
  reply.writeHead(range ? 206 : 200, {
    "Content-Length": Math.max(end - start + 1, 0),
    ...(range && { "Content-Range": `bytes ${start}-${end}/${size}` }),
  });
  if (request.method === "HEAD" || size === 0) return void reply.end();
  createReadStream("", { fd: file, autoClose: false, start, end })
    .on("error", () => reply.destroy())
    .pipe(reply);
}
