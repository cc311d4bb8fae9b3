// Questions about files, each asked once, and the worker that answers them; what is running can be cancelled.

import type { Input, PteFile } from "../dist/index.js";

export type Call =
  | "info"
  | "check"
  | "sarif"
  | "tensors"
  | "sizes"
  | "modules"
  | "memory"
  | "ops"
  | "map"
  | "mapAt"
  | "explorer"
  | "diff"
  | "profile"
  | "tensor"
  | "bytes";

/** A question about a file. */
export interface Question {
  file: number;
  call: Call;
  args: unknown[];
}
export type Request = { id: number } & ({ inputs: Input[] } | Question);

export interface Failure {
  message: string;
  code?: string;
  offset?: number | null;
  path?: string;
  help?: string;
}
export type Answer = { id: number } & ({ result: unknown } | { error: Failure } | { read: number });

/** What answers the questions of a page. `title` says what is done for the answer. */
export interface Answers {
  request<T>(title: string, question: Question): Promise<T>;
  /** The number of entries that are left out of a document. */
  omitted?(call: Call): number;
}

/** A file of the page. */
export class Opened {
  /** Where the program of a bundle begins: offsets of findings count from there. */
  base = 0;
  private readonly answers = new Map<string, Promise<unknown>>();

  constructor(
    private readonly engine: Answers,
    readonly index: number,
    readonly name: string,
    readonly size: number,
    readonly isData: boolean,
    /** Whether the file itself is asked, and not a copy of its documents. */
    readonly isLive = true,
  ) {}

  /**
   * Asks for what a method of {@link PteFile} returns. An answer is kept, but for a tensor, which may be large; a failure
   * is asked for again.
   */
  ask<K extends Call>(call: K, ...args: unknown[]): ReturnType<PteFile[K]> {
    const key = JSON.stringify([call, ...args]);
    let answer = this.answers.get(key);
    if (!answer) {
      answer = this.engine.request(`${TITLES[call]} ${this.name}`, { file: this.index, call, args });
      const drop = () => void this.answers.delete(key);
      answer.then(call === "tensor" ? drop : undefined, drop);
      this.answers.set(key, answer);
    }
    return answer as ReturnType<PteFile[K]>;
  }

  /** The number of entries that are left out of a document. */
  omitted(call: Call): number {
    return this.engine.omitted?.(call) ?? 0;
  }
}

/** What is done for each call. */
const TITLES: Record<Call, string> = {
  info: "Reading",
  check: "Judging",
  sarif: "Judging",
  tensors: "Listing tensors of",
  sizes: "Measuring",
  modules: "Measuring",
  memory: "Planning memory of",
  ops: "Listing operators of",
  map: "Mapping",
  mapAt: "Looking up a byte of",
  explorer: "Reading the graph of",
  diff: "Comparing",
  profile: "Reading the profile of",
  tensor: "Reading a tensor of",
  bytes: "Reading bytes of",
};

interface Waiting {
  title: string;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
}

export class Cancelled extends Error {}

/** The worker and the questions that wait for it. */
export class Engine implements Answers {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private inputs: Input[] = [];
  private read = 0;

  /** `watch` is called with what is running, or null. */
  constructor(private readonly watch: (title: string | null, read: number) => void) {
    // It compiles the module while a person looks for a file.
    this.running(true);
  }

  /** Opens files in a new worker. */
  async open(inputs: Input[]): Promise<Opened[]> {
    if (this.inputs.length > 0) this.cancel();
    this.inputs = inputs;
    const found = await this.request<{ name: string; size: number; isData: boolean }[]>("Opening", { inputs });
    return found.map(({ name, size, isData }, nth) => new Opened(this, nth, name, size, isData));
  }

  request<T>(title: string, body: object): Promise<T> {
    const worker = this.running("inputs" in body);
    const id = this.next++;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { title, resolve, reject });
      this.report();
      worker.postMessage({ id, ...body });
    });
  }

  /** Ends the worker with all that runs in it. The next question starts another. */
  cancel(reason: Error = new Cancelled("cancelled")): void {
    this.worker?.terminate();
    this.worker = undefined;
    for (const { reject } of this.waiting.values()) reject(reason);
    this.waiting.clear();
    this.report();
  }

  private running(isOpening: boolean): Worker {
    if (this.worker) return this.worker;
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => this.take(data));
    worker.addEventListener("error", (event) => this.cancel(new Error(event.message || "the worker ended")));
    this.worker = worker;
    // After a cancellation the files are opened again, in the same order.
    if (!isOpening) worker.postMessage({ id: -1, inputs: this.inputs });
    return worker;
  }

  private take(answer: Answer): void {
    if ("read" in answer) {
      this.read = answer.read;
      return this.report();
    }
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (waiting && "error" in answer) waiting.reject(Object.assign(new Error(answer.error.message), answer.error));
    else if (waiting && "result" in answer) waiting.resolve(answer.result as never);
    this.report();
  }

  private report(): void {
    const [first] = this.waiting.values();
    this.watch(first?.title ?? null, this.read);
  }
}
