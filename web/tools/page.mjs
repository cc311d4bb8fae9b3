// Builds the page: site/, static files. PTE_PAGE_CONNECT lists further origins that ?url= may read from.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { build } from "esbuild";

const at = (path) => new URL(`../${path}`, import.meta.url);
const site = at("site/");
rmSync(site, { recursive: true, force: true });
mkdirSync(site);

// The releases are those of the library: `Facts::new((1, 5), "1.5.1")`.
const releases = [...readFileSync(at("../src/core/release.rs"), "utf8").matchAll(/Facts::new\(\((\d+), (\d+)\)/g)].map(
  ([, major, minor]) => `${major}.${minor}`,
);

execFileSync("node", ["node_modules/typescript/bin/tsc", "-p", "page"], { cwd: at(""), stdio: "inherit" });
await build({
  entryPoints: ["main", "worker"].map((name) => at(`page/${name}.ts`).pathname),
  outdir: site.pathname,
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "linked",
  define: { RELEASES: JSON.stringify(releases) },
  logLevel: "warning",
});
const connect = (process.env.PTE_PAGE_CONNECT ?? "").split(/\s+/).filter(Boolean);
if (!connect.every((origin) => /^https:\/\/[\w.-]+$/.test(origin))) throw new Error("PTE_PAGE_CONNECT: not origins");
const html = readFileSync(at("page/index.html"), "utf8").replace("'self'CONNECT", ["'self'", ...connect].join(" "));
writeFileSync(new URL("index.html", site), html);
for (const name of ["page.css", "icon.svg"]) copyFileSync(at(`page/${name}`), new URL(name, site));
copyFileSync(at("dist/pte.wasm"), new URL("pte.wasm", site));
copyFileSync(at("node_modules/elkjs/lib/elk-worker.min.js"), new URL("elk-worker.js", site));
