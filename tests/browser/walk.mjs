// Walks through the pages as an engineer with a bug report would, and fails on the first thing that is not
// as it should be:
//
//   node walk.mjs LINK SESSION FILE
//
// LINK lets the browser in; SESSION is the demo's broken session; FILE is the session file of `s-web`, whose
// text is hostile: it is appended to while its page is open. Pictures go to $PICTURES when it is set.
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "./browser.mjs";

const [link, session, file, more] = process.argv.slice(2);
const base = new URL(link).origin;
const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
const complaints = [];
page.on("console", (message) => message.type() === "error" && complaints.push(`console: ${message.text()}`));
page.on("pageerror", (error) => complaints.push(`script: ${error.message}`));
page.on("dialog", (dialog) => complaints.push(`a dialog opened: ${dialog.message()}`));
page.on("request", (request) => {
  const url = request.url();
  if (url.startsWith("http") && !url.startsWith(base)) complaints.push(`request to another host: ${url}`);
});

let pictures = 0;
async function picture() {
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `${++pictures}.png`), fullPage: true });
}

const steps = {
  async "nobody gets in without the link"() {
    const answer = await page.goto(`${base}/sessions`);
    assert.equal(answer.status(), 401);
    complaints.length = 0;
  },
  async "the link lets in once"() {
    await page.goto(link);
    assert.match(page.url(), /\/sessions$/);
    const second = await (await browser.newContext()).newPage();
    const answer = await second.goto(link);
    assert.notEqual(answer.status(), 200);
    await second.close();
  },
  async "the list shows the failing session, and filters find it"() {
    assert.ok((await page.locator("#rows tbody tr").count()) >= 3);
    await picture();
    await page.locator('input[name="errors"]').check();
    await page.getByRole("button", { name: "Filter" }).click();
    assert.match(page.url(), /errors=1/);
    await page.locator(`a.title[title="${session}"]`).click();
  },
  async "the session page names the first error and leads to it"() {
    const first = page.locator(".first-error a");
    assert.match(await first.innerText(), /First error: turn \d+/);
    await picture();
    const turn = (await first.innerText()).match(/turn (\d+)/)[1];
    await first.click();
    assert.match(page.url(), new RegExp(`/turns/${turn}`));
  },
  async "the turn page shows the prompt by parts and the failed tool"() {
    await page.locator(".fid").getByText("exact", { exact: false }).first().waitFor();
    await picture();
    const text = await page.locator("main").innerText();
    assert.match(text, /What was sent/);
    assert.match(text, /What came back/);
    assert.match(text, /memory/i);
    assert.match(text, /failed/);
    const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(nodes < 2000, `${nodes} nodes`);
  },
  async "keys step between turns and open the help"() {
    const at = Number(page.url().match(/turns\/(\d+)/)[1]);
    await page.keyboard.press("j");
    await page.waitForURL(new RegExp(`/turns/${at + 1}(#.*)?$`));
    await page.keyboard.press("k");
    await page.waitForURL(new RegExp(`/turns/${at}(#.*)?$`));
    await page.keyboard.press("?");
    await page.locator("dialog[open]").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("d");
    await page.waitForURL(/\/diff/);
    await picture();
    assert.match(await page.locator("main").innerText(), /unchanged/);
    await page.keyboard.press("u");
  },
  async "hostile text stays text"() {
    await page.goto(`${base}/sessions/s-web/turns/1`);
    const text = await page.locator("main").innerText();
    assert.match(text, /<script>alert\(1\)<\/script>/);
    assert.equal(await page.locator("img[src*=evil]").count(), 0);
  },
  async "a session that goes on is followed"() {
    await page.goto(`${base}/sessions/s-web`);
    const before = await page.locator("article.turn").count();
    appendFileSync(file, more);
    await page.waitForFunction((count) => document.querySelectorAll("article.turn").length > count, before, { timeout: 10_000 });
  },
  async "nothing complained"() {
    assert.deepEqual(complaints, []);
  },
};

try {
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step();
    } catch (error) {
      await picture();
      throw new Error(`${name}: ${error.message} (at ${page.url()})`, { cause: error });
    }
    console.log(`ok ${name}`);
  }
} finally {
  await browser.close();
}
