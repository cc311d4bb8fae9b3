// The layout of one layer, by ELK in its own worker.

import ELK from "elkjs/lib/elk-api.js";
import type { Box, Line } from "./layers.js";

export interface Placed {
  x: number;
  y: number;
  width: number;
  height: number;
  box: Box;
}
export interface Path {
  points: [number, number][];
  line: Line;
}
export interface Picture {
  width: number;
  height: number;
  boxes: Placed[];
  paths: Path[];
}

let elk: InstanceType<typeof ELK> | undefined;
let worker: Worker | undefined;

/** Ends a layout that runs. */
export function stop(): void {
  worker?.terminate();
  elk = undefined;
}

export const HEIGHT = 42;
const LETTER = 7.4;

export const widthOf = (box: Box) =>
  Math.min(Math.max(Math.max(box.title.length, box.detail.length * 0.88) * LETTER + 28, 70), 280);

/** Starts the worker, which takes a moment, while the graph is read. */
export function prepare(): void {
  void layout([], []).catch(() => undefined);
}

/** Places boxes in rows along the flow of data. */
export async function layout(boxes: Box[], lines: Line[]): Promise<Picture> {
  elk ??= new ELK({ workerFactory: () => (worker = new Worker(new URL("./elk-worker.js", import.meta.url))) });
  const isLarge = boxes.length > 60;
  const graph: any = await elk.layout({
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "DOWN",
      "elk.edgeRouting": "POLYLINE",
      "elk.layered.spacing.nodeNodeBetweenLayers": "34",
      "elk.spacing.nodeNode": "22",
      "elk.spacing.edgeNode": "14",
      "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
      "elk.layered.thoroughness": isLarge ? "1" : "5",
      "elk.layered.nodePlacement.strategy": isLarge ? "BRANDES_KOEPF" : "NETWORK_SIMPLEX",
    },
    children: boxes.map((box, nth) => ({ id: String(nth), width: widthOf(box), height: HEIGHT })),
    edges: edges(boxes, lines),
  } as any);
  return {
    width: graph.width,
    height: graph.height,
    boxes: graph.children.map((child: any, nth: number) => ({ ...child, box: boxes[nth]! })),
    paths: graph.edges.map((edge: any) => {
      const [section] = edge.sections ?? [];
      const points = section ? [section.startPoint, ...(section.bendPoints ?? []), section.endPoint] : [];
      return { points: points.map((point: any) => [point.x, point.y]), line: lines[Number(edge.id.slice(1))]! };
    }),
  };
}

function edges(boxes: Box[], lines: Line[]) {
  const ids = new Map(boxes.map((box, nth) => [box.id, String(nth)]));
  return lines.map((line, nth) => ({ id: `e${nth}`, sources: [ids.get(line.from)!], targets: [ids.get(line.to)!] }));
}
