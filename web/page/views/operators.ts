// Operators and backends, and the times of a profile.

import { card, count, h, listing, size, table, type Child } from "../dom.js";
import type { Opened } from "../engine.js";

export async function operators(file: Opened): Promise<Child> {
  const [info]: any[] = (await file.ask("info")).files;
  if (info.kind === "etdump") return profile(file);
  const ops: any = await file.ask("ops");
  const most = Math.max(...ops.operators.map((row: any) => row.calls), 1);
  return [
    h("h1", { class: "hidden" }, "Operators"),
    card(
      "Operators of the runtime",
      ops.operators.length === 0
        ? h("p", { class: "note" }, "No operator is called: everything is in delegates.")
        : table(
            "Operators",
            ["operator", "library", "calls", "", "dtypes"],
            ops.operators.map((row: any) => [
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
      ops.backends.map((row: any) => [row.id, count(row.delegates), count(row.calls)]),
    ),
    listing(
      "Nodes inside delegates",
      ["operator", "backend", "nodes", "datatypes"],
      ops.nodes.map((row: any) => [row.operator, row.backend, count(row.nodes), row.datatypes.join(", ")]),
    ),
    ops.files[0].methods.length > 1 &&
      card(
        "By method",
        ops.files[0].methods.slice(0, 50).map((method: any) =>
          h(
            "details",
            {},
            h("summary", {}, method.name),
            table(
              `Operators of ${method.name}`,
              ["operator", "calls"],
              method.operators.map((row: any) => [row.name, count(row.calls)]),
            ),
          ),
        ),
      ),
  ];
}

async function profile(file: Opened): Promise<Child> {
  const document: any = await file.ask("profile");
  const rows = (title: string, all: any[], name: (row: any) => string) => {
    const whole = Math.max(...all.map((row) => row.time?.total ?? 0), 1);
    return (
      all.length > 0 &&
      card(
        title,
        table(
          title,
          ["name", "count", "ticks", ""],
          all.map((row) => [
            name(row),
            count(row.time?.count ?? 0),
            count(row.time?.total ?? 0),
            meter((row.time?.total ?? 0) / whole),
          ]),
        ),
      )
    );
  };
  return [
    h("h1", { class: "hidden" }, "Operators"),
    rows("Methods", document.methods ?? [], (row) => row.name),
    rows("Operators by time", document.operators ?? [], (row) => row.name),
    rows(
      "Instructions by time",
      document.instructions ?? [],
      (row) => `${row.chain ?? 0}:${row.instruction ?? ""} ${row.name ?? ""}`,
    ),
    h(
      "p",
      { class: "note" },
      `${size(file.size)}. Ticks are those of the runtime's clock, nanoseconds on most systems.`,
    ),
  ];
}

function meter(part: number): HTMLElement {
  const bar = h("span", { class: "meter" });
  bar.style.width = `${Math.max(part * 90, 2)}px`;
  return bar;
}
