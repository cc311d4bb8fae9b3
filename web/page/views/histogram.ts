// The elements of a tensor as a histogram.

import { scaleLinear } from "d3-scale";
import { count, h, s } from "../dom.js";
import type { Opened } from "../engine.js";

const BARS = 40;
const [WIDTH, HEIGHT] = [260, 90];

export async function histogram(file: Opened, tensor: string): Promise<HTMLElement> {
  const { data, dtype, sizes } = await file.ask("tensor", tensor);
  const numbers = Array.from(data as ArrayLike<number | bigint>, Number).filter(Number.isFinite);
  if (numbers.length === 0) return h("p", { class: "note" }, `${dtype}: no finite numbers`);
  let [least, most, sum] = [Infinity, -Infinity, 0];
  for (const number of numbers) {
    least = Math.min(least, number);
    most = Math.max(most, number);
    sum += number;
  }
  const bars = new Array<number>(BARS).fill(0);
  const width = (most - least) / BARS || 1;
  for (const number of numbers) bars[Math.min(Math.floor((number - least) / width), BARS - 1)]!++;
  const y = scaleLinear([0, Math.max(...bars)], [0, HEIGHT]);
  const short = (number: number) => Number(number.toPrecision(4)).toString();
  const text = `${count(data.length)} elements, from ${short(least)} to ${short(most)}, mean ${short(sum / numbers.length)}`;
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
