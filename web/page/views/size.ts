// The size as a treemap, down to single tensors.

import { hierarchy, treemap, treemapSquarify, type HierarchyRectangularNode } from "d3-hierarchy";
import { count, h, many, refused, size, table, type Child } from "../dom.js";
import type { Opened } from "../engine.js";

interface Part {
  name: string;
  bytes: number;
  parts?: Part[];
}
type Cell = HierarchyRectangularNode<Part>;

/** The most cells that are drawn at once: of more, the smallest are drawn as one. */
const MOST = 400;

export async function sizes(file: Opened): Promise<Child> {
  const root = async (call: "sizes" | "modules"): Promise<Part> => {
    const { bytes, parts } = (await file.ask(call)).files[0]!;
    return { name: file.name, bytes, parts };
  };
  return new Treemap(await root("sizes"), root).element;
}

class Treemap {
  readonly element: HTMLElement;
  private readonly map = h("div", { class: "treemap", role: "group", "aria-label": "Treemap" });
  private readonly trail = h("nav", { class: "trail", "aria-label": "Parts" });
  private readonly rows = h("div");
  private readonly search = h("input", {
    type: "search",
    placeholder: "Search parts",
    "aria-label": "Search parts",
    input: () => this.list(),
  });
  private readonly pointed = h("p", { class: "note", role: "status" }, "Choose a part to open it.");
  private path: Part[];

  constructor(root: Part, ask: (call: "sizes" | "modules") => Promise<Part>) {
    this.path = [root];
    const byModule = h("input", {
      type: "checkbox",
      change: async () => {
        try {
          this.open([await ask(byModule.checked ? "modules" : "sizes")]);
        } catch (error) {
          this.rows.replaceChildren(refused(error));
        }
      },
    });
    this.element = h(
      "div",
      { class: "size-view" },
      h("h1", { class: "hidden" }, "Size"),
      h("div", { class: "tools" }, this.trail, this.search, h("label", { class: "chip" }, byModule, "by module")),
      this.map,
      this.pointed,
      this.rows,
    );
    new ResizeObserver(() => this.draw()).observe(this.map);
    this.open(this.path);
  }

  private open(path: Part[]): void {
    this.path = path;
    this.trail.replaceChildren(
      h(
        "ol",
        {},
        path.map((part, nth) =>
          h(
            "li",
            {},
            h(
              "button",
              {
                type: "button",
                "aria-current": nth + 1 === path.length && "true",
                click: () => this.open(path.slice(0, nth + 1)),
              },
              part.name,
              " ",
              h("span", { class: "note" }, size(part.bytes)),
            ),
          ),
        ),
      ),
    );
    this.list();
    this.draw();
  }

  /** Lists the parts of the open one, or all parts below it that have the searched text. */
  private list(): void {
    const part = this.path.at(-1)!;
    const wanted = this.search.value.trim().toLowerCase();
    const all = wanted
      ? below(part).filter(({ name }) => name.toLowerCase().includes(wanted))
      : (part.parts ?? []).map((one) => ({ name: one.name, path: [one] }));
    all.sort((one, other) => other.path.at(-1)!.bytes - one.path.at(-1)!.bytes);
    const share = (bytes: number) => `${((bytes / this.path[0]!.bytes) * 100).toFixed(1)} %`;
    const rows = all.map(({ name, path }) => {
      const one = path.at(-1)!;
      const open = () => this.open([...this.path, ...path]);
      return [
        one.parts ? h("button", { type: "button", class: "link", click: open }, name) : name,
        count(one.bytes),
        share(one.bytes),
      ];
    });
    this.rows.replaceChildren(
      wanted ? h("p", { class: "note", role: "status" }, many(rows.length, "part")) : "",
      table(`Parts of ${part.name}`, ["part", "bytes", "of the file"], rows),
    );
  }

  private draw(): void {
    const { clientWidth, clientHeight } = this.map;
    const part = this.path.at(-1)!;
    if (!clientWidth) return;
    // A part without parts is one cell.
    const tree = hierarchy<Part>(part, (one) => largest(one))
      .sum((one) => (one.parts?.length ? 0 : one.bytes))
      .sort((one, other) => (other.value ?? 0) - (one.value ?? 0));
    treemap<Part>()
      .tile(treemapSquarify)
      .size([clientWidth, clientHeight])
      .paddingInner(2)
      .paddingOuter(3)
      .paddingTop((node) => (node.depth > 0 && node.children ? 21 : 3))
      .round(true)(tree);
    const cells = (tree as Cell).descendants().filter((cell) => cell.depth > 0 || !cell.children);
    const shown = cells.filter((cell) => cell.x1 - cell.x0 > 3 && cell.y1 - cell.y0 > 3).slice(0, MOST * 3);
    this.map.replaceChildren(...shown.map((cell) => this.cell(cell)));
  }

  private cell(cell: Cell): HTMLElement {
    const [width, height] = [cell.x1 - cell.x0, cell.y1 - cell.y0];
    const steps = cell
      .ancestors()
      .reverse()
      .slice(1)
      .map((one) => one.data);
    const name = steps.map((one) => one.name).join(" / ") || cell.data.name;
    const text = `${name} ${size(cell.data.bytes)}`;
    const hue = cell.depth === 0 ? 0 : cell.ancestors().at(-2)!.parent!.children!.indexOf(cell.ancestors().at(-2)!) % 8;
    const canOpen = Boolean(cell.data.parts?.length) && cell.depth > 0;
    const enter = () => {
      if (canOpen) this.open([...this.path, ...steps]);
      else this.pointed.textContent = text;
    };
    const element = h(
      "button",
      {
        type: "button",
        class: `cell hue${hue}${cell.children ? " group" : ""}`,
        title: text,
        "aria-label": text,
        tabindex: cell.depth <= 1 ? 0 : -1,
        click: enter,
        pointerenter: () => {
          this.pointed.textContent = text;
        },
      },
      width > 34 && height > 16 && h("span", { class: "cell-name" }, cell.data.name),
      " ",
      width > 60 && height > 36 && !cell.children && h("span", { class: "cell-size" }, size(cell.data.bytes)),
    );
    Object.assign(element.style, {
      left: `${cell.x0}px`,
      top: `${cell.y0}px`,
      width: `${width}px`,
      height: `${height}px`,
    });
    return element;
  }
}

/** Returns all parts inside of a part, each with its names and its path. */
function below(part: Part, names: string[] = [], path: Part[] = []): { name: string; path: Part[] }[] {
  return (part.parts ?? []).flatMap((one) => {
    const [inner, way] = [[...names, one.name], [...path, one]];
    return [{ name: inner.join(" / "), path: way }, ...below(one, inner, way)];
  });
}

/** Returns the parts that are drawn: the largest, and the rest as one. */
function largest(part: Part): Part[] | undefined {
  const all = (part.parts ?? []).filter((one) => one.bytes > 0);
  if (all.length <= MOST) return all.length > 0 ? all : undefined;
  const sorted = [...all].sort((one, other) => other.bytes - one.bytes);
  const rest = sorted.slice(MOST);
  return [
    ...sorted.slice(0, MOST),
    { name: `${count(rest.length)} smaller parts`, bytes: rest.reduce((sum, one) => sum + one.bytes, 0) },
  ];
}
