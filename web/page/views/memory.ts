// Planned memory over time: each tensor is a rectangle of its life and its place.

import { scaleLinear } from "d3-scale";
import { card, count, h, many, s, size, table, type Child } from "../dom.js";
import type { Documents } from "../../dist/index.js";
import type { Opened } from "../engine.js";

type Method = Documents["memory"]["methods"][number];
type Arena = Method["arenas"][number];
type Tensor = Arena["tensors"][number];
type Pool = Method["pools"][number]["method"];

const WIDTH = 960;
const HEIGHT = 360;
const CURVE = 70;
const LEFT = 74;
const BOTTOM = 34;
const MOST_PICTURES = 20;
const MOST_DRAWN = 4000;
const MOST_POINTS = 2000;

export async function memory(file: Opened): Promise<Child> {
  const document = await file.ask("memory");
  if (document.methods.length === 0) return h("p", { class: "empty" }, "This file plans no memory.");
  // A page with the documents inside says how many tensors it leaves out, but for those with long texts.
  const leftOut = document.methods.flatMap(({ arenas }) => arenas).reduce((sum, one) => sum + countOf(one) - one.tensors.length, 0);
  const isKnown = file.omitted("memory") <= leftOut;
  let left = MOST_PICTURES;
  const hasPicture = (arena: Arena) => arena.tensors.length > 0 && left-- > 0;
  return [
    h("h1", { class: "hidden" }, "Memory"),
    document.methods.slice(0, 20).map((method) =>
      card(
        `${method.name} · ${size(method.planned ?? 0)} planned`,
        method.arenas.length === 0 && h("p", { class: "note" }, "No arena: nothing is planned."),
        arenas(method, hasPicture, isKnown),
        outside(method),
        pools(method.pools),
      ),
    ),
    document.methods.length > 20 &&
      h("p", { class: "note" }, `and ${many(document.methods.length - 20, "method")} more`),
  ];
}

/** Returns the pictures of arenas, and the rest in a table. */
function arenas(method: Method, hasPicture: (arena: Arena) => boolean, isKnown: boolean): Child {
  const rest: Arena[] = [];
  const pictures: Child[] = [];
  for (const arena of method.arenas) {
    if (hasPicture(arena)) pictures.push(arenaPicture(arena, method.instructions, isKnown));
    else rest.push(arena);
  }
  const rows = rest.map((one) => [one.id, countOf(one), count(one.planned ?? 0), count(one.peak)].map(String));
  return [
    pictures,
    rest.length > 0 && table("Other arenas", ["arena", "tensors", "planned bytes", "live at the peak"], rows),
  ];
}

/** The number of tensors of an arena, of which a page with the documents inside may have the largest. */
const countOf = (arena: Arena & { tensor_count?: number }) => arena.tensor_count ?? arena.tensors.length;

function arenaPicture(arena: Arena, instructions: number, isKnown: boolean): Child {
  const reach = Math.max(arena.planned ?? 0, arena.reach, 1);
  const steps = Math.max(instructions, 1);
  const x = scaleLinear([0, steps], [LEFT, WIDTH - 8]);
  const y = scaleLinear([0, reach], [HEIGHT, 8]);
  const tensors: Tensor[] = arena.tensors;
  const first = (tensor: Tensor) => tensor.lives?.first?.instruction ?? 0;
  const end = (tensor: Tensor) => (tensor.lives?.last ? tensor.lives.last.instruction + 1 : steps);
  const detail = h("p", { class: "note under", role: "status" }, "Point at a tensor, or at a time.");
  const drawn = [...tensors].sort((one, other) => other.bytes - one.bytes).slice(0, MOST_DRAWN);
  const boxes = drawn.map((tensor) => {
    const [left, right] = [x(first(tensor)), x(Math.max(end(tensor), first(tensor) + 1))];
    const [top, height] = [
      y(tensor.offset + tensor.bytes),
      Math.max(y(tensor.offset) - y(tensor.offset + tensor.bytes), 1),
    ];
    const name = tensor.name ?? `v${tensor.value}`;
    return s(
      "g",
      {
        class: `tensor ${tensor.role}${tensor.view ? " view-only" : ""}`,
        pointerenter: () => {
          detail.textContent = words(tensor);
        },
      },
      s("rect", { x: left, y: top, width: Math.max(right - left - 0.5, 0.5), height, rx: Math.min(3, height / 3) }),
      right - left > name.length * 7 + 8 &&
        height > 14 &&
        s("text", { x: left + 5, y: top + Math.min(height / 2 + 4, 16) }, name),
      s("title", {}, words(tensor)),
    );
  });
  const all = countOf(arena);
  // Some of the tensors would give another curve.
  const isWhole = isKnown && drawn.length === all;
  // A long method has a point for several instructions: the most of them.
  const width = Math.ceil(steps / MOST_POINTS);
  const live = isWhole
    ? curve(
        drawn.filter((tensor) => !tensor.view),
        first,
        end,
        steps,
        width,
      )
    : [];
  const most = live.reduce((one, other) => Math.max(one, other), 1);
  const level = scaleLinear([0, most], [HEIGHT + 22 + CURVE, HEIGHT + 22]);
  const line = live
    .map((bytes, nth) => {
      const [left, right, top] = [x(nth * width), x(Math.min((nth + 1) * width, steps)), level(bytes)];
      return `${left} ${top}L${right} ${top}`;
    })
    .join("L");
  const cursor = s("line", { class: "cursor", y1: 8, y2: HEIGHT + 22 + CURVE, visibility: "hidden" });
  const picture = s(
    "svg",
    {
      class: "memory-picture",
      viewBox: `0 0 ${WIDTH} ${HEIGHT + 22 + CURVE + BOTTOM}`,
      role: "img",
      "aria-label": `Arena ${arena.id}: ${size(reach)} over ${many(steps, "instruction")}, at most ${size(arena.peak)} live at once`,
      pointermove: (event: PointerEvent) => {
        const bounds = picture.getBoundingClientRect();
        const step = Math.floor(x.invert((event.clientX - bounds.left) * (WIDTH / bounds.width)));
        if (step < 0 || step >= steps) return;
        cursor.setAttribute("x1", String(x(step + 0.5)));
        cursor.setAttribute("x2", String(x(step + 0.5)));
        cursor.setAttribute("visibility", "visible");
        if (!(event.target as Element).closest(".tensor")) {
          const bytes = live[Math.floor(step / width)];
          const said = bytes === undefined ? "" : `${width > 1 ? "at most " : ""}${size(bytes)} live, `;
          detail.textContent =
            `Instruction ${step}: ${said}` +
            many(tensors.filter((tensor) => first(tensor) <= step && step < end(tensor)).length, "tensor");
        }
      },
      pointerleave: () => cursor.setAttribute("visibility", "hidden"),
    },
    y
      .ticks(5)
      .map((tick) => [
        s("line", { class: "grid", x1: LEFT, x2: WIDTH - 8, y1: y(tick), y2: y(tick) }),
        s("text", { class: "axis", x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, size(tick)),
      ]),
    x
      .ticks(Math.min(10, steps))
      .filter(Number.isInteger)
      .map((tick) =>
        s("text", { class: "axis", x: x(tick), y: HEIGHT + 22 + CURVE + 18, "text-anchor": "middle" }, count(tick)),
      ),
    s("text", { class: "axis", x: WIDTH - 8, y: HEIGHT + 22 + CURVE + 32, "text-anchor": "end" }, "instruction"),
    boxes,
    isWhole && [
      s("path", { class: "live", d: `M${x(0)} ${level(0)}L${line}L${x(steps)} ${level(0)}Z` }),
      s("text", { class: "axis", x: LEFT - 8, y: HEIGHT + 32, "text-anchor": "end" }, size(most)),
      s("text", { class: "axis", x: LEFT - 8, y: HEIGHT + 22 + CURVE, "text-anchor": "end" }, "live"),
    ],
    cursor,
  );
  const at = arena.peak_at;
  return h(
    "div",
    { class: "arena" },
    h("h3", {}, `Arena ${arena.id}`, arena.device ? ` · ${arena.device.kind} ${arena.device.index}` : ""),
    h(
      "dl",
      { class: "facts plain" },
      (
        [
          ["planned", arena.planned],
          ["live at the peak", arena.peak],
          ["slack", arena.slack],
          ["fragmentation", arena.fragmentation],
        ] as const
      ).map(
        ([name, bytes]) => typeof bytes === "number" && h("div", {}, h("dt", {}, name), h("dd", {}, size(bytes))),
      ),
    ),
    at && h("p", { class: "note" }, `The peak is at instruction ${at.instruction}: ${at.does}.`),
    !isWhole &&
      h(
        "p",
        { class: "note" },
        `The picture has the largest ${count(drawn.length)} of ${isKnown ? count(all) : "more"} tensors, so there is no curve of live bytes.`,
      ),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Picture of arena ${arena.id}` }, picture),
    detail,
    h(
      "ul",
      { class: "legend roles" },
      ["scratch", "input", "output", "state"].map((role) => h("li", { class: role }, role)),
    ),
    h(
      "details",
      {},
      h("summary", {}, `${isWhole ? "All " : ""}${many(tensors.length, "tensor")} as a table`),
      table(
        `Tensors of arena ${arena.id}`,
        ["tensor", "type", "bytes", "offset", "live"],
        tensors.map((tensor) => [
          tensor.name ?? `v${tensor.value}`,
          `${tensor.dtype}[${tensor.sizes.join(", ")}]`,
          count(tensor.bytes),
          count(tensor.offset),
          life(tensor),
        ]),
      ),
    ),
  );
}

/**
 * Counts the different bytes that are live, the most of each `width` instructions: what several tensors share counts
 * once.
 */
function curve(
  tensors: Tensor[],
  first: (tensor: Tensor) => number,
  end: (tensor: Tensor) => number,
  steps: number,
  width: number,
): number[] {
  const edges = [...new Set(tensors.flatMap((tensor) => [tensor.offset, tensor.offset + tensor.bytes]))].sort(
    (one, other) => one - other,
  );
  const index = new Map(edges.map((edge, nth) => [edge, nth]));
  const users = new Uint32Array(edges.length);
  const events: [step: number, tensor: Tensor, by: 1 | -1][] = tensors.flatMap((tensor) => [
    [first(tensor), tensor, 1],
    [Math.max(end(tensor), first(tensor) + 1), tensor, -1],
  ]);
  events.sort((one, other) => one[0] - other[0]);
  const live = new Array<number>(Math.ceil(steps / width)).fill(0);
  let [sum, next] = [0, 0];
  for (let nth = 0; nth < live.length; nth++) {
    // What begins in these instructions comes after what was live before.
    if (next >= events.length || events[next]![0] > nth * width) live[nth] = sum;
    while (next < events.length && events[next]![0] < (nth + 1) * width) {
      const [step, tensor, by] = events[next++]!;
      for (let at = index.get(tensor.offset)!; at < index.get(tensor.offset + tensor.bytes)!; at++) {
        const before = users[at]!;
        users[at] = before + by;
        if (before === 0 || before + by === 0) sum += by * (edges[at + 1]! - edges[at]!);
      }
      // The number after all events of an instruction is what is live in it.
      if (events[next]?.[0] !== step) live[nth] = Math.max(live[nth]!, sum);
    }
  }
  return live;
}

const life = (tensor: Tensor) =>
  `${tensor.lives?.first?.instruction ?? "start"} to ${tensor.lives?.last?.instruction ?? "end"}`;

const words = (tensor: Tensor) =>
  `${tensor.name ?? `v${tensor.value}`} · ${tensor.dtype}[${tensor.sizes.join(", ")}] · ${size(tensor.bytes)} ` +
  `at ${count(tensor.offset)} · live ${life(tensor)} · ${tensor.role}`;

function outside(method: Method): Child {
  const rows = Object.entries(method.outside as Record<string, number>).filter(([, bytes]) => bytes > 0);
  return (
    rows.length > 0 &&
    h("p", { class: "note" }, "Outside of arenas: ", rows.map(([name, bytes]) => `${name} ${size(bytes)}`).join(" · "))
  );
}

function pools(all: Method["pools"]): Child {
  if (!all?.length) return null;
  return table(
    "Pools of the runtime",
    ["runtime", "pointers", "method allocator", "temporary allocator"],
    all.map((pool) => [pool.runtime, `${pool.bits} bit`, bound(pool.method), bound(pool.temporary)]),
  );
}

const bound = (pool: Pool | null) => (pool ? `${pool.exact ? "" : "≈ "}${size(pool.bytes)}` : "");
