// The page of a site: files are dropped or chosen, and a worker reads and judges them.

import { at, main, open } from "./app.js";
import { h, size } from "./dom.js";
import { Engine } from "./engine.js";

const chosen = at<HTMLInputElement>("chosen");
const engine = new Engine(working);

function openFiles(inputs: (File | string)[]): void {
  if (inputs.length === 0) return;
  const url = (input: string) => new URL(input, location.href).href;
  const files = async () => engine.open(inputs.map((input) => (typeof input === "string" ? url(input) : input)));
  void open(files(), start);
}

/** Shows what is running, if it takes more than a moment. */
function working(title: string | null, read: number): void {
  const box = at("work");
  if (title === null) {
    box.hidden = true;
    delete box.dataset.title;
    return;
  }
  if (box.dataset.title === title) {
    const note = box.querySelector(".note");
    if (note && read > 0) note.textContent = `${size(read)} read`;
    return;
  }
  const isNew = box.dataset.title === undefined;
  box.dataset.title = title;
  box.replaceChildren(
    h("progress", { "aria-label": title }),
    h("span", {}, `${title}…`),
    h("span", { class: "note" }),
    h("button", { type: "button", click: () => engine.cancel() }, "Cancel"),
  );
  if (isNew)
    setTimeout(() => {
      if (box.dataset.title !== undefined) box.hidden = false;
    }, 200);
}

/** Draws the page without a file. */
function start(): void {
  at("files").replaceChildren();
  const note = (title: string, text: string) => h("div", {}, h("h2", {}, title), h("p", {}, text));
  main.replaceChildren(
    h(
      "div",
      { class: "start" },
      h("h1", {}, "Look inside an ExecuTorch model"),
      h(
        "p",
        { class: "lead" },
        "Drop a .pte, with its .ptd files, and see whether it loads, what it runs and where its bytes go.",
      ),
      h(
        "button",
        { type: "button", class: "zone", click: () => chosen.click() },
        h("strong", {}, "Drop files here"),
        h("span", {}, "or choose them: .pte, .ptd, .bpte, ETDump; two to compare"),
      ),
      h(
        "div",
        { class: "three" },
        note("Nothing leaves", "The files are read in this browser. The page's security policy allows no other host."),
        note("Judged, not run", "Every rule of the runtime, with the bytes that break it and what to do."),
        note("Large files too", "Only what is needed is read: a file of 2 GB opens at once."),
      ),
    ),
  );
}

at("choose").addEventListener("click", () => chosen.click());
chosen.addEventListener("change", () => {
  const files = [...(chosen.files ?? [])];
  chosen.value = "";
  openFiles(files);
});
for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    at("drop").hidden = !(kind === "dragover" || kind === "dragenter");
    if (kind === "drop") openFiles([...((event as DragEvent).dataTransfer?.files ?? [])]);
  });
}

start();
const urls = new URLSearchParams(location.search).getAll("url");
if (urls.length > 0) openFiles(urls);
