// The graph: one layer at a time, of which only what is in sight is drawn.

import { select } from "d3-selection";
import { zoom, zoomIdentity, zoomTransform, type ZoomTransform } from "d3-zoom";
import { count, download, h, many, refused, s, type Child } from "../dom.js";
import type { Opened } from "../engine.js";
import type { Page } from "../page.js";
import { histogramOf } from "./histogram.js";
import { attribute, kindOf, Layers, type Box, type GraphNode, type Layer } from "./layers.js";
import { layout, type Picture, type Placed } from "./layout.js";

export async function graph(file: Opened, page: Page): Promise<Child> {
  const document: { graphs: { nodes: GraphNode[] }[] } = await file.ask("explorer");
  const nodes: GraphNode[] = document.graphs
    .flatMap((one) => one.nodes)
    .filter((node: GraphNode) => node.id !== "findings");
  if (nodes.length === 0) {
    const [found] = (await file.ask("check")).findings;
    return found?.severity === "error"
      ? refused({ ...found, code: found.rule })
      : h("p", { class: "empty" }, "This file has no graph.");
  }
  return new Canvas(file, page, new Layers(nodes)).element;
}

class Canvas {
  readonly element: HTMLElement;
  private readonly picture = s("svg", { class: "picture", role: "group", "aria-label": "Graph", tabindex: 0 });
  private readonly scene = s("g");
  private readonly trail = h("nav", { class: "trail", "aria-label": "Layers" });
  private readonly details = h("aside", { class: "details", "aria-label": "Details", tabindex: -1 });
  private readonly results = h("ul", { class: "results", hidden: true });
  private readonly status = h("p", { class: "note status", role: "status" });
  private readonly constants = h("input", { type: "checkbox", change: () => this.open(this.layer) });
  private readonly zoom = zoom<SVGSVGElement, unknown>()
    .scaleExtent([0.02, 3])
    .on("zoom", (event) => this.draw(event.transform));
  private readonly drawn = new Map<unknown, SVGElement>();
  private layer: Layer;
  private placed: Picture = { width: 0, height: 0, boxes: [], paths: [] };
  private chosen: string | undefined;

  constructor(
    private readonly file: Opened,
    private readonly page: Page,
    private readonly layers: Layers,
  ) {
    this.layer = layers.root;
    const search = h("input", {
      type: "search",
      placeholder: `Search ${many(layers.nodes.length, "node")}`,
      "aria-label": "Search nodes",
      input: () => this.find(search.value),
    });
    this.picture.append(
      s(
        "defs",
        {},
        s(
          "marker",
          { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
          s("path", { d: "M0 0 8 4 0 8Z" }),
        ),
      ),
      this.scene,
    );
    const button = (title: string, text: string, click: () => void) =>
      h("button", { type: "button", "aria-label": title, title, click }, text);
    this.element = h(
      "div",
      { class: "graph-view" },
      h("h1", { class: "hidden" }, "Graph"),
      h(
        "div",
        { class: "tools" },
        this.trail,
        h("div", { class: "search" }, search, this.results),
        h("label", { class: "chip" }, this.constants, "constants"),
      ),
      h(
        "div",
        { class: "split" },
        h(
          "div",
          { class: "canvas" },
          this.picture,
          h(
            "div",
            { class: "zooms" },
            button("Zoom in", "+", () => this.scale(1.4)),
            button("Zoom out", "−", () => this.scale(1 / 1.4)),
            button("Fit", "⤢", () => this.fit()),
            button("Save the picture of this layer", "⤓", () => this.save()),
          ),
        ),
        this.details,
      ),
      this.status,
    );
    this.picture.addEventListener("keydown", (event) => this.key(event));
    select(this.picture).call(this.zoom).on("dblclick.zoom", null);
    // A single method is opened at once.
    let first = layers.root;
    while (first.layers.size === 1 && first.nodes.length === 0) [first] = [...first.layers.values()] as [Layer];
    this.explain();
    new ResizeObserver(() => this.draw()).observe(this.picture);
    this.open(first);
  }

  /** Lays out a layer and shows it. */
  private open(layer: Layer, chosen?: string): void {
    this.layer = layer;
    this.drawTrail();
    const { boxes, lines, hidden, more } = this.layers.content(layer, this.constants.checked, chosen);
    try {
      this.placed = layout(boxes, lines);
      this.status.textContent = `${many(boxes.length, "node")}, ${many(lines.length, "edge")} in this layer${hidden ? `, ${many(hidden, "long edge")} not drawn` : ""}${more ? `, and ${many(more, "more node", "more nodes")}, which the search finds` : ""}. Drag to move, scroll to zoom; arrow keys go from node to node, Enter opens.`;
      this.chosen = chosen;
      this.scene.replaceChildren();
      this.drawn.clear();
      requestAnimationFrame(() => (chosen ? this.show(chosen) : this.fit()));
    } catch (error) {
      this.status.textContent = `Not laid out: ${(error as Error).message}`;
    }
  }

  private drawTrail(): void {
    const path: Layer[] = [];
    for (let at: Layer | undefined = this.layer; at; at = at.parent) path.unshift(at);
    this.trail.replaceChildren(
      h(
        "ol",
        {},
        path.map((layer, nth) =>
          h(
            "li",
            {},
            h(
              "button",
              { type: "button", "aria-current": layer === this.layer && "true", click: () => this.open(layer) },
              nth === 0 ? "file" : layer.name,
            ),
          ),
        ),
      ),
    );
  }

  /** Saves all of the layer as a picture, which has the style of the page. */
  private save(): void {
    this.draw(this.at, true);
    const copy = this.picture.cloneNode(true) as SVGSVGElement;
    this.draw();
    const { width, height } = this.placed;
    const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules].map((rule) => rule.cssText));
    copy.prepend(s("style", {}, rules.join("\n")));
    copy.querySelector(":scope > g")!.removeAttribute("transform");
    for (const [name, value] of Object.entries({ width, height, viewBox: `-8 -8 ${width + 16} ${height + 16}`, class: "saved" }))
      copy.setAttribute(name, `${value}`);
    const text = new XMLSerializer().serializeToString(copy);
    download(`${this.file.name.split("/").pop()}.svg`, text, "image/svg+xml");
  }

  /** Draws the boxes and lines that are in sight, and removes others. */
  private draw(at: ZoomTransform = this.at, isAll = false): void {
    this.scene.setAttribute("transform", at.toString());
    const { clientWidth, clientHeight } = this.picture;
    const margin = 60 / at.k;
    const [left, top] = at.invert([0, 0]);
    const [right, bottom] = at.invert([clientWidth, clientHeight]);
    const isSeen = (x0: number, y0: number, x1: number, y1: number) =>
      isAll || (x1 > left - margin && x0 < right + margin && y1 > top - margin && y0 < bottom + margin);
    this.picture.classList.toggle("far", at.k < 0.45);
    const seen = new Set<unknown>();
    for (const path of this.placed.paths) {
      if (path.points.length === 0) continue;
      const xs = path.points.map(([x]) => x);
      const ys = path.points.map(([, y]) => y);
      if (!isSeen(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys))) continue;
      seen.add(path);
      if (this.drawn.has(path)) continue;
      const line = s(
        "path",
        { class: "line", d: `M${path.points.map((point) => point.join(" ")).join("L")}`, "marker-end": "url(#arrow)" },
        s("title", {}, path.line.text),
      );
      this.drawn.set(path, line);
      this.scene.prepend(line);
    }
    for (const placed of this.placed.boxes) {
      if (!isSeen(placed.x, placed.y, placed.x + placed.width, placed.y + placed.height)) continue;
      seen.add(placed);
      if (this.drawn.has(placed)) continue;
      const box = this.boxElement(placed);
      this.drawn.set(placed, box);
      this.scene.append(box);
    }
    for (const [what, element] of this.drawn) {
      if (seen.has(what)) continue;
      element.remove();
      this.drawn.delete(what);
    }
  }

  private get at(): ZoomTransform {
    return zoomTransform(this.picture);
  }

  private boxElement({ x, y, width, height, box }: Placed): SVGElement {
    const most = Math.floor((width - 20) / 7.4);
    const short = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
    const group = s(
      "g",
      {
        class: `box ${box.kind}${box.id === this.chosen ? " chosen" : ""}`,
        transform: `translate(${x} ${y})`,
        role: "button",
        tabindex: -1,
        click: () => this.choose(box),
        dblclick: () => this.enter(box),
      },
      box.layer && s("rect", { class: "behind", x: 4, y: 4, width, height, rx: 9 }),
      s("rect", { width, height, rx: 9 }),
      s("text", { class: "title", x: width / 2, y: box.detail ? 18 : 26 }, short(box.title, most)),
      " ",
      box.detail && s("text", { class: "detail", x: width / 2, y: 33 }, short(box.detail, Math.floor(most * 1.15))),
      s("title", {}, `${box.title}\n${box.detail}`),
    );
    return group;
  }

  /** Opens what a box stands for: a layer, or the layer that a node beside this one is in. */
  private enter(box: Box): void {
    if (box.layer) this.open(box.layer);
    else if (box.kind === "beside" && box.node) this.open(this.layers.home(box.node.id), box.node.id);
  }

  private choose(box: Box): void {
    this.chosen = box.id;
    for (const [what, element] of this.drawn) {
      if ("box" in (what as object)) element.classList.toggle("chosen", (what as Placed).box.id === box.id);
      else {
        const { from, to } = (what as { line: { from: string; to: string } }).line;
        element.classList.toggle("chosen", from === box.id || to === box.id);
      }
    }
    this.explain(box);
  }

  /** Chooses a box and moves it into the middle. */
  private show(id: string): void {
    const placed = this.placed.boxes.find(({ box }) => box.id === id);
    if (!placed) return this.fit();
    const scale = Math.max(this.at.k, 0.8);
    const { clientWidth, clientHeight } = this.picture;
    select(this.picture).call(
      this.zoom.transform,
      zoomIdentity
        .translate(
          clientWidth / 2 - (placed.x + placed.width / 2) * scale,
          clientHeight / 2 - (placed.y + placed.height / 2) * scale,
        )
        .scale(scale),
    );
    this.choose(placed.box);
  }

  private scale(by: number): void {
    select(this.picture).call(this.zoom.scaleBy, by);
  }

  /** Shows the whole layer, or the beginning of one that is too large to be read. */
  private fit(): void {
    const { clientWidth, clientHeight } = this.picture;
    const { width, height } = this.placed;
    if (!width || !clientWidth) return;
    const whole = Math.min((clientWidth - 40) / width, (clientHeight - 40) / height, 1.2);
    const scale = Math.max(whole, Math.min((clientWidth - 40) / width, 0.6), 0.05);
    const top = whole < scale ? 20 : (clientHeight - height * scale) / 2;
    select(this.picture).call(
      this.zoom.transform,
      zoomIdentity.translate((clientWidth - width * scale) / 2, top).scale(scale),
    );
  }

  private key(event: KeyboardEvent): void {
    const placed = this.placed.boxes.find(({ box }) => box.id === this.chosen);
    if (event.key === "Enter" && placed) return this.enter(placed.box);
    if (event.key === "Backspace" && this.layer.parent) return this.open(this.layer.parent);
    if (event.key === "+" || event.key === "-") return this.scale(event.key === "+" ? 1.4 : 1 / 1.4);
    const way = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] }[event.key];
    if (!way) return;
    event.preventDefault();
    const [first] = this.placed.boxes;
    if (!placed) return first && this.show(first.box.id);
    // The nearest box in that direction; sideways distance counts more.
    let best: Placed | undefined;
    let least = Infinity;
    for (const other of this.placed.boxes) {
      const [x, y] = [other.x + other.width / 2 - placed.x - placed.width / 2, other.y - placed.y];
      const ahead = x * way[0]! + y * way[1]!;
      if (ahead <= 1) continue;
      const distance = ahead + 2 * Math.abs(x * way[1]! + y * way[0]!);
      if (distance < least) [best, least] = [other, distance];
    }
    if (best) this.show(best.box.id);
  }

  private find(text: string): void {
    const wanted = text.trim().toLowerCase();
    const isMatch = (node: GraphNode) =>
      node.label.toLowerCase().includes(wanted) ||
      (node.attrs ?? []).some(({ key, value }) => key !== "__value" && value.toLowerCase().includes(wanted));
    const found = wanted ? this.layers.nodes.filter(isMatch) : [];
    this.results.hidden = wanted === "";
    this.results.replaceChildren(
      ...found.slice(0, 30).map((node) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              click: () => {
                this.results.hidden = true;
                if (["constant", "external"].includes(kindOf(node))) this.constants.checked = true;
                this.open(this.layers.home(node.id), node.id);
              },
            },
            node.label,
            " ",
            h(
              "span",
              { class: "note" },
              [attribute(node, "instruction"), attribute(node, "name"), node.namespace].filter(Boolean).join(" · "),
            ),
          ),
        ),
      ),
      h("li", { class: "note" }, found.length === 0 ? "Nothing has this text." : many(found.length, "node")),
    );
  }

  /** Shows the facts about a box. */
  private explain(box?: Box): void {
    if (!box) {
      const kinds = new Map<string, number>();
      for (const node of this.layers.nodes) kinds.set(node.label, (kinds.get(node.label) ?? 0) + 1);
      const most = [...kinds].sort((one, other) => other[1] - one[1]).slice(0, 12);
      this.details.replaceChildren(
        h("h2", {}, "Details"),
        h("p", { class: "note" }, "Choose a node. The most frequent are:"),
        h(
          "ul",
          { class: "plain" },
          most.map(([label, number]) => h("li", {}, `${count(number)} × `, h("code", {}, label))),
        ),
      );
      return;
    }
    if (box.layer) {
      const layer = box.layer;
      this.details.replaceChildren(
        h("h2", {}, box.title),
        h("p", { class: "note" }, `A layer of ${many(layer.total, "node")}.`),
        h("button", { type: "button", click: () => this.open(layer) }, "Open"),
      );
      return;
    }
    const node = box.node!;
    const facts = (attrs: { key: string; value: string }[]) =>
      h(
        "dl",
        { class: "attributes" },
        attrs
          .filter(({ key }) => !key.startsWith("__"))
          .map(({ key, value }) => [h("dt", {}, key), h("dd", {}, value)]),
      );
    const offset = Number(attribute(node, "offset") ?? attribute(node, "payload offset") ?? NaN);
    // A page with the documents inside has no elements.
    const tensor = this.file.isLive && constantName(node);
    this.details.replaceChildren(
      h(
        "div",
        { class: "plain" },
        h("h2", {}, node.label),
        box.kind === "beside" && h("button", { type: "button", click: () => this.enter(box) }, "Go to its layer"),
        facts(node.attrs ?? []),
        (node.outputsMetadata ?? []).length > 0 && h("h3", {}, "Outputs"),
        (node.outputsMetadata ?? []).map((output) => facts(output.attrs)),
        tensor && histogramOf(this.file, tensor, Number(attribute(node, "bytes") ?? NaN)),
        Number.isFinite(offset) &&
          h("button", { type: "button", click: () => this.page.go("bytes", offset) }, "Show in Bytes"),
      ),
    );
  }
}

/** Returns the name by which `pte extract --tensor` gives the data of a node. */
function constantName(node: GraphNode): string | undefined {
  if (!["constant", "mutable"].includes(kindOf(node))) return undefined;
  const value = attribute(node, "value");
  const method = node.namespace.split("/")[0];
  // Constants of a payload have no typed elements that the command extracts by name.
  return value !== undefined && /^m\d+v\d+$/.test(node.id) ? `${method}:${value}` : undefined;
}
