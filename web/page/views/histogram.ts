// The elements of a tensor as a histogram.

import { scaleLinear } from "d3-scale";
import { count, h, s, size } from "../dom.js";
import type { Opened } from "../engine.js";

const BARS = 40;
const [WIDTH, HEIGHT] = [260, 90];

/** The most bytes of a tensor whose elements are read. */
const MOST_BYTES = 64e6;

/** Returns a button that reads a tensor of a number of bytes and then shows its histogram. */
export function histogramOf(file: Opened, tensor: string, bytes: number): HTMLElement {
  const place = h("div");
  if (!(bytes <= MOST_BYTES)) {
    place.append(h("p", { class: "note" }, `A histogram is made of at most ${size(MOST_BYTES)}.`));
    return place;
  }
  const read = async () => {
    place.replaceChildren(h("p", { class: "note" }, "Reading…"));
    try {
      place.replaceChildren(await histogram(file, tensor));
    } catch (error) {
      place.replaceChildren(h("p", { class: "note" }, (error as Error).message));
    }
  };
  place.append(h("button", { type: "button", click: () => void read() }, "Histogram"));
  return place;
}

async function histogram(file: Opened, tensor: string): Promise<HTMLElement> {
  const { data, dtype, sizes } = await file.ask("tensor", tensor);
  const elements = data as ArrayLike<number | bigint>;
  let [finite, least, most, sum] = [0, Infinity, -Infinity, 0];
  for (let nth = 0; nth < elements.length; nth++) {
    const number = Number(elements[nth]);
    if (!Number.isFinite(number)) continue;
    finite++;
    least = Math.min(least, number);
    most = Math.max(most, number);
    sum += number;
  }
  if (finite === 0) return h("p", { class: "note" }, `${dtype}: no finite numbers`);
  const bars = new Array<number>(BARS).fill(0);
  const width = (most - least) / BARS || 1;
  for (let nth = 0; nth < elements.length; nth++) {
    const number = Number(elements[nth]);
    if (Number.isFinite(number)) bars[Math.min(Math.floor((number - least) / width), BARS - 1)]!++;
  }
  const y = scaleLinear([0, Math.max(...bars)], [0, HEIGHT]);
  const short = (number: number) => Number(number.toPrecision(4)).toString();
  const text = `${count(data.length)} elements, from ${short(least)} to ${short(most)}, mean ${short(sum / finite)}`;
  return h(
    "figure",
    { class: "histogram" },
    s(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Histogram of ${text}` },
      bars.map((number, nth) =>
        s(
          "rect",
          {
            x: nth * (WIDTH / BARS),
            width: WIDTH / BARS - 1,
            y: HEIGHT - y(number),
            height: y(number),
          },
          s("title", {}, `${short(least + nth * width)} to ${short(least + (nth + 1) * width)}: ${count(number)}`),
        ),
      ),
    ),
    h("figcaption", { class: "note" }, `[${sizes.join(", ")}] · ${text}`),
  );
}
