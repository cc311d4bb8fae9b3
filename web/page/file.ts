// The page in one file: `pte map --html` writes it with the documents inside, and `pte view` answers its questions.

import { readNpy } from "../src/npy.js";
import { open } from "./app.js";
import { type Answers, type Call, type Failure, Opened, type Question } from "./engine.js";

/** What the command writes into the page (`src/cli/map/page.rs`). */
type Contents = { files: { name: string; size: number; isData: boolean }[] } & Partial<Embedded>;

/** The documents of a file, and those of its bytes and fields that are near a finding or near the beginning. */
interface Embedded {
  documents: Partial<Record<Call, { omitted: number; document: unknown } | { error: Refused }>>;
  bytes: [offset: number, base64: string][];
  fields: { program?: number; role_begin: number; role_end: number }[];
}

/** Why there is no document: a finding of the command, or a message alone. */
type Refused = Failure & { rule?: string };

const failed = (why: Refused) => Object.assign(new Error(), { code: why.rule }, why);

/** Answers from the documents inside the page. */
class Inside implements Answers {
  constructor(private readonly contents: Embedded) {}

  async request<T>(_: string, { call, args }: Question): Promise<T> {
    return this.answer(call, args) as T;
  }

  omitted(call: Call): number {
    const found = this.contents.documents[call];
    return found && "omitted" in found ? found.omitted : 0;
  }

  private answer(call: Call, args: unknown[]): unknown {
    const { documents, bytes, fields } = this.contents;
    const [offset, length] = args as [number, number];
    const found = documents[call];
    if (call === "bytes") {
      for (const [begin, text] of bytes) {
        const part = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
        if (begin <= offset && offset < begin + part.length) return part.subarray(offset - begin, offset - begin + length);
      }
    } else if (call === "mapAt") {
      const isHere = (at: number, from: (typeof fields)[0]) => from.role_begin <= at && at < from.role_end;
      const byte = fields.find((field) => isHere(offset - (field.program ?? 0), field));
      if (byte) return { byte };
    } else if (found && args.length === 0) {
      if ("error" in found) throw failed(found.error);
      return found.document;
    }
    throw new Error("this is not in the page, which has a part of the file; `pte view` shows all of it");
  }
}

/** Answers from `pte view`, which runs the verbs on the files. */
class Server implements Answers {
  async request<T>(_: string, { file, call, args }: Question): Promise<T> {
    const [first, second] = args;
    const query = new URLSearchParams();
    if (call === "bytes") Object.entries({ offset: first, length: second }).forEach(([name, of]) => query.set(name, `${of}`));
    else if (typeof first === "object") Object.entries(first!).forEach(([name, of]) => query.set(name, `${of}`));
    else if (first !== undefined) query.set("arg", `${first}`);
    const reply = await fetch(`${file}/${call}?${query}`);
    if (reply.headers.get("Content-Type") !== "application/json") {
      if (!reply.ok) throw new Error(`the server of this page answers ${reply.status}`);
      const bytes = new Uint8Array(await reply.arrayBuffer());
      return (call === "tensor" ? readNpy(bytes) : bytes) as T;
    }
    const document: any = await reply.json();
    if (!reply.ok) {
      // As in other documents, a refused file has a finding.
      throw failed((document.refused ?? document.files)?.[0]?.findings?.[0] ?? document);
    }
    return (call === "check" ? document.files[0] : document) as T;
  }
}

const contents = JSON.parse(document.getElementById("contents")!.textContent!) as Contents;
const isLive = contents.documents === undefined;
const answers = isLive ? new Server() : new Inside(contents as Embedded);
const files = contents.files.map(
  ({ name, size, isData }, nth) => new Opened(answers, nth, name, size, isData, isLive),
);
void open(Promise.resolve(files), () => undefined);
