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
    await page.goto(`${base}/sessions/${session}?from=1#turns`);
    await page.getByLabel("Token").fill("a guess");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("That is not the token.").waitFor();
    assert.equal(await page.locator("[name=next]").inputValue(), `/sessions/${session}?from=1#turns`);
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
  async "keys pressed while a page loads are not lost"() {
    await page.goto(`${base}/sessions/${session}/turns/1`);
    const last = Number(await page.evaluate(() => document.body.dataset.lastTurn));
    // The answers are slow, so that all but the first key come while a page loads.
    await page.route("**/turns/**", async (route) => {
      await new Promise((done) => setTimeout(done, 150));
      await route.continue();
    });
    for (let n = 1; n < last; n++) await page.keyboard.press("j");
    await page.waitForURL(new RegExp(`/turns/${last}$`));
    assert.equal(await page.locator("h1").innerText(), `Turn ${last}`);
    for (const key of ["k", "k", "p", "u", "k"]) await page.keyboard.press(key);
    await page.waitForURL(new RegExp(`/turns/${last - 3}$`));
    await page.locator("h1", { hasText: `Turn ${last - 3}` }).waitFor();
    await page.unroute("**/turns/**");
  },
  async "steps leave no trace, so that Back leaves the session"() {
    await page.goto(`${base}/sessions`);
    await page.goto(`${base}/sessions/${session}/turns/1`);
    for (const key of ["j", "j", "k"]) await page.keyboard.press(key);
    await page.waitForURL(/\/turns\/2$/);
    await page.locator("[data-next]").click();
    await page.waitForURL(/\/turns\/3$/);
    await page.goBack();
    assert.match(page.url(), /\/sessions$/);
  },
  async "a turn seen before is not sent again"() {
    const path = `/sessions/${session}/turns/1`;
    await page.goto(`${base}${path}`);
    const tag = (await context.request.get(`${base}${path}`)).headers().etag;
    const again = await context.request.get(`${base}${path}`, { headers: { "if-none-match": tag } });
    assert.equal(again.status(), 304);
    assert.match(again.headers()["cache-control"], /^private/);
    const stranger = await (await browser.newContext()).request.get(`${base}${path}`, { headers: { "if-none-match": tag } });
    assert.equal(stranger.status(), 401);
  },
  async "every key leads where it says"() {
    const go = async (keys, place) => {
      for (const key of keys) await page.keyboard.press(key);
      await page.waitForURL(place);
    };
    await page.goto(`${base}/sessions/${session}/turns/1`);
    const first = await page.evaluate(() => document.body.dataset.turn);
    await go(["G"], new RegExp(`/turns/${await page.evaluate(() => document.body.dataset.lastTurn)}$`));
    await go(["g", "g"], new RegExp(`/turns/${first}$`));
    await go(["."], /\/turns\/\d+#call-/);
    await go(["]"], /\/prompt$/);
    await go(["]"], /\/diff$/);
    await go(["[", "["], /\/turns\/\d+$/);
    await go(["r"], /\/records$/);
    await go(["u"], /\/turns\/\d+$/);
    await go(["g", "g", "t"], /\/turns\/\d+$/);
    await page.locator(".tool[aria-current]").waitFor();
    await page.keyboard.press(":");
    await page.keyboard.type("2");
    await go(["Enter"], /\/turns\/2$/);
    await page.locator("main details").first().waitFor();
    await page.keyboard.press("O");
    await page.waitForFunction(() => [...document.querySelectorAll("main details")].every((details) => !details.open)
      || [...document.querySelectorAll("main details")].every((details) => details.open));
    await page.keyboard.press("?");
    const help = await page.locator("#help-keys").innerText();
    for (const key of ["j", "K", "t", "m", "g g", ":", "[", "Y", "n", "Ctrl+K", "?"]) assert.ok(help.split("\n").includes(key), key);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.locator("#palette[open] input").fill("3");
    await page.locator("#places a", { hasText: "Turn 3" }).waitFor();
    await picture();
    await go(["Enter"], /\/turns\/3$/);
  },
  async "keys write in fields and do nothing else there"() {
    const before = page.url();
    await page.keyboard.press(":");
    await page.keyboard.type("jkeu");
    assert.equal(page.url(), before);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.press("Escape");
  },
  async "hits of a search are walked"() {
    await page.goto(`${base}/sessions/${session}?q=the`);
    const hits = await page.locator("article.turn").count();
    assert.ok(hits > 1);
    assert.equal(await page.locator("#window").innerText(), `${hits} turns with a hit`);
    assert.match(await page.locator("mark").first().innerText(), /^the$/i);
    await page.keyboard.press("n");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/turns\/\d+\?q=the$/);
    const from = page.url();
    await page.keyboard.press("n");
    await page.waitForFunction((url) => location.href !== url, from);
    assert.match(await page.locator(".hits").innerText(), /hit 2 of \d+/);
    await page.keyboard.press("N");
    await page.waitForURL(from);
  },
  async "the records of the first and the last turn are a key away"() {
    await page.goto(`${base}/sessions/${session}/turns/1/records`);
    const last = Number((await page.locator("[data-last]").getAttribute("href")).match(/turns\/(\d+)/)[1]);
    await page.keyboard.press("G");
    await page.waitForURL(new RegExp(`/turns/${last}/records$`));
    for (const key of ["g", "g"]) await page.keyboard.press(key);
    await page.waitForURL(/\/turns\/1\/records$/);
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
