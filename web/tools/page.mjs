// Builds the page: site/, static files, and src/cli/map/page/page.html, the page in one file that the command has.
// PTE_PAGE_CONNECT lists further origins that ?url= may read from.

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { build } from "esbuild";

const at = (path) => new URL(`../${path}`, import.meta.url);
const text = (path) => readFileSync(at(path), "utf8");

// The releases are those of the library: `Facts::new((1, 5), "1.5.1")`.
const releases = [...text("../src/core/release.rs").matchAll(/Facts::new\(\((\d+), (\d+)\)/g)].map(
  ([, major, minor]) => `${major}.${minor}`,
);
const options = {
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  define: { RELEASES: JSON.stringify(releases) },
  logLevel: "warning",
};

/** Makes the page in one file. Its policy allows its script and its style by their digests. */
async function file() {
  const made = async (name) => {
    // Comments in the script could end it; the notices of licences are in the file of the site.
    const more = { outdir: "/", write: false, legalComments: "none", charset: "ascii" };
    const { outputFiles } = await build({ ...options, ...more, entryPoints: [at(`page/${name}`).pathname] });
    // Text of files is never control characters, and so the whole page has none.
    const escaped = (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
    return outputFiles[0].text.trim().replace(/[^\n\P{Cc}]/gu, escaped);
  };
  const [style, script] = [await made("page.css"), await made("file.ts")];
  if (/<\/|<!--/.test(style) || /<\/script|<!--/i.test(script)) throw new Error("the script would end early");
  const digest = (of) => `sha256-${createHash("sha256").update(of).digest("base64")}`;
  const parts = { SCRIPT: digest(script), STYLE: digest(style) };
  return text("page/file.html")
    .replace(/'(SCRIPT|STYLE)'/g, (_, name) => `'${parts[name]}'`)
    .replace("<style>", () => `<style>${style}`)
    .replace('<script type="module">', () => `<script type="module">${script}`);
}

const own = at("../src/cli/map/page/page.html");
if (process.argv[2] === "--check") {
  if ((await file()) !== readFileSync(own, "utf8")) throw new Error("src/cli/map/page/page.html: npm run build:page");
} else {
  execFileSync("node", ["node_modules/typescript/bin/tsc", "-p", "page"], { cwd: at(""), stdio: "inherit" });
  mkdirSync(new URL(".", own), { recursive: true });
  writeFileSync(own, await file());
  await site();
}

async function site() {
  const folder = at("site/");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  await build({
    ...options,
    entryPoints: ["main.ts", "worker.ts", "page.css"].map((name) => at(`page/${name}`).pathname),
    outdir: folder.pathname,
    splitting: true,
    legalComments: "linked",
  });
  const connect = (process.env.PTE_PAGE_CONNECT ?? "").split(/\s+/).filter(Boolean);
  if (!connect.every((origin) => /^https:\/\/[\w.-]+$/.test(origin))) throw new Error("PTE_PAGE_CONNECT: not origins");
  const html = text("page/index.html").replace("'self'CONNECT", ["'self'", ...connect].join(" "));
  writeFileSync(new URL("index.html", folder), html);
  copyFileSync(at("page/icon.svg"), new URL("icon.svg", folder));
  copyFileSync(at("dist/pte.wasm"), new URL("pte.wasm", folder));
}
