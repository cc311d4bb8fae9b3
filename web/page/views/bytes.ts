// The bytes: a map of the file to scale, and a hex view with the meaning of each byte.

import { card, count, h, hex, size, type Child } from "../dom.js";
import type { Opened } from "../engine.js";
import { fieldList, fieldsAround, hexView } from "../hex.js";
import type { Page } from "../page.js";

/** A range of the map. Each level of the document has a type, since types are made from documents. */
interface Range {
  begin: number;
  end: number;
  bytes: number;
  name: string;
  parts?: Range[];
}

const ROWS = 24;

export async function bytes(file: Opened, page: Page): Promise<Child> {
  const place = Number(page.place);
  page.place = undefined;
  const view = new Bytes(file);
  await view.show(Number.isSafeInteger(place) ? place : 0);
  // A refused file has bytes, and no map.
  const map = await file.ask("map").catch(() => null);
  return [
    h("h1", { class: "hidden" }, "Bytes"),
    map &&
      card(
        "The file to scale",
        bar(map.parts, file.size, (offset) => void view.show(offset)),
      ),
    view.element,
    map &&
      card(
        "Ranges",
        tree(map.parts, (offset) => void view.show(offset)),
      ),
  ];
}

class Bytes {
  readonly element: HTMLElement;
  private readonly dump = h("div");
  private readonly fields = h("div");
  private readonly at = h("input", { type: "text", "aria-label": "Offset", size: 12, change: () => this.jump() });
  private offset = 0;

  constructor(private readonly file: Opened) {
    const step = (title: string, text: string, by: number) =>
      h("button", { type: "button", "aria-label": title, click: () => void this.show(this.offset + by) }, text);
    this.element = card(
      "Hex",
      h(
        "div",
        { class: "tools" },
        h("label", {}, "Offset ", this.at),
        step("Page up", "▲", -ROWS * 16),
        step("Page down", "▼", ROWS * 16),
        step("Byte before", "◀", -1),
        step("Byte after", "▶", 1),
      ),
      h("div", { class: "hex-and-fields" }, this.dump, this.fields),
    );
    this.dump.addEventListener("click", (event) => {
      const cell = (event.target as Element).closest(".numbers > *, .text > *");
      const row = cell?.closest("tr");
      if (!cell || !row) return;
      void this.show(parseInt(row.firstChild!.textContent!, 16) + [...cell.parentElement!.children].indexOf(cell));
    });
  }

  async show(offset: number): Promise<void> {
    const { file } = this;
    this.offset = offset = Math.min(Math.max(offset, 0), Math.max(file.size - 1, 0));
    this.at.value = hex(offset);
    if (file.size === 0) return this.dump.replaceChildren(h("p", { class: "note" }, "The file is empty."));
    this.dump.replaceChildren(await hexView(file, offset, offset + 1, 10, ROWS));
    try {
      const fields = await fieldsAround(file, offset, 0);
      if (this.offset !== offset) return;
      const here = fields.find((field) => field.begin <= offset && offset < field.end);
      if (here)
        this.dump.replaceChildren(
          await hexView(file, here.begin, Math.min(here.end, here.begin + 16 * (ROWS - 4)), 10, ROWS),
        );
      const { byte } = await file.ask("mapAt", offset);
      this.fields.replaceChildren(h("p", { class: "path" }, byte.part.join(" / ")), fieldList(fields, offset));
    } catch (error) {
      this.fields.replaceChildren(h("p", { class: "note" }, `No meaning is known: ${(error as Error).message}`));
    }
  }

  private jump(): void {
    const offset = Number(this.at.value.trim());
    if (Number.isSafeInteger(offset)) void this.show(offset);
    else this.at.value = hex(this.offset);
  }
}

/** Draws the parts of the file side by side. */
function bar(parts: Range[], whole: number, show: (offset: number) => void): HTMLElement {
  const element = h("div", { class: "file-bar" });
  parts.forEach((part, nth) => {
    const text = `${part.name} ${hex(part.begin)} to ${hex(part.end)}, ${size(part.bytes)}`;
    const piece = h(
      "button",
      { type: "button", class: `cell hue${nth % 8}`, title: text, "aria-label": text, click: () => show(part.begin) },
      h("span", { class: "cell-name" }, part.bytes / whole > 0.06 && part.name),
    );
    piece.style.flexGrow = String(part.bytes / whole);
    element.append(piece);
  });
  return element;
}

/** Lists ranges; those inside of one are added when it is opened. */
function tree(parts: Range[], show: (offset: number) => void): HTMLElement {
  return h(
    "ul",
    { class: "tree" },
    parts.slice(0, 500).map((part) => {
      const inner = part.parts ?? [];
      const begin = h("button", { type: "button", class: "link", click: () => show(part.begin) }, hex(part.begin));
      const name = [h("span", { class: "path" }, part.name), " ", h("span", { class: "note" }, count(part.bytes))];
      if (inner.length === 0) return h("li", {}, begin, h("div", {}, name));
      const details: HTMLDetailsElement = h(
        "details",
        {
          toggle: () => {
            if (details.open && details.children.length === 1) details.append(tree(inner, show));
          },
        },
        h("summary", {}, name),
      );
      return h("li", {}, begin, details);
    }),
    parts.length > 500 && h("li", { class: "note" }, `and ${count(parts.length - 500)} more`),
  );
}
