// Prints the time of `check` on a file, of the first run and the least of ten: node tools/timing.mjs FILE

import { open } from "../dist/index.js";

const times = [];
const file = await open(process.argv[2]);
for (let nth = 0; nth < 10; nth++) {
  const began = performance.now();
  await file.check();
  times.push(performance.now() - began);
}
console.log(`first ${times[0].toFixed(0)} ms, least ${Math.min(...times).toFixed(0)} ms`);
