// Makes src/documents.ts: the types of the documents, from the documents of all files in tests/data.
// A field that is not in each object is optional; values of several kinds are a union.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { explain, open, rules } from "../dist/index.js";

const data = new URL("../../tests/data/", import.meta.url).pathname;
const names = readdirSync(data, { recursive: true }).sort();
const files = names.filter((name) => /\.(pte|ptd|bpte|bin|etdp)$/.test(name)).map((name) => data + name);

/** The shape of values: their plain kinds, the shape of their items, and of their fields. */
const shape = () => ({ kinds: new Set(), items: null, fields: null, objects: 0 });

function add(to, value, name) {
  if (Array.isArray(value)) {
    to.items ??= shape();
    value.forEach((item) => add(to.items, item));
  } else if (value !== null && typeof value === "object") {
    to.fields ??= new Map();
    to.objects++;
    for (const [name, inner] of Object.entries(value)) {
      if (!to.fields.has(name)) to.fields.set(name, { shape: shape(), seen: 0 });
      const field = to.fields.get(name);
      field.seen++;
      add(field.shape, inner, name);
    }
  } else if (name === "schema") to.kinds.add(JSON.stringify(value));
  else to.kinds.add(value === null ? "null" : typeof value);
}

function text(of, indent) {
  const all = [...of.kinds].sort();
  if (of.items) all.push(`Array<${text(of.items, indent)}>`);
  if (of.fields) {
    const lines = [...of.fields].map(([name, { shape, seen }]) => {
      const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
      return `${indent}  ${key}${seen < of.objects ? "?" : ""}: ${text(shape, `${indent}  `)};\n`;
    });
    all.push(`{\n${lines.join("")}${indent}}`);
  }
  return all.join(" | ") || "unknown";
}

const shapes = new Map();
const take = (verb, document) => {
  if (!shapes.has(verb)) shapes.set(verb, shape());
  add(shapes.get(verb), document);
};
const verbs = ["info", "tensors", "size", "memory", "ops", "map", "graph", "profile"];
let before;
for (const path of files) {
  const file = await open(path);
  const { stdout } = await file.run(["check", "--json", "--no-config"]);
  take("check", JSON.parse(new TextDecoder().decode(stdout)));
  for (const verb of verbs) {
    const method = verb === "size" ? "sizes" : verb;
    const document = await file[method]().catch(() => null);
    if (document) take(verb, document);
  }
  // A byte of a header, of the tables, of a field of a program, and of data.
  for (const part of [0.001, 0.1, 0.3, 0.99]) {
    const document = await file.mapAt(Math.floor(file.size * part)).catch(() => null);
    if (document) take("mapAt", document);
  }
  if (before) {
    const document = await before.diff(file).catch(() => null);
    if (document) take("diff", document);
    before.close();
  }
  before = file;
}
take("explain", await explain("segment-index"));
take("rules", await rules());

const all = [...shapes].sort().map(([verb, of]) => `  ${verb}: ${text(of, "  ")};\n`);
writeFileSync(process.argv[2] ?? new URL("../src/documents.ts", import.meta.url), `\
// Made by \`npm run types\` from the documents of the files in tests/data. Do not edit.

/** The documents, by the verb that prints each with --json. */
export interface Documents {
${all.join("")}}

/** A file that was judged. */
export type CheckedFile = Documents["check"]["files"][number];
`);
