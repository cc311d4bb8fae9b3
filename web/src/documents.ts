export type Documents = Record<"info" | "check" | "tensors" | "size" | "memory" | "ops" | "map" | "mapAt" | "graph" | "diff" | "explain", any>;
export type CheckedFile = any;
