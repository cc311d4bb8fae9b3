// The page: files are dropped or chosen, and each tab shows one document about them.

import { h, size, type Child } from "./dom.js";
import { Cancelled, Engine, type Opened } from "./engine.js";
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

const TABS: [id: string, title: string, view: View][] = [
  ["summary", "Summary", summary],
  ["findings", "Findings", findings],
  ["graph", "Graph", graph],
  ["memory", "Memory", memory],
  ["size", "Size", sizes],
  ["bytes", "Bytes", bytes],
  ["operators", "Operators", operators],
  ["compare", "Compare", compare],
];

const at = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
const main = at("main");
const chosen = at<HTMLInputElement>("chosen");
const engine = new Engine(working);

let shown: Opened | undefined;
let tab = "summary";
const page: Page = { files: [], go, place: undefined };

/** Opens files and shows the first program of them. */
async function openFiles(inputs: (File | string)[]): Promise<void> {
  if (inputs.length === 0) return;
  shown = undefined;
  // What is known about other files must not be taken for these.
  main.replaceChildren(h("p", { class: "empty" }, "Opening…"));
  try {
    page.files = await engine.open(
      inputs.map((input) => (typeof input === "string" ? new URL(input, location.href).href : input)),
    );
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
  const tabs = h(
    "div",
    { class: "tabs", role: "tablist", "aria-label": "Views", keydown: turn },
    TABS.map(([id, title]) =>
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
  main.replaceChildren(tabs, h("div", { id: "panel", role: "tabpanel", tabindex: 0 }));
}

/** Moves between tabs by the arrow keys. */
function turn(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const now = TABS.findIndex(([id]) => id === tab);
  go(TABS[(now + step + TABS.length) % TABS.length]![0]);
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
  const [id, title, view] = TABS.find(([id]) => id === wanted) ?? TABS[0]!;
  tab = id;
  document.title = `${file.name} – ${title} – pte`;
  for (const [other] of TABS) {
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
  panel.replaceChildren(h("div", { class: "view" }, found));
  panel.removeAttribute("aria-busy");
}

function failure(error: unknown): HTMLElement {
  const { message, code, help } = error as { message?: string; code?: string; help?: string };
  if (error instanceof Cancelled) {
    return h(
      "div",
      { class: "empty" },
      h("p", {}, "Cancelled."),
      h("button", { type: "button", click: () => void show() }, "Try again"),
    );
  }
  return h(
    "div",
    { class: "card refused", role: "alert" },
    h("h2", {}, code ? `Not shown: ${code}` : "Not shown"),
    h("p", {}, message ?? String(error)),
    help && h("p", { class: "note" }, help),
  );
}

/** Shows what is running, if it takes more than a moment. */
function working(title: string | null, read: number): void {
  const box = at("work");
  if (title === null) {
    box.hidden = true;
    delete box.dataset.title;
    return;
  }
  if (box.dataset.title === title) {
    const note = box.querySelector(".note");
    if (note && read > 0) note.textContent = `${size(read)} read`;
    return;
  }
  const isNew = box.dataset.title === undefined;
  box.dataset.title = title;
  box.replaceChildren(
    h("progress", { "aria-label": title }),
    h("span", {}, `${title}…`),
    h("span", { class: "note" }),
    h("button", { type: "button", click: () => engine.cancel() }, "Cancel"),
  );
  if (isNew)
    setTimeout(() => {
      if (box.dataset.title !== undefined) box.hidden = false;
    }, 200);
}

/** Draws the page without a file. */
function start(): void {
  at("files").replaceChildren();
  const note = (title: string, text: string) => h("div", {}, h("h2", {}, title), h("p", {}, text));
  main.replaceChildren(
    h(
      "div",
      { class: "start" },
      h("h1", {}, "Look inside an ExecuTorch model"),
      h(
        "p",
        { class: "lead" },
        "Drop a .pte, with its .ptd files, and see whether it loads, what it runs and where its bytes go.",
      ),
      h(
        "button",
        { type: "button", class: "zone", click: () => chosen.click() },
        h("strong", {}, "Drop files here"),
        h("span", {}, "or choose them: .pte, .ptd, .bpte, ETDump; two to compare"),
      ),
      h(
        "div",
        { class: "three" },
        note("Nothing leaves", "The files are read in this browser. The page's security policy allows no other host."),
        note("Judged, not run", "Every rule of the runtime, with the bytes that break it and what to do."),
        note("Large files too", "Only what is needed is read: a file of 2 GB opens at once."),
      ),
    ),
  );
}

at("choose").addEventListener("click", () => chosen.click());
chosen.addEventListener("change", () => {
  const files = [...(chosen.files ?? [])];
  chosen.value = "";
  void openFiles(files);
});
addEventListener("hashchange", () => void show());
for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    at("drop").hidden = !(kind === "dragover" || kind === "dragenter");
    if (kind === "drop") void openFiles([...((event as DragEvent).dataTransfer?.files ?? [])]);
  });
}

start();
const urls = new URLSearchParams(location.search).getAll("url");
if (urls.length > 0) void openFiles(urls);
