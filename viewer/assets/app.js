// Makes the pages quicker to use: keys, steps without a new page, lazy parts. Everything works without it too.
"use strict";
document.documentElement.classList.add("scripted");

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const store = {
  get: (key) => { try { return localStorage.getItem(key); } catch { return null; } },
  set: (key, value) => { try { localStorage.setItem(key, value); } catch { /* it lasts for this page only */ } },
};
const facts = document.body.dataset;
const page = facts.page;
const isTurn = page === "turn";

/** Fetches a page of this server and returns it as a document. */
async function fetchPage(url) {
  const answer = await fetch(url, { headers: { accept: "text/html" } });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

function say(words) {
  const pill = $("#pill");
  pill.textContent = words;
  pill.hidden = false;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { if (pill.textContent === words) pill.hidden = true; }, 1600);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
  } catch {
    say("The browser does not let this page copy");
  }
}

// Colours: as the system, light, dark.
const themes = ["auto", "light", "dark"];
function showTheme() {
  const theme = themes.includes(store.get("theme")) ? store.get("theme") : "auto";
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  $("[data-theme-button]").textContent = theme[0].toUpperCase() + theme.slice(1);
  return theme;
}
function nextTheme() {
  store.set("theme", themes[(themes.indexOf(showTheme()) + 1) % themes.length]);
  showTheme();
}

// What is folded is fetched when it is opened for the first time.
async function load(details) {
  const url = details.dataset.load;
  if (!url) return;
  delete details.dataset.load;
  const place = details.lastElementChild;
  try {
    const wanted = details.dataset.part;
    const other = await fetchPage(wanted ? url : `${url}?fragment=1`);
    const nodes = wanted ? [$(`#${wanted}`, other)] : [...other.body.childNodes];
    place.before(...nodes.filter(Boolean).map((node) => document.adoptNode(node)));
  } catch (error) {
    details.dataset.load = url;
    place.before(Object.assign(document.createElement("p"), { className: "alert", textContent: error.message }));
  }
}

// Children of a session are listed below it.
async function expand(link) {
  const row = link.closest("tr");
  if (row.dataset.expanded) {
    for (let next = row.nextElementSibling; next?.classList.contains("child"); next = row.nextElementSibling) next.remove();
    delete row.dataset.expanded;
    return;
  }
  row.dataset.expanded = "1";
  const rows = $$("#rows tbody tr", await fetchPage(link.href));
  for (const child of rows) child.classList.add("child");
  row.after(...rows.map((child) => document.adoptNode(child)));
}

// Rows of a list and blocks of a turn can be walked.
let chosen = null;
function choose(one) {
  chosen?.removeAttribute("aria-current");
  chosen = one ?? null;
  if (!chosen) return;
  chosen.setAttribute("aria-current", "true");
  const box = chosen.getBoundingClientRect();
  if (box.top < 100 || box.bottom > innerHeight) chosen.scrollIntoView({ block: box.top < 100 || box.height > innerHeight ? "start" : "end" });
}
const ofHash = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));
function walk(step) {
  const rows = $$("[data-row]");
  if (rows.length === 0) return click(step > 0 ? "[data-next]" : "[data-before]");
  const at = rows.indexOf(chosen);
  if (at < 0) choose(rows.includes(ofHash()) ? ofHash() : rows.find((row) => row.getBoundingClientRect().top >= 60) ?? rows[0]);
  else if (rows[at + step]) choose(rows[at + step]);
  else click(step > 0 ? "[data-next]" : "[data-before]");
}
function walkTo(step, selector, words) {
  const rows = $$("[data-row]");
  const from = rows.indexOf(chosen);
  const order = step > 0 ? rows.slice(from + 1) : rows.slice(0, Math.max(from, 0)).reverse();
  const next = order.find((row) => row.matches(selector) || $(selector, row));
  if (next) choose(next);
  else say(`No ${words} ${step > 0 ? "after" : "before"} this on this page`);
}
async function nextTool() {
  const tools = $$(".tool");
  const next = tools[tools.indexOf(chosen) + 1];
  if (next) return choose(next);
  if (!$("[data-tool-next]")) return say("No tool call after this");
  await click("[data-tool-next]");
  choose($(".tool"));
}
const block = () => chosen ?? ofHash()?.closest(".block") ?? $(".block");
const blockText = (from) => $$("pre, dd > code", from).map((text) => text.textContent).join("\n");
function foldOne() {
  const link = chosen && $("[data-expand]", chosen);
  if (link) return link.click();
  const seen = (details) => details.getBoundingClientRect().top >= 60;
  const one = document.activeElement.closest("details") ?? (chosen && (chosen.closest("details") ?? $("details", chosen))) ?? $$("main details").find(seen);
  if (one) one.open = !one.open;
}
function foldAll() {
  const all = $$("main details");
  const open = !all.some((details) => details.open);
  for (const details of all.slice(0, 200)) details.open = open;
}

// Going somewhere. Between turns only the content changes, and the address takes the place of the one before, so
// that Back leaves the session. A page that grows is always loaded whole.
let leaving = 0;
function leave(url, replaces) {
  leaving = Date.now();
  if (replaces) location.replace(url);
  else location.assign(url);
}
async function showTurn(url) {
  const number = url.match(/\/turns\/(\d+)/)?.[1];
  if (number) $("[data-goto] input").value = number;
  const other = facts.live ? null : await fetchPage(url).catch(() => null);
  // What is no turn, an error say, the browser shows itself.
  if (other?.body.dataset.page !== "turn" || other.body.dataset.live) return leave(url, true);
  for (const name of ["turn", "lastTurn"]) facts[name] = other.body.dataset[name];
  for (const place of ["main", ".crumbs"]) $(place).replaceChildren(...$(place, other).childNodes);
  document.title = other.title;
  choose(null);
  history.replaceState(null, "", url);
  const hash = new URL(url, location.href).hash;
  if (hash) location.replace(hash);
  else scrollTo(0, 0);
}
/** Follows the first such link; false when there is none. */
function click(selector) {
  const link = $(selector);
  if (!link) return false;
  if (isTurn && /\/turns\/\d+$/.test(link.pathname)) return showTurn(link.href);
  leaving = Date.now();
  link.click();
  return true;
}
const turnAddress = (number) => {
  const words = new URLSearchParams(location.search).get("q");
  return `${facts.session}/turns/${number}${words ? `?q=${encodeURIComponent(words)}` : ""}`;
};
/** Goes by as many turns as the key has been pressed while the page was loading. */
function stepBy(step, key) {
  const from = Number(facts.turn);
  let to = from + step;
  for (; queue[0] === key; queue.shift()) to += step;
  to = Math.min(Math.max(to, 1), Number(facts.lastTurn));
  if (to !== from) return showTurn(turnAddress(to));
  say(step > 0 ? "This is the last turn" : "This is the first turn");
}
async function firstError() {
  if (click("[data-first-error]") || !facts.session) return;
  const link = $("[data-first-error]", await fetchPage(facts.session));
  if (!link) return say("No error in this session");
  const url = link.getAttribute("href");
  await (isTurn ? showTurn(url) : leave(url));
}
function tab(step) {
  const tabs = $$("[data-tab]");
  const next = tabs[tabs.findIndex((link) => link.ariaCurrent) + step];
  if (next) leave(next.href);
}

const to = (selector, words) => () => click(selector) || say(words);
const either = (turn, list) => () => (isTurn ? turn() : list());
const searching = () => $("[data-search]")?.value;
// The key, what it does, how, and when it is ours at all.
const keys = [
  ["j", "next turn or row", either(() => stepBy(1, "j"), () => walk(1))],
  ["k", "turn or row before", either(() => stepBy(-1, "k"), () => walk(-1))],
  ["ArrowRight", "next turn", () => stepBy(1, "ArrowRight"), () => isTurn],
  ["ArrowLeft", "turn before", () => stepBy(-1, "ArrowLeft"), () => isTurn],
  ["Enter", "open the chosen row", () => ($("[data-open]", chosen) ?? $("a", chosen))?.click(), () => chosen && !isTurn],
  ["e", "next error", either(to("[data-error-next]", "No error after this turn"), () => walkTo(1, ".err, .errs", "error"))],
  ["E", "error before", either(to("[data-error-before]", "No error before this turn"), () => walkTo(-1, ".err, .errs", "error"))],
  [".", "first error of the session", firstError],
  ["J", "next request of the user", to("[data-request-next]", "No request after this turn")],
  ["K", "request before", to("[data-request-before]", "No request before this turn")],
  ["t", "next tool call", either(nextTool, () => walkTo(1, ".calls", "tool call"))],
  ["m", "next compaction, in a turn", to("[data-compaction-next]", "No compaction after this turn")],
  ["gg", "first turn, or the top", () => click("[data-first]") || scrollTo(0, 0)],
  ["G", "last turn, or the end", () => click("[data-last]:not(div)") || scrollTo(0, document.body.scrollHeight)],
  [":", "go to a turn", () => { if ($("[data-goto]")) $("[data-goto] input").select(); else openPalette(); }],
  ["[", "view before: turn, prompt, diff, raw", () => tab(-1)],
  ["]", "next view", () => tab(1)],
  ["d", "what changed in the prompt", to("[data-diff]", "Only a turn has a diff")],
  ["p", "the whole prompt", to("[data-prompt]", "Only a turn has a prompt")],
  ["r", "records as they came", to("[data-records]", "Only a turn has records")],
  ["o", "fold or unfold one", foldOne],
  ["O", "fold or unfold all", foldAll],
  ["u", "up: to the session, to the list", to("[data-up]", "There is nothing above")],
  ["f", "follow a running session", () => toggleFollowing()],
  ["y", "copy the link", () => copy(chosen?.id ? `${location.href.split("#")[0]}#${chosen.id}` : location.href)],
  ["Y", "copy the block", () => (block() ? copy(blockText(block())) : say("There is no block to copy"))],
  ["/", "search; in a turn: in its session", () => {
    if ($("[data-search]")) $("[data-search]").select();
    else leave(facts.session ? `${facts.session}#search` : "/sessions");
  }],
  ["n", "next hit of a search", () => (searching() ? walk(1) : click("[data-hit-next]") || say("No hit after this"))],
  ["N", "hit before", () => (searching() ? walk(-1) : click("[data-hit-before]") || say("No hit before this"))],
  ["Ctrl+K", "go to a session, turn or page by its name", () => openPalette()],
  ["?", "this help", () => $("#help").showModal()],
];
const actions = new Map(keys.map(([key, , action, isOurs]) => [key, { action, isOurs }]));
const inList = () => chosen && !isTurn;
actions.set("ArrowDown", { action: () => walk(1), isOurs: inList }).set("ArrowUp", { action: () => walk(-1), isOurs: inList });

// Keys are obeyed one after the other. Those pressed while a page goes are left to the next one.
const queue = [];
let busy = false;
function press(key) {
  queue.push(key);
  // When the page has not gone after a while, it will not go.
  if (leaving && Date.now() - leaving > 3000) leaving = 0;
  if (leaving) hand(queue.splice(0));
  else if (!busy) obey();
}
async function obey() {
  busy = true;
  while (queue.length > 0 && !leaving) {
    const next = queue.shift();
    try {
      await (typeof next === "function" ? next() : actions.get(next).action());
    } catch (error) {
      say(error.message);
    }
  }
  busy = false;
  if (leaving) hand(queue.splice(0));
}
function hand(pressed) {
  try {
    const before = JSON.parse(sessionStorage.getItem("keys"))?.pressed ?? [];
    const all = [...before, ...pressed.filter((key) => typeof key === "string")];
    if (all.length > 0) sessionStorage.setItem("keys", JSON.stringify({ at: Date.now(), pressed: all }));
  } catch { /* without storage they are lost */ }
}
function takeHanded() {
  try {
    const { at, pressed } = JSON.parse(sessionStorage.getItem("keys")) ?? {};
    sessionStorage.removeItem("keys");
    return Date.now() - at < 5000 ? pressed.filter((key) => actions.has(key)) : [];
  } catch {
    return [];
  }
}

let pending = "";
function onKey(event) {
  if (event.isComposing) return;
  const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
  if (!isPalette && (event.ctrlKey || event.metaKey || event.altKey)) return;
  const target = event.target;
  if (!isPalette && target.closest("input, select, textarea, dialog, [contenteditable]")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  if (event.key === "Enter" && target.closest("a, button, summary")) return;
  const key = isPalette ? "Ctrl+K" : pending + event.key;
  pending = "";
  if (key === "g") {
    pending = "g";
    setTimeout(() => { pending = ""; }, 800);
    return;
  }
  const ours = actions.has(key) ? key : event.key;
  const { isOurs } = actions.get(ours) ?? { isOurs: () => false };
  if (isOurs && !isOurs()) return;
  event.preventDefault();
  press(ours);
}

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-key], [data-copy], [data-theme-button], [data-expand], [data-replace], .stepper a");
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const { key, copy: copied, replace } = target.dataset;
  if (!key && !copied) event.preventDefault();
  if (key) {
    if (target.closest(".block")) choose(target.closest(".block"));
    press(key);
  } else if (copied) copy($(`#${copied}`).textContent);
  else if (replace) fetchPage(target.href).then((other) => $(`#${replace}`).replaceChildren(...other.body.childNodes), (error) => say(error.message));
  else if ("expand" in target.dataset) expand(target).catch((error) => say(error.message));
  else if (target.matches("a")) press(() => showTurn(target.href));
  else nextTheme();
});
document.addEventListener("toggle", (event) => { if (event.target.open) load(event.target); }, true);
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-goto]")) return;
  event.preventDefault();
  const field = $("input", event.target);
  const number = field.value.trim();
  if (!/^\d+$/.test(number)) return say("That is no turn number");
  field.blur();
  press(() => showTurn(turnAddress(number)));
});

showTheme();
if (location.hash === "#search") $("[data-search]")?.focus();
// Only the browser knows the place within the page that was asked for.
if (page === "login") $("[name=next]").value += location.hash;
addEventListener("pageshow", () => { leaving = 0; });
addEventListener("beforeunload", () => { leaving = Date.now(); });
// When all scripts are there, first the keys that the page before handed over, then those that came early.
addEventListener("DOMContentLoaded", () => {
  document.addEventListener("keydown", onKey);
  takeHanded().forEach(press);
  const early = globalThis.earlyKeys;
  globalThis.earlyKeys = null;
  early.forEach(onKey);
});
