/** The error of a request: the file was refused, cannot be read, or has not what was asked for. */
export class PteError extends Error {
  /** The stable name of what is wrong, such as `header-length`, `unreadable` or `absent`. */
  readonly code: string;
  /** The exit status of the command: 1 for a problem of the file, 2 of the request, 3 of reading. */
  readonly status: number;
  /** The offset of the wrong bytes. */
  readonly offset: number | null;
  /** The path from the root table to these bytes. */
  readonly path: string;
  /** What to do. */
  readonly help: string | undefined;

  constructor(facts: {
    code: string;
    message: string;
    status: number;
    offset?: number | null;
    path?: string;
    help?: string;
  }) {
    super(facts.message);
    this.name = "PteError";
    this.code = facts.code;
    this.status = facts.status;
    this.offset = facts.offset ?? null;
    this.path = facts.path ?? "";
    this.help = facts.help;
  }
}
