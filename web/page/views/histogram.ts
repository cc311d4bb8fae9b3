// The elements of a tensor as a histogram, and as a list.

import { scaleLinear } from "d3-scale";
import { count, h, refused, s, size } from "../dom.js";
import type { Elements } from "../../dist/npy.js";
import type { Opened } from "../engine.js";

const BARS = 40;
const [WIDTH, HEIGHT] = [260, 90];

/** The lines of elements that are added at once, and the most elements of a line. */
const [LINES, PER_LINE] = [64, 8];

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
      place.replaceChildren(refused(error));
    }
  };
  place.append(h("button", { type: "button", click: () => void read() }, "Histogram and elements"));
  return place;
}

async function histogram(file: Opened, tensor: string): Promise<HTMLElement> {
  const { data, dtype, sizes } = await file.ask("tensor", tensor);
  const elements = numbers(data, dtype);
  if (!elements) return h("p", { class: "note" }, `${dtype}: these elements are no numbers`);
  let [finite, least, most, sum] = [0, Infinity, -Infinity, 0];
  await each(elements, (number) => {
    finite++;
    least = Math.min(least, number);
    most = Math.max(most, number);
    sum += number;
  });
  if (finite === 0) return h("p", { class: "note" }, `${dtype}: no finite numbers`);
  const bars = new Array<number>(BARS).fill(0);
  const width = (most - least) / BARS || 1;
  await each(elements, (number) => bars[Math.min(Math.floor((number - least) / width), BARS - 1)]!++);
  const y = scaleLinear([0, Math.max(...bars)], [0, HEIGHT]);
  const short = (number: number) => Number(number.toPrecision(4)).toString();
  const text = `${count(elements.length)} elements, from ${short(least)} to ${short(most)}, mean ${short(sum / finite)}`;
  const picture = h(
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
  return h("div", {}, picture, listed(elements, sizes));
}

/** Returns the elements as text. A line has the index of its first element; a button adds more lines. */
function listed(elements: Numbers, sizes: number[]): HTMLElement {
  const lines = h("pre", { class: "elements", role: "region", tabindex: 0, "aria-label": "Elements" });
  let next = 0;
  const add = () => {
    for (let line = 0; line < LINES && next < elements.length; line++) {
      let [rest, index] = [next, ""];
      for (const size of [...sizes].reverse()) {
        index = index ? `${rest % size}, ${index}` : `${rest % size}`;
        rest = Math.floor(rest / size);
      }
      const row = sizes.at(-1) ?? 1;
      const end = Math.min(next + PER_LINE, next - (next % row) + row);
      const texts = [];
      for (; next < end; next++) texts.push(elements.text(next));
      lines.append(`[${index}]  ${texts.join("  ")}\n`);
    }
    more.hidden = next >= elements.length;
  };
  const more = h("button", { type: "button", click: add }, "More elements");
  add();
  return h("details", {}, h("summary", {}, "Elements"), lines, more);
}

type Numbers = { length: number; at: (nth: number) => number; text: (nth: number) => string };

/** Returns elements as numbers; `undefined` if JavaScript has no such numbers. */
function numbers(data: Elements, dtype: string): Numbers | undefined {
  if (dtype.slice(1) === "f2") {
    const halves = new Uint16Array(data.buffer, data.byteOffset, data.byteLength / 2);
    const at = (nth: number) => half(halves[nth]!);
    return { length: halves.length, at, text: (nth) => String(Number(at(nth).toPrecision(4))) };
  }
  if (Number(dtype.slice(2)) !== data.BYTES_PER_ELEMENT) return undefined;
  const at = (nth: number) => Number(data[nth]);
  // Seven digits are what four bytes hold. Integers of eight bytes are written in full.
  const text = (nth: number) => (dtype.slice(1) === "f4" ? String(Number(at(nth).toPrecision(7))) : String(data[nth]));
  return { length: data.length, at, text };
}

/** Returns the number that 16 bits are as IEEE 754 binary16. */
function half(bits: number): number {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const size = exponent === 31 ? (fraction ? NaN : Infinity) : exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction / 2 ** 24;
  return bits >> 15 ? -size : size;
}

/** Passes all finite numbers to `take`. The page answers its reader meanwhile. */
async function each({ length, at }: Numbers, take: (number: number) => void): Promise<void> {
  for (let nth = 0; nth < length; nth++) {
    const number = at(nth);
    if (Number.isFinite(number)) take(number);
    if (nth % CHUNK === CHUNK - 1) await new Promise((done) => setTimeout(done));
  }
}

/** The elements that are read in a moment. */
const CHUNK = 1 << 20;
