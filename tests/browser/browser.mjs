// Starts the installed Chromium for the browser tests; none is ever downloaded.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

// Nothing but the pages under test may use the network.
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Returns the path of the browser to use: CHROMIUM, or else the first known name on the PATH. */
function executablePath() {
  if (process.env.CHROMIUM) {
    return process.env.CHROMIUM;
  }
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = candidates.find(isExecutable);
  if (found === undefined) {
    throw new Error(`no browser found: install Chromium or set CHROMIUM (looked for ${names.join(", ")})`);
  }
  return found;
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts a headless browser with a new, empty profile. The caller closes it. */
export function launch() {
  return chromium.launch({ executablePath: executablePath(), headless: true, args });
}
