// The graph in layers: the namespaces of the graph collection, so that one layer is laid out at a time.

/** A node of a graph collection (`pte graph --format model-explorer`). */
export interface GraphNode {
  id: string;
  label: string;
  namespace: string;
  attrs?: { key: string; value: string }[];
  incomingEdges?: { sourceNodeId: string; sourceNodeOutputId?: string; targetNodeInputId?: string }[];
  outputsMetadata?: { id: string; attrs: { key: string; value: string }[] }[];
}

/** A layer: nodes and layers inside of it. */
export interface Layer {
  name: string;
  parent: Layer | undefined;
  layers: Map<string, Layer>;
  nodes: GraphNode[];
  /** The number of nodes here and below. */
  total: number;
}

/** A box of one layer: a node, a layer in it, or a node or layer beside it. */
export interface Box {
  id: string;
  title: string;
  detail: string;
  kind: string;
  node: GraphNode | undefined;
  layer: Layer | undefined;
}

export interface Line {
  from: string;
  to: string;
  text: string;
}

/** The most nodes of a layer: of more, neighbours are put into layers of their own. */
const MOST = 150;
/** The most boxes of a layer that are laid out: there may be many inputs, constants and layers. */
const MOST_BOXES = 600;
/** The most layers inside of each other. What is deeper is in the deepest. */
const DEEPEST = 64;

export class Layers {
  readonly root: Layer;
  readonly byId = new Map<string, GraphNode>();
  private readonly layerOf = new Map<string, Layer>();
  private readonly types = new Map<string, string>();

  constructor(readonly nodes: GraphNode[]) {
    this.root = { name: "", parent: undefined, layers: new Map(), nodes: [], total: 0 };
    for (const node of nodes) {
      let layer = this.root;
      for (const part of node.namespace.split("/").filter(Boolean).slice(0, DEEPEST)) layer = inside(layer, part);
      layer.nodes.push(node);
      this.byId.set(node.id, node);
      this.layerOf.set(node.id, layer);
      for (const output of node.outputsMetadata ?? []) {
        const shape = output.attrs.find((attribute) => attribute.key === "shape")?.value;
        if (shape) this.types.set(`${node.id}\0${output.id}`, shape);
      }
    }
    this.split(this.root);
    this.sum(this.root);
  }

  /** Returns the layer that has a node. */
  home(id: string): Layer {
    return this.layerOf.get(id) ?? this.root;
  }

  /**
   * Returns the boxes of a layer and the lines between them, with the boxes beside the layer that lines lead to. Of a
   * large layer it has the first boxes and the chosen one; `more` is the number of others.
   */
  content(
    layer: Layer,
    withConstants: boolean,
    chosen?: string,
  ): { boxes: Box[]; lines: Line[]; hidden: number; more: number } {
    const boxes = new Map<string, Box>();
    let more = 0;
    const add = (one: Box) => {
      if (boxes.size < MOST_BOXES || one.id === chosen) boxes.set(one.id, one);
      else more++;
    };
    const isShown = (node: GraphNode) => withConstants || !CONSTANT.has(kindOf(node));
    for (const inner of layer.layers.values()) {
      add({
        id: `/${inner.name}`,
        title: inner.name,
        detail: `${inner.total} nodes`,
        kind: "layer",
        node: undefined,
        layer: inner,
      });
    }
    for (const node of layer.nodes) if (isShown(node)) add(box(node, ""));
    const lines = new Map<string, Line>();
    let beside = 0;
    for (const to of this.nodes) {
      if (!isShown(to)) continue;
      for (const edge of to.incomingEdges ?? []) {
        const from = this.byId.get(edge.sourceNodeId);
        if (!from || !isShown(from)) continue;
        const [source, target] = [this.boxOf(from, layer), this.boxOf(to, layer)];
        if (source === target || (source === null && target === null)) continue;
        if ([source, target].some((end) => end !== null && !boxes.has(end))) continue;
        // A line to another layer ends at a box for what is there.
        if ((source === null || target === null) && ++beside > MOST) continue;
        for (const [end, node] of [
          [source, from],
          [target, to],
        ] as const) {
          if (end === null && !boxes.has(`beside ${node.id}`)) boxes.set(`beside ${node.id}`, box(node, "beside "));
        }
        const [begin, end] = [source ?? `beside ${from.id}`, target ?? `beside ${to.id}`];
        const text = this.types.get(`${from.id}\0${edge.sourceNodeOutputId}`) ?? "";
        lines.set(`${begin}\0${end}\0${text}`, { from: begin, to: end, text });
      }
    }
    return { boxes: [...boxes.values()], ...short([...boxes.keys()], [...lines.values()]), more };
  }

  /** Returns the id of the box of a layer that has a node; null if the node is elsewhere. */
  private boxOf(node: GraphNode, layer: Layer): string | null {
    let at: Layer | undefined = this.layerOf.get(node.id);
    if (at === layer) return node.id;
    for (; at; at = at.parent) if (at.parent === layer) return `/${at.name}`;
    return null;
  }

  /** Puts neighbours of a large layer into layers, so that no layer has more boxes than can be laid out. */
  private split(layer: Layer): void {
    for (const inner of [...layer.layers.values()]) this.split(inner);
    const stays = (node: GraphNode) => EDGE.has(kindOf(node));
    const rest = layer.nodes.filter((node) => !CONSTANT.has(kindOf(node)) && !stays(node));
    if (rest.length <= MOST) return;
    const width = Math.max(Math.ceil(rest.length / MOST), 50);
    for (let at = 0; at < rest.length; at += width) {
      const part = rest.slice(at, at + width);
      const inner = inside(layer, `nodes ${at + 1}–${at + part.length}`);
      for (const node of part) {
        // A constant goes where it is used first.
        const constants = (node.incomingEdges ?? [])
          .map((edge) => this.byId.get(edge.sourceNodeId))
          .filter((from) => from && CONSTANT.has(kindOf(from)) && this.layerOf.get(from.id) === layer) as GraphNode[];
        for (const one of [...constants, node]) {
          this.layerOf.set(one.id, inner);
          inner.nodes.push(one);
        }
      }
      this.split(inner);
    }
    layer.nodes = layer.nodes.filter((node) => this.layerOf.get(node.id) === layer);
  }

  private sum(layer: Layer): number {
    layer.total = layer.nodes.length;
    for (const inner of layer.layers.values()) layer.total += this.sum(inner);
    return layer.total;
  }
}

/** The boxes that all lines of a layer may pass together: a layout takes time for each. */
const MOST_PASSED = 3 * MOST;

/** Leaves out the longest lines of a layer where they would pass too many boxes. */
function short(ids: string[], lines: Line[]): { lines: Line[]; hidden: number } {
  const place = new Map(ids.map((id, nth) => [id, nth]));
  const length = (line: Line) => Math.abs(place.get(line.to)! - place.get(line.from)!);
  let passed = 0;
  const kept = new Set(
    [...lines]
      .sort((one, other) => length(one) - length(other))
      .filter((line) => (passed += length(line)) <= MOST_PASSED),
  );
  return { lines: lines.filter((line) => kept.has(line)), hidden: lines.length - kept.size };
}

const CONSTANT = new Set(["constant", "external"]);
const EDGE = new Set(["input", "output"]);

export const kindOf = (node: GraphNode) => attribute(node, "kind") ?? (node.id === "findings" ? "findings" : "");
export const attribute = (node: GraphNode, key: string) =>
  node.attrs?.find((attribute) => attribute.key === key)?.value;

function box(node: GraphNode, prefix: string): Box {
  const detail = prefix
    ? node.namespace || "outside"
    : (attribute(node, "type") ??
      node.outputsMetadata?.[0]?.attrs.find((attribute) => attribute.key === "shape")?.value ??
      "");
  return {
    id: prefix + node.id,
    title: node.label,
    detail,
    kind: prefix ? "beside" : kindOf(node),
    node,
    layer: undefined,
  };
}

function inside(layer: Layer, name: string): Layer {
  let found = layer.layers.get(name);
  if (!found) layer.layers.set(name, (found = { name, parent: layer, layers: new Map(), nodes: [], total: 0 }));
  return found;
}
