// The summary: whether the file loads, where, and what it has.

import { card, count, h, listing, many, refused, size, table, type Child } from "../dom.js";
import type { Documents } from "../../dist/index.js";
import type { Opened } from "../engine.js";
import type { Page } from "../page.js";

/** What a package (`.ptn`) and a record have. The types are made from tests/data, which has none of them. */
interface Members {
  members?: { name: string; count: number; bytes: number }[];
}
type Info = Documents["info"]["files"][number];
/** An input or an output of a method. */
type Value = NonNullable<NonNullable<Info["methods"]>[number]["outputs"]>[number];

declare const RELEASES: string[];

const VERDICTS: Record<string, [title: string, text: string]> = {
  ok: ["Loads", "No rule of the runtime is broken."],
  incomplete: ["Needs data", "The program loads only with data that is in none of the files."],
  error: ["Does not load", "A runtime refuses this file, crashes on it or reads wrong memory."],
};

export async function summary(file: Opened, page: Page): Promise<Child> {
  const checked = await file.ask("check");
  const counts = tally(checked.findings);
  const [title, text] = VERDICTS[checked.verdict] ?? [checked.verdict, ""];
  let [info, failed]: [Info | undefined, Child] = [undefined, null];
  try {
    [info] = (await file.ask("info")).files;
  } catch (error) {
    failed = refused(error);
  }
  const hero = h(
    "section",
    { class: `hero ${checked.verdict}` },
    h(
      "div",
      {},
      h("h1", {}, title),
      h(
        "p",
        {},
        info && checked.verdict === "error" ? checked.findings.find((found) => found.severity === "error")?.message : text,
      ),
      checked.missing &&
        h(
          "p",
          {},
          `Missing ${many(checked.missing.count, "key")}: ${checked.missing.keys.slice(0, 8).join(", ")}. Drop the .ptd with the .pte.`,
        ),
    ),
    h("button", { type: "button", click: () => page.go("findings") }, counts || "No findings"),
  );
  if (!info) return [hero, failed, h("p", { class: "note" }, "Findings has the bytes.")];
  file.base = info.bundle?.program_offset ?? 0;
  const isProgram = Boolean(info.methods && info.operators);
  return [
    hero,
    facts(info, isProgram),
    isProgram && file.isLive && releases(file),
    h(
      "div",
      { class: "columns" },
      methods(info),
      !!info.backends?.length && backends(info.backends),
      !!info.operators?.length &&
        card(
          "Left to kernels",
          h(
            "p",
            { class: "note" },
            info.libraries?.length
              ? ["Link ", info.libraries.map((library) => [h("code", {}, library.name), " "])]
              : "No known library has these operators.",
          ),
          table(
            "Operators",
            ["operator", "calls"],
            info.operators.map((operator) => [operator.name, operator.calls]),
            8,
          ),
        ),
      parts(info),
      listing(
        "Dtypes",
        ["dtype", "tensors", "bytes"],
        info.dtypes?.map((row) => [row.dtype, count(row.tensors), size(row.bytes)]),
      ),
      listing(
        "Largest",
        ["key", "bytes"],
        info.largest?.map((row) => [row.key, size(row.bytes)]),
      ),
      listing(
        "Members",
        ["name", "count", "bytes"],
        (info as Members).members?.map((row) => [row.name, count(row.count), size(row.bytes)]),
      ),
    ),
  ];
}

/** Counts findings by severity, in words. */
export function tally(findings: { severity: string }[]): string {
  return ["error", "warning", "note"]
    .map((severity) => [severity, findings.filter((one) => one.severity === severity).length] as const)
    .filter(([, number]) => number > 0)
    .map(([severity, number]) => many(number, severity))
    .join(", ");
}

function facts(info: Info, isProgram: boolean): HTMLElement {
  const fact = (name: string, value: Child, note?: Child) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, value), note && h("dd", { class: "note" }, note));
  const { operators = [], backends = [], methods = [] } = info;
  const calls = operators.reduce((sum, row) => sum + row.calls, 0);
  const load = info.load_memory?.total;
  return h(
    "dl",
    { class: "facts" },
    fact("Size", size(info.bytes), `${count(info.bytes)} bytes`),
    fact(
      "Kind",
      KINDS[info.kind] ?? info.kind,
      info.bundle ? "in a bundle with test inputs" : info.version !== undefined && `version ${info.version}`,
    ),
    isProgram &&
      fact(
        "Methods",
        count(info.method_count ?? 0),
        methods
          .slice(0, 3)
          .map((one) => one.name)
          .join(", "),
      ),
    isProgram &&
      fact(
        "Backends",
        backends.length === 0
          ? "none"
          : backends.map((one) => one.id.replace(/Backend$/, "")).join(", "),
        many(info.delegate_calls ?? 0, "delegate call"),
      ),
    isProgram && fact("Kernels", many(calls, "call"), many(operators.length, "operator")),
    load !== undefined && fact("Memory to load", size(load), "each method once"),
    info.tensors !== undefined &&
      fact("Tensors", count(info.tensors), info.blobs !== undefined && many(info.blobs, "blob")),
    info.events !== undefined && fact("Events", count(info.events), many(info.executions ?? 0, "execution")),
  );
}

const KINDS: Record<string, string> = {
  pte: "Program",
  ptd: "Data",
  payload: "Payload",
  ptn: "Package",
  etdump: "Profile",
  etrecord: "Record",
};

/** Shows on which releases the program loads, one after the other. */
function releases(file: Opened): HTMLElement {
  const list = h("ol", { class: "releases", "aria-label": "Releases of the runtime" });
  const note = h("p", { class: "note" }, "Judging for each release…");
  void (async () => {
    let loads = 0;
    for (const release of RELEASES) {
      const { verdict, findings } = await file.ask("check", { runtime: release });
      const reason = findings.find((found) => found.severity === "error")?.message;
      if (verdict !== "error") loads++;
      list.append(
        h(
          "li",
          { class: verdict === "error" ? "no" : "yes", title: reason ?? "loads" },
          release,
          h("span", { class: "hidden" }, verdict === "error" ? `: does not load, ${reason}` : ": loads"),
        ),
      );
    }
    note.textContent =
      loads === RELEASES.length
        ? "Every release reads it."
        : `${loads} of ${RELEASES.length} releases read it. Point at one for the reason.`;
  })().catch((error) => {
    note.textContent = `Not judged: ${error.message}`;
  });
  return card("Releases", list, note);
}

function methods(info: Info): Child {
  if (!info.methods?.length) return null;
  if (info.kind !== "pte") {
    return card(
      "Methods",
      table(
        "Methods",
        ["method", "runs", "ticks"],
        info.methods.map((method) => [
          method.name,
          count(method.time?.count ?? 0),
          count(method.time?.total ?? 0),
        ]),
      ),
    );
  }
  return card(
    "Methods",
    info.methods
      .slice(0, 50)
      .map((method) =>
        h(
          "div",
          { class: "method" },
          h("h3", {}, method.name),
          h("p", { class: "signature" }, "(", list(method.inputs), ") → ", list(method.outputs)),
          h(
            "p",
            { class: "note" },
            [
              many(method.instructions ?? 0, "instruction"),
              many(method.values ?? 0, "value"),
              many(method.delegates ?? 0, "delegate"),
              `arenas of ${size((method.arenas ?? []).reduce((sum, bytes) => sum + bytes, 0))}`,
            ].join(" · "),
          ),
        ),
      ),
    info.methods.length > 50 && h("p", { class: "note" }, `and ${count(info.methods.length - 50)} more`),
  );
}

/** Writes inputs or outputs as in a signature. */
function list(values: Value[] = []): Child {
  return values.map((value, nth) => [nth > 0 && ", ", h("code", {}, type(value))]);
}

function type(value: Value): string {
  if (value.dtype === undefined) return value.value === undefined ? value.type : `${value.value}`;
  const bound = value.dynamism && value.dynamism !== "static" ? "≤" : "";
  return `${value.dtype}${bound}[${(value.sizes ?? []).join(", ")}]`;
}

function backends(all: NonNullable<Info["backends"]>): HTMLElement {
  return card(
    "Backends",
    all.map((backend) =>
      h(
        "div",
        { class: "method" },
        h("h3", {}, backend.id),
        h(
          "p",
          { class: "note" },
          `${many(backend.delegates, "delegate")} · ${size(backend.bytes)}` +
            (backend.graphs ? ` · ${many(backend.graphs.nodes, "node")}` : " · opaque"),
        ),
        !!backend.graphs?.operators.length &&
          table(
            `Operators of ${backend.id}`,
            ["operator", "calls"],
            backend.graphs.operators.map((row) => [row.name, row.calls]),
            8,
          ),
        !!backend.graphs?.weights?.length &&
          table(
            `Weights of ${backend.id}`,
            ["weights", "quantization", "bytes"],
            backend.graphs.weights.map((row) => [
              `${count(row.count)} × ${row.datatype}`,
              row.quantization ?? "",
              size(row.bytes),
            ]),
          ),
      ),
    ),
  );
}

function parts(info: Info): Child {
  if (!info.parts) return null;
  const all = Object.entries(info.parts as Record<string, number>).filter(([, bytes]) => bytes > 0);
  const bar = h(
    "div",
    { class: "stack", role: "img", "aria-label": all.map(([name, bytes]) => `${name} ${size(bytes)}`).join(", ") },
    all.map(([name, bytes]) => {
      const part = h("span", { class: `part ${name}`, title: `${name}: ${size(bytes)}` });
      part.style.flexGrow = String(bytes);
      return part;
    }),
  );
  return card(
    "Bytes",
    bar,
    h(
      "ul",
      { class: "legend" },
      all.map(([name, bytes]) =>
        h("li", { class: name }, name === "flatbuffer" ? "FlatBuffer" : name, " ", h("b", {}, size(bytes))),
      ),
    ),
    sums(info),
  );
}

function sums(info: Info): Child {
  const rows = (["constants", "mutable", "external", "named_data"] as const).flatMap((name) => {
    const sum = info[name];
    return sum?.count ? [[name.replace("_", " "), count(sum.count), size(sum.bytes)]] : [];
  });
  return rows.length > 0 && table("Data", ["data", "tensors", "bytes"], rows);
}
