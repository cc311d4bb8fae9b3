// What only Node has: files on disk, and the module beside this one.

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Opens a regular file as a source. */
export function openPath(path: string | URL) {
  const file = openSync(path, "r");
  const facts = fstatSync(file);
  if (!facts.isFile()) {
    closeSync(file);
    throw new Error(`${path}: this is not a file`);
  }
  return {
    size: facts.size,
    read(offset: number, length: number) {
      const bytes = new Uint8Array(Math.min(length, facts.size - offset));
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, offset));
    },
    async fetch() {},
    close: () => closeSync(file),
  };
}

/** Reads a file of the package. */
export const readOwn = (url: URL) => readFile(url);
