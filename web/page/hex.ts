// Bytes as hexadecimal numbers and text, with a range of them marked.

import { h, hex } from "./dom.js";
import type { Opened } from "./engine.js";

const WIDTH = 16;

/** Shows whole rows of bytes around `begin`..`end`, which are marked. */
export async function hexView(file: Opened, begin: number, end: number, around = 2, most = 12): Promise<HTMLElement> {
  const first = Math.max(Math.floor(begin / WIDTH) - around, 0) * WIDTH;
  const rows = Math.min(Math.ceil(end / WIDTH) - first / WIDTH + around, most);
  const bytes = await file.ask("bytes", first, rows * WIDTH);
  const lines = [];
  for (let row = 0; row * WIDTH < bytes.length; row++) {
    const offset = first + row * WIDTH;
    const part = [...bytes.subarray(row * WIDTH, (row + 1) * WIDTH)];
    const cells = (text: (byte: number) => string) =>
      part.map((byte, nth) => {
        const isMarked = offset + nth >= begin && offset + nth < end;
        return h(isMarked ? "mark" : "span", {}, text(byte));
      });
    lines.push(
      h(
        "tr",
        {},
        h("th", { scope: "row" }, offset.toString(16).padStart(8, "0")),
        h(
          "td",
          { class: "numbers" },
          cells((byte) => byte.toString(16).padStart(2, "0")),
        ),
        h(
          "td",
          { class: "text" },
          cells((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")),
        ),
      ),
    );
  }
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": `Bytes from ${first}` },
    h("table", { class: "hex" }, h("tbody", {}, lines)),
  );
}

/** A field of a file, as `map --at` describes it. */
export interface Field {
  begin: number;
  end: number;
  role: string;
  path: string | null;
  text: string;
}

/** Lists the fields around an offset: those that begin in the rows shown. */
export async function fieldsAround(file: Opened, offset: number, before = 32, after = 32): Promise<Field[]> {
  const fields: Field[] = [];
  const last = Math.min(offset + after, file.size - 1);
  for (let at = Math.max(offset - before, 0); at <= last && fields.length < 16;) {
    const { byte } = await file.ask("mapAt", at);
    // In a bundle, offsets count from where its program begins.
    const [begin, end] = [byte.role_begin, byte.role_end].map((place) => place + (byte.program ?? 0)) as [number, number];
    fields.push({ begin, end, role: byte.role, path: byte.path, text: byte.text });
    at = Math.max(end, at + 1);
  }
  return fields;
}

/** Shows fields, and marks the one that has the offset. */
export function fieldList(fields: Field[], offset: number): HTMLElement {
  return h(
    "ol",
    { class: "fields" },
    fields.map((field) =>
      h(
        "li",
        { class: field.begin <= offset && offset < field.end && "here" },
        h("code", {}, hex(field.begin)),
        " ",
        h("span", { class: "tag" }, field.role.replaceAll("-", " ")),
        " ",
        h("span", { class: "path" }, field.path ?? ""),
        " ",
        h("span", { class: "value" }, field.text ?? ""),
      ),
    ),
  );
}
