// What the views are given.

import type { Opened } from "./engine.js";

/** What a view may ask of the page. */
export interface Page {
  files: Opened[];
  /** Shows a tab, at a place of the file if there is one. */
  go(tab: string, place?: number | string): void;
  /** The place that {@link go} was called with; a view takes it once. */
  place: number | string | undefined;
}
