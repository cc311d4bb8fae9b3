// Elements. Text is only ever set as text, so that no name in a file is markup.

import type { Failure } from "./engine.js";

export type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, unknown>;

/** Makes an element: `h("p", { class: "note" }, "text")`. A function is a listener, `true` an empty attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** Makes an element of a picture. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...nodes(children));
  return element;
}

function nodes(children: Child[]): (Node | string)[] {
  return children.flatMap((child) => {
    if (Array.isArray(child)) return nodes(child);
    if (child === null || child === undefined || child === false) return [];
    return [typeof child === "number" ? String(child) : child];
  });
}

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Writes a number of bytes as people read it: `1.6 kB`. */
export function size(bytes: number): string {
  let unit = 0;
  let value = bytes;
  for (; value >= 999.5 && unit + 1 < UNITS.length; unit++) value /= 1000;
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** Writes a whole number with its thousands apart. */
export const count = (value: number) => value.toLocaleString("en");

/** Writes a number and what it counts: `1 method`, `2 methods`. */
export const many = (value: number, noun: string, nouns = `${noun}s`) => `${count(value)} ${value === 1 ? noun : nouns}`;

export const hex = (value: number) => `0x${value.toString(16)}`;

/** A card with a table; nothing if there are no rows. */
export function listing(title: string, head: string[], rows: Child[][] | undefined): Child {
  return rows !== undefined && rows.length > 0 && card(title, table(title, head, rows));
}

/**
 * Makes a table that is sorted by a column when its head is chosen. Columns whose cells are numbers are set to the right,
 * and sorted from the largest.
 */
export function table(caption: string, head: string[], rows: Child[][], most = 1000): HTMLElement {
  const right = head.map((_, nth) => rows.length > 0 && rows.every((row) => NUMBER.test(String(row[nth]))));
  const body = h("tbody");
  const fill = (all: Child[][]) => {
    const cell = (child: Child, nth: number) => h("td", { class: right[nth] && "number" }, child);
    body.replaceChildren(...all.slice(0, most).map((row) => h("tr", {}, row.map(cell))));
  };
  const heads = head.map((name, nth) => {
    const sort = h("button", { type: "button", class: "sort", click: () => order(nth) }, name);
    return h("th", { scope: "col", class: right[nth] && "number" }, name && rows.length > 1 ? sort : name);
  });
  function order(nth: number) {
    const was = heads[nth]!.getAttribute("aria-sort");
    const isUp = was ? was === "descending" : !right[nth];
    for (const one of heads) one.removeAttribute("aria-sort");
    heads[nth]!.setAttribute("aria-sort", isUp ? "ascending" : "descending");
    const keys = rows.map((row) => ({ row, text: textOf(row[nth]), number: right[nth] ? numberOf(String(row[nth])) : 0 }));
    keys.sort((one, other) => one.number - other.number || one.text.localeCompare(other.text, "en", { numeric: true }));
    fill((isUp ? keys : keys.reverse()).map(({ row }) => row));
  }
  fill(rows);
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h("table", {}, h("caption", { class: "hidden" }, caption), h("thead", {}, h("tr", {}, heads)), body),
    rows.length > most && h("p", { class: "note" }, `and ${count(rows.length - most)} more`),
  );
}

const NUMBER = /^[\d.,≤ ]+( ?[kMGT]?B| ?%)?$/;

const textOf = (child: Child) => nodes([child]).map((node) => (typeof node === "string" ? node : node.textContent)).join("");

/** Returns the number that {@link count} or {@link size} wrote. */
function numberOf(text: string): number {
  const unit = UNITS.indexOf(/[kMGT]?B$/.exec(text)?.[0] ?? "B");
  return parseFloat(text.replace(/[,≤ ]/g, "")) * 1000 ** unit;
}

/** Says why something cannot be shown as the command does: the code, the message, the place and what to do. */
export function refused(error: unknown): HTMLElement {
  const { message, code, path, offset, help } = error as Partial<Failure>;
  const place = [typeof offset === "number" && hex(offset), path].filter(Boolean).join(", ");
  return h(
    "div",
    { class: "card refused", role: "alert" },
    h("h2", {}, code ? `Not shown: ${code}` : "Not shown"),
    h("p", {}, message ?? String(error)),
    place && h("p", { class: "path" }, `at ${place}`),
    help && h("p", { class: "note" }, help),
  );
}

/** Saves text as a file. */
export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Makes a box with a title. */
export function card(title: string, ...children: Child[]): HTMLElement {
  return h("section", { class: "card" }, h("h2", {}, title), children);
}
