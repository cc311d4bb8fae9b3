// The findings: what is wrong in plain words, and the bytes with their fields.

import { download, h, hex, many, type Child } from "../dom.js";
import type { Opened } from "../engine.js";
import { fieldList, fieldsAround, hexView } from "../hex.js";
import type { CheckedFile } from "../../dist/index.js";
import type { Page } from "../page.js";
import { tally } from "./summary.js";

type Finding = CheckedFile["findings"][number];

export async function findings(file: Opened, page: Page): Promise<Child> {
  const checked = await file.ask("check");
  const all: Finding[] = checked.findings;
  const base = await baseOf(file);
  const items = all.map((found) => [found, item(file, found, base, page)] as const);
  const status = h("p", { class: "note", role: "status" });
  const chosen = new Set(["error", "warning", "note"]);
  const text = h("input", {
    type: "search",
    placeholder: "Filter by rule, text or path",
    "aria-label": "Filter findings",
    input: apply,
  });
  function apply() {
    const wanted = text.value.toLowerCase();
    let shown = 0;
    for (const [found, element] of items) {
      const words = `${found.rule} ${found.message} ${found.path}`.toLowerCase();
      element.hidden = !chosen.has(found.severity) || !words.includes(wanted);
      if (!element.hidden) shown++;
    }
    status.textContent = shown === all.length ? tally(all) : `${many(shown, "finding")} of ${all.length}`;
  }
  const chips = ["error", "warning", "note"].map((severity) =>
    h(
      "label",
      { class: `chip ${severity}` },
      h("input", {
        type: "checkbox",
        checked: true,
        change: (event: Event) => {
          if ((event.target as HTMLInputElement).checked) chosen.add(severity);
          else chosen.delete(severity);
          apply();
        },
      }),
      severity,
    ),
  );
  apply();
  if (items.length === 1) items[0]![1].open = true;
  return [
    h("h1", { class: "hidden" }, "Findings"),
    h(
      "div",
      { class: "tools" },
      text,
      chips,
      file.isLive && h("button", { type: "button", click: () => void save(file) }, "SARIF"),
    ),
    all.length === 0 ? h("p", { class: "empty" }, "Nothing was found: every rule holds.") : status,
    h(
      "div",
      { class: "findings" },
      items.map(([, element]) => element),
    ),
    checked.omitted > 0 && h("p", { class: "note" }, `and ${many(checked.omitted, "finding")} more of the same rules`),
  ];
}

/** Returns where the program of a bundle begins: offsets of findings count from there. */
async function baseOf(file: Opened): Promise<number> {
  try {
    const [info] = (await file.ask("info")).files;
    return info?.bundle?.program_offset ?? 0;
  } catch {
    return 0;
  }
}

function item(file: Opened, found: Finding, base: number, page: Page): HTMLDetailsElement {
  const offset = found.offset + base;
  const bytes = h("div", { class: "bytes" });
  const element = h(
    "details",
    {
      class: `finding ${found.severity}`,
      toggle: () => {
        if (element.open && !bytes.hasChildNodes()) void show();
      },
    },
    h(
      "summary",
      {},
      h("span", { class: `tag ${found.severity}` }, found.severity),
      " ",
      h("code", {}, found.rule),
      " ",
      h("span", {}, found.message),
    ),
    h(
      "dl",
      {},
      h("dt", {}, "What happens"),
      h("dd", {}, found.why),
      h("dt", {}, "What to do"),
      h("dd", {}, found.help),
      h("dt", {}, "Where"),
      h("dd", {}, h("code", {}, hex(offset)), " ", h("span", { class: "path" }, found.path)),
    ),
    bytes,
  );
  async function show() {
    bytes.append(h("p", { class: "note" }, "Reading…"));
    try {
      bytes.replaceChildren(await hexView(file, offset, offset + 1));
      const fields = await fieldsAround(file, offset);
      const here = fields.find((field) => field.begin <= offset && offset < field.end);
      const marked = here && here.end - here.begin <= 64 ? here : { begin: offset, end: offset + 1 };
      bytes.replaceChildren(
        await hexView(file, marked.begin, marked.end),
        fieldList(fields, offset),
        h("button", { type: "button", click: () => page.go("bytes", offset) }, "Show in Bytes"),
      );
    } catch (error) {
      bytes.append(h("p", { class: "note" }, `The fields are not known: ${(error as Error).message}`));
    }
  }
  return element;
}

async function save(file: Opened): Promise<void> {
  const text = JSON.stringify(await file.ask("sarif"), null, 2);
  download(`${file.name.split("/").pop()}.sarif`, text, "application/sarif+json");
}
