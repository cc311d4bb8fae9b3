// Operators and backends, and the times of a profile.

import { card, count, h, listing, size, table, type Child } from "../dom.js";
import type { Opened } from "../engine.js";

interface Time {
  count: number;
  total: number;
}

export async function operators(file: Opened): Promise<Child> {
  const [info] = (await file.ask("info")).files;
  if (info?.kind === "etdump") return profile(file);
  const ops = await file.ask("ops");
  const most = ops.operators.reduce((most, row) => Math.max(most, row.calls), 1);
  return [
    h("h1", { class: "hidden" }, "Operators"),
    card(
      "Operators of the runtime",
      ops.operators.length === 0
        ? h("p", { class: "note" }, "No operator is called: everything is in delegates.")
        : table(
            "Operators",
            ["operator", "library", "calls", "", "dtypes"],
            ops.operators.map((row) => [
              row.name,
              row.library ?? "unknown",
              count(row.calls),
              meter(row.calls / most),
              row.dtypes.join(", "),
            ]),
          ),
    ),
    listing(
      "Backends",
      ["backend", "delegates", "calls"],
      ops.backends.map((row) => [row.id, count(row.delegates), count(row.calls)]),
    ),
    listing(
      "Nodes inside delegates",
      ["operator", "backend", "nodes", "datatypes"],
      ops.nodes.map((row) => [row.operator, row.backend, count(row.nodes), row.datatypes.join(", ")]),
    ),
    ops.files[0]!.methods.length > 1 &&
      card(
        "By method",
        ops.files[0]!.methods.slice(0, 50).map((method) =>
          h(
            "details",
            {},
            h("summary", {}, method.name),
            table(
              `Operators of ${method.name}`,
              ["operator", "calls"],
              method.operators.map((row) => [row.name, count(row.calls)]),
            ),
          ),
        ),
      ),
  ];
}

async function profile(file: Opened): Promise<Child> {
  const document = await file.ask("profile");
  const rows = <Row extends { time: Time }>(title: string, all: Row[], name: (row: Row) => string) => {
    const whole = all.reduce((most, row) => Math.max(most, row.time.total), 1);
    return (
      all.length > 0 &&
      card(
        title,
        table(
          title,
          ["name", "count", "ticks", ""],
          all.map((row) => [
            name(row),
            count(row.time.count),
            count(row.time.total),
            meter(row.time.total / whole),
          ]),
        ),
      )
    );
  };
  return [
    h("h1", { class: "hidden" }, "Operators"),
    rows("Methods", document.methods, (row) => row.name),
    rows("Operators by time", byName(document.instructions), (row) => row.name),
    rows("Instructions by time", document.instructions, (row) => `${row.chain}:${row.instruction} ${row.name}`),
    h(
      "p",
      { class: "note" },
      `${size(file.size)}. Ticks are those of the runtime's clock, nanoseconds on most systems.`,
    ),
  ];
}

/** Sums the times of rows with the same name; the longest first. */
function byName(rows: { name: string; time: Time }[]): { name: string; time: Time }[] {
  const sums = new Map<string, { name: string; time: Time }>();
  for (const { name, time } of rows) {
    const sum = sums.get(name) ?? { name, time: { count: 0, total: 0 } };
    sum.time = { count: sum.time.count + time.count, total: sum.time.total + time.total };
    sums.set(name, sum);
  }
  return [...sums.values()].sort((one, other) => other.time.total - one.time.total);
}

function meter(part: number): HTMLElement {
  const bar = h("span", { class: "meter" });
  bar.style.width = `${Math.max(part * 90, 2)}px`;
  return bar;
}
