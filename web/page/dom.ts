// Elements. Text is only ever set as text, so that no name in a file is markup.

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
export const many = (value: number, noun: string) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

export const hex = (value: number) => `0x${value.toString(16)}`;

/** A card with a table; nothing if there are no rows. */
export function listing(title: string, head: string[], rows: Child[][] | undefined): Child {
  return rows !== undefined && rows.length > 0 && card(title, table(title, head, rows));
}

/** Makes a table. Columns whose cells are numbers are set to the right. */
export function table(caption: string, head: string[], rows: Child[][], most = 1000): HTMLElement {
  const right = head.map(
    (_, nth) => rows.length > 0 && rows.every((row) => /^[\d.,≤ ]+( ?[kMGT]?B| ?%)?$/.test(String(row[nth]))),
  );
  const cell = (tag: "td" | "th", child: Child, nth: number) =>
    h(tag, { class: right[nth] && "number", scope: tag === "th" && "col" }, child);
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", { class: "hidden" }, caption),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          head.map((name, nth) => cell("th", name, nth)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.slice(0, most).map((row) =>
          h(
            "tr",
            {},
            row.map((child, nth) => cell("td", child, nth)),
          ),
        ),
      ),
    ),
    rows.length > most && h("p", { class: "note" }, `and ${count(rows.length - most)} more`),
  );
}

/** Makes a box with a title. */
export function card(title: string, ...children: Child[]): HTMLElement {
  return h("section", { class: "card" }, h("h2", {}, title), children);
}
