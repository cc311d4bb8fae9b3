// The layout of one layer: boxes in rows along the flow of data, by dagre.

import { graphlib, layout as arrange } from "@dagrejs/dagre";
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

export const HEIGHT = 42;
const LETTER = 7.4;

export const widthOf = (box: Box) =>
  Math.min(Math.max(Math.max(box.title.length, box.detail.length * 0.88) * LETTER + 28, 70), 280);

/** Places boxes. A layer has few enough (`layers.ts`) that this takes a moment. */
export function layout(boxes: Box[], lines: Line[]): Picture {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", ranker: "tight-tree", nodesep: 22, edgesep: 14, ranksep: 34 });
  for (const box of boxes) graph.setNode(box.id, { width: widthOf(box), height: HEIGHT });
  lines.forEach((line, nth) => graph.setEdge(line.from, line.to, {}, String(nth)));
  arrange(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    boxes: boxes.map((box) => {
      const { x, y, width, height } = graph.node(box.id) as Omit<Placed, "box">;
      return { x: x - width / 2, y: y - height / 2, width, height, box };
    }),
    paths: lines.map((line, nth) => {
      const { points } = graph.edge(line.from, line.to, String(nth)) as { points?: { x: number; y: number }[] };
      return { points: (points ?? []).map(({ x, y }) => [x, y]), line };
    }),
  };
}
