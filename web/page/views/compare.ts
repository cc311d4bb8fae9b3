// Two files compared by meaning.

import { card, count, h, many, refused, size, table, type Child } from "../dom.js";
import type { Opened } from "../engine.js";
import type { Documents } from "../../dist/index.js";
import type { Page } from "../page.js";

export async function compare(file: Opened, page: Page): Promise<Child> {
  const others = page.files.filter((other) => other !== file && other.isData === file.isData);
  if (others.length === 0) {
    return h("div", { class: "empty" }, h("p", {}, "Open two programs, or two data files, to compare them."));
  }
  const result = h("div", { class: "result" });
  const select = h(
    "select",
    { "aria-label": "Compare with", change: () => void show() },
    others.map((other) => h("option", {}, other.name)),
  );
  async function show() {
    const other = others[select.selectedIndex]!;
    result.replaceChildren(h("p", { class: "note" }, "Comparing…"));
    try {
      const diff = await file.ask("diff", { file: other.index });
      if (others[select.selectedIndex] === other) result.replaceChildren(...differences(diff, file, other));
    } catch (error) {
      result.replaceChildren(refused(error));
    }
  }
  await show();
  return [
    h("h1", { class: "hidden" }, "Compare"),
    h("label", { class: "tools" }, h("b", {}, file.name), "with", select),
    result,
  ];
}

function differences(diff: Documents["diff"], before: Opened, after: Opened): Node[] {
  const change = after.size - before.size;
  const groups = new Map<string, Documents["diff"]["differences"]>();
  for (const one of diff.differences) {
    const group = groups.get(one.class);
    if (group) group.push(one);
    else groups.set(one.class, [one]);
  }
  const title = diff.count === 0 ? "No difference in meaning" : many(diff.count, "difference");
  return [
    h(
      "section",
      { class: `hero ${diff.count === 0 ? "ok" : "incomplete"}` },
      h(
        "div",
        {},
        h("h1", {}, title),
        h(
          "p",
          {},
          `${size(before.size)} → ${size(after.size)}, ${change > 0 ? "+" : change < 0 ? "−" : "±"}${size(Math.abs(change))}`,
        ),
      ),
      h(
        "ul",
        { class: "legend" },
        Object.entries(diff.counts).map(([name, number]) =>
          h("li", {}, name, " ", h("b", {}, count(number))),
        ),
      ),
    ),
    ...[...groups].map(([name, all]) =>
      card(
        name,
        table(
          name,
          ["change", "method", "what", "before", "after"],
          all.map((one) => [
            h("span", { class: `tag ${one.change}` }, one.change),
            one.method ?? "",
            h("span", {}, one.what || one.place),
            side(one.before),
            side(one.after),
          ]),
          200,
        ),
      ),
    ),
    ...(diff.written.length > 0
      ? [
          card(
            "Only written differently",
            table(
              "Ways of writing",
              ["what", "before", "after"],
              diff.written.map((one) => [one.what, one.before, one.after]),
            ),
          ),
        ]
      : []),
  ];
}

const side = (one: { text: string } | null): Child => (one ? h("code", {}, one.text) : "–");
