// The frame of a page: its tabs, each of which shows one document about a file.

import { h, many, refused, size, type Child } from "./dom.js";
import { Cancelled, type Call, type Opened } from "./engine.js";
import { bytes } from "./views/bytes.js";
import { compare } from "./views/compare.js";
import { findings } from "./views/findings.js";
import { graph } from "./views/graph.js";
import { memory } from "./views/memory.js";
import { operators } from "./views/operators.js";
import { sizes } from "./views/size.js";
import { summary } from "./views/summary.js";
import type { Page } from "./page.js";

type View = (file: Opened, page: Page) => Promise<Child>;

/** The tabs, with the document that each of them shows. */
const TABS: [id: string, title: string, view: View, call: Call][] = [
  ["summary", "Summary", summary, "info"],
  ["findings", "Findings", findings, "check"],
  ["graph", "Graph", graph, "explorer"],
  ["memory", "Memory", memory, "memory"],
  ["size", "Size", sizes, "sizes"],
  ["bytes", "Bytes", bytes, "map"],
  ["operators", "Operators", operators, "ops"],
  ["compare", "Compare", compare, "diff"],
];

export const at = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
export const main = at("main");

let shown: Opened | undefined;
let tab = "summary";
const page: Page = { files: [], go, place: undefined };

/** Opens files and shows the first program of them. If it is cancelled, draws the page without a file. */
export async function open(files: Promise<Opened[]>, start: () => void): Promise<void> {
  shown = undefined;
  // What is known about other files must not be taken for these.
  main.replaceChildren(h("p", { class: "empty" }, "Opening…"));
  try {
    page.files = await files;
    shown = page.files.find((file) => !file.isData) ?? page.files[0];
    frame();
    await show();
  } catch (error) {
    if (!(error instanceof Cancelled)) main.replaceChildren(failure(error));
    else start();
  }
}

/** Draws what stays while tabs change. */
function frame(): void {
  const several = page.files.length > 1;
  const select = h(
    "select",
    {
      "aria-label": "File",
      change: () => {
        shown = page.files[select.selectedIndex];
        void show();
      },
    },
    page.files.map((file) => h("option", { selected: file === shown }, file.name)),
  );
  at("files").replaceChildren(
    several ? select : h("span", { class: "name" }, shown!.name),
    h("span", { class: "note" }, size(shown!.size)),
  );
  const list = h(
    "div",
    { class: "tabs", role: "tablist", "aria-label": "Views", keydown: turn },
    tabs().map(([id, title]) =>
      h(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${id}`,
          "aria-controls": "panel",
          click: () => go(id),
        },
        title,
      ),
    ),
  );
  main.replaceChildren(list, h("div", { id: "panel", role: "tabpanel", tabindex: 0 }));
}

/** Returns the tabs. A page of one file, with its documents inside, has nothing to compare. */
const tabs = () => TABS.filter(([id]) => id !== "compare" || shown?.isLive);

/** Moves between tabs by the arrow keys. */
function turn(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const all = tabs();
  const now = all.findIndex(([id]) => id === tab);
  go(all[(now + step + all.length) % all.length]![0]);
  at(`tab-${tab}`).focus();
}

function go(to: string, place?: number | string): void {
  page.place = place;
  if (location.hash === `#${to}`) void show();
  else location.hash = to;
}

async function show(): Promise<void> {
  const file = shown;
  if (!file) return;
  const wanted = location.hash.slice(1);
  const [id, title, view, call] = tabs().find(([id]) => id === wanted) ?? TABS[0]!;
  tab = id;
  document.title = `${file.name} – ${title} – pte`;
  for (const [other] of tabs()) {
    at(`tab-${other}`).setAttribute("aria-selected", String(other === id));
    at(`tab-${other}`).tabIndex = other === id ? 0 : -1;
  }
  at(`tab-${id}`).scrollIntoView({ block: "nearest", inline: "nearest" });
  const panel = at("panel");
  panel.setAttribute("aria-labelledby", `tab-${id}`);
  panel.className = `panel ${id}`;
  panel.setAttribute("aria-busy", "true");
  let found: Child;
  try {
    found = await view(file, page);
  } catch (error) {
    found = failure(error);
  }
  // Another tab or file may have been chosen since.
  if (file !== shown || tab !== id || at("panel") !== panel) return;
  panel.replaceChildren(h("div", { class: "view" }, cut(file, call), found));
  panel.removeAttribute("aria-busy");
}

/** Says what a page with the documents inside leaves out of one. */
function cut(file: Opened, call: Call): Child {
  const left = file.omitted(call);
  return left > 0 && h("p", { class: "note" }, `${many(left, "entry", "entries")} left out of this page; \`pte view\` shows all.`);
}

function failure(error: unknown): HTMLElement {
  if (error instanceof Cancelled) {
    return h(
      "div",
      { class: "empty" },
      h("p", {}, "Cancelled."),
      h("button", { type: "button", click: () => void show() }, "Try again"),
    );
  }
  return refused(error);
}

addEventListener("hashchange", () => void show());
