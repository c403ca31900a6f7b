// Opens pages as a person would, and keeps a picture of each:
//
//   node open.mjs --out FOLDER [--size 1280x800] [--dark] [--audit] LINK [PATH...]
//
// LINK is opened first, so that a one-time link can let the browser in; each PATH is then opened in
// the same window, and FOLDER gets 1.png, 2.png ... in the order of the paths (only LINK's page where
// there is no path). For each page one JSON line goes to stdout: path, status, title, picture, what
// went wrong in it (console errors, failed requests, requests to other hosts; LINK's count to the
// first path), the number of its nodes and, with --audit, what axe finds hard to use.
// Exits with 1 if a page could not be opened; a page with a bad status is opened all the same.
import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { launch } from "./browser.mjs";

const loadTimeoutMs = 15_000;

function settings() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      out: { type: "string" },
      size: { type: "string", default: "1280x800" },
      dark: { type: "boolean", default: false },
      audit: { type: "boolean", default: false },
    },
  });
  const size = /^(\d+)x(\d+)$/.exec(values.size);
  if (values.out === undefined || positionals.length === 0 || size === null) {
    throw new Error("usage: open.mjs --out FOLDER [--size WIDTHxHEIGHT] [--dark] [--audit] LINK [PATH...]");
  }
  const [link, ...paths] = positionals;
  const viewport = { width: Number(size[1]), height: Number(size[2]) };
  return { link, paths, viewport, out: values.out, dark: values.dark, audit: values.audit };
}

/** Collects what goes wrong in the page from now on; `take` returns it and starts anew. */
function watchComplaints(page, host) {
  let complaints = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`script: ${error.message}`));
  page.on("requestfailed", (request) => {
    complaints.push(`request failed: ${request.url()} (${request.failure()?.errorText})`);
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    const leavesHost = url.protocol.startsWith("http") && url.host !== host;
    if (leavesHost) complaints.push(`request to another host: ${request.url()}`);
  });
  const take = () => {
    const taken = complaints;
    complaints = [];
    return taken;
  };
  return { take };
}

/** Returns what axe finds, one line for each rule with the first place it is broken at. */
async function auditFindings(page) {
  const { source } = createRequire(import.meta.url)("axe-core");
  // Evaluated by the debugger's door: the page's own content policy forbids a script from elsewhere.
  await page.evaluate(source);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes[0].target.join(" ")}`);
}

async function openPage(page, url, picture, audit) {
  // A live page keeps its connection open, so that there is no waiting for a silent network.
  const response = await page.goto(url, { waitUntil: "load", timeout: loadTimeoutMs });
  await page.screenshot({ path: picture });
  const report = {
    path: new URL(page.url()).pathname,
    status: response?.status() ?? null,
    title: await page.title(),
    picture,
    nodes: await page.evaluate(() => document.querySelectorAll("*").length),
  };
  if (audit) report.audit = await auditFindings(page);
  return report;
}

async function main() {
  const { link, paths, viewport, out, dark, audit } = settings();
  mkdirSync(out, { recursive: true });
  const browser = await launch();
  try {
    const context = await browser.newContext({ viewport, colorScheme: dark ? "dark" : "light" });
    const page = await context.newPage();
    const complaints = watchComplaints(page, new URL(link).host);
    if (paths.length > 0) await page.goto(link, { waitUntil: "load", timeout: loadTimeoutMs });
    const urls = paths.length > 0 ? paths.map((path) => new URL(path, link).href) : [link];
    for (const [index, url] of urls.entries()) {
      const report = await openPage(page, url, join(out, `${index + 1}.png`), audit);
      console.log(JSON.stringify({ ...report, complaints: complaints.take() }));
    }
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(`open.mjs: ${error.message}`);
  process.exitCode = 1;
});
