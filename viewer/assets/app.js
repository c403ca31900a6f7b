// Makes the pages quicker to use: keys, lazy parts, following what goes on. Everything works without it too.
"use strict";
document.documentElement.classList.add("scripted");

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const store = {
  get: (key) => { try { return localStorage.getItem(key); } catch { return null; } },
  set: (key, value) => { try { localStorage.setItem(key, value); } catch { /* it lasts for this page only */ } },
};

/** Fetches a page of this server and returns it as a document. */
async function fetchPage(url) {
  const answer = await fetch(url, { headers: { accept: "text/html" } });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

const say = (words) => {
  const pill = $("#pill");
  pill.textContent = words;
  pill.hidden = false;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { if (pill.textContent === words) pill.hidden = true; }, 1600);
};

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
  const at = themes.indexOf(showTheme());
  store.set("theme", themes[(at + 1) % themes.length]);
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
    const page = await fetchPage(wanted ? url : `${url}?fragment=1`);
    const nodes = wanted ? [$(`#${wanted}`, page)] : [...page.body.childNodes];
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
  const page = await fetchPage(link.href);
  const rows = $$("#rows tbody tr", page);
  for (const child of rows) child.classList.add("child");
  row.after(...rows.map((child) => document.adoptNode(child)));
}

// Rows of a list can be walked.
let chosen = null;
function choose(row) {
  chosen?.removeAttribute("aria-current");
  chosen = row ?? null;
  if (!chosen) return;
  chosen.setAttribute("aria-current", "true");
  const box = chosen.getBoundingClientRect();
  if (box.top < 60 || box.bottom > innerHeight) chosen.scrollIntoView({ block: box.top < 60 ? "start" : "end" });
}
function walk(step) {
  const rows = $$("[data-row]");
  if (rows.length === 0) return;
  const at = rows.indexOf(chosen);
  if (at < 0) {
    const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    choose(rows.includes(target) ? target : rows.find((row) => row.getBoundingClientRect().top >= 60) ?? rows[0]);
  } else if (rows[at + step]) choose(rows[at + step]);
  else click(step > 0 ? "[data-next]" : "[data-before]");
}
function walkErrors(step) {
  const rows = $$("[data-row]");
  const from = rows.indexOf(chosen);
  const order = step > 0 ? rows.slice(from + 1) : rows.slice(0, Math.max(from, 0)).reverse();
  const next = order.find((row) => row.classList.contains("err") || $(".errs", row));
  if (next) choose(next);
  else say(step > 0 ? "No error after this on this page" : "No error before this on this page");
}

// Steps between turns take the place of the one before, so that Back leaves the session.
function click(selector) {
  const link = $(selector);
  if (!link) return false;
  if (page === "turn" && link.pathname.includes("/turns/")) location.replace(link.href);
  else link.click();
  return true;
}

const page = document.body.dataset.page;
const isTurn = page === "turn";
const step = (selector, words) => () => { if (!click(selector)) say(words); };
const either = (turn, list) => () => (isTurn ? turn() : list());
const keys = [
  ["j", "next turn or row", either(step("[data-next]", "This is the last turn"), () => walk(1))],
  ["k", "turn or row before", either(step("[data-before]", "This is the first turn"), () => walk(-1))],
  ["ArrowRight", "next turn", () => isTurn && click("[data-next]")],
  ["ArrowLeft", "turn before", () => isTurn && click("[data-before]")],
  ["Enter", "open the chosen row", () => (chosen ? ($("[data-open]", chosen) ?? $("a", chosen))?.click() : false)],
  ["e", "next error", either(step("[data-error-next]", "No error after this turn"), () => walkErrors(1))],
  ["E", "error before", either(step("[data-error-before]", "No error before this turn"), () => walkErrors(-1))],
  [".", "first error of the session", () => {
    if (click("[data-first-error]")) return;
    const session = document.body.dataset.session;
    if (!session) return;
    fetchPage(session).then((other) => {
      const link = $("[data-first-error]", other);
      if (link) location.assign(link.getAttribute("href"));
      else say("No error in this session");
    }, (error) => say(error.message));
  }],
  ["J", "next request of the user", step("[data-request-next]", "No request after this turn")],
  ["K", "request before", step("[data-request-before]", "No request before this turn")],
  ["gg", "first turn, or the top", () => click("[data-first]") || scrollTo(0, 0)],
  ["G", "last turn, or the end", () => click("[data-last]:not(div)") || scrollTo(0, document.body.scrollHeight)],
  [":", "go to a turn", () => $("[data-goto] input")?.select()],
  ["d", "what changed in the prompt", () => click("[data-diff]")],
  ["p", "the whole prompt", () => click("[data-prompt]")],
  ["r", "records as they came", () => click("[data-records]")],
  ["O", "fold or unfold all", () => {
    const all = $$("main details");
    const open = !all.some((details) => details.open);
    for (const details of all.slice(0, 200)) details.open = open;
  }],
  ["u", "up: to the session, to the list", () => click("[data-up]")],
  ["f", "follow a running session", () => setFollowing(!following)],
  ["y", "copy the link", () => copy(location.href)],
  ["/", "search, in a turn: in its session", () => {
    const field = $("[data-search]");
    if (field) field.select();
    else if (document.body.dataset.session) location.assign(`${document.body.dataset.session}#search`);
  }],
  ["?", "this help", () => $("#help").showModal()],
];
const actions = new Map(keys.map(([key, , action]) => [key, action]));
actions.set("ArrowDown", () => (chosen && !isTurn ? walk(1) : false));
actions.set("ArrowUp", () => (chosen && !isTurn ? walk(-1) : false));

let pending = "";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = event.target;
  if (target.closest("input, select, textarea, dialog, [contenteditable]")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  if (event.key === "Enter" && target.closest("a, button, summary")) return;
  const key = pending + event.key;
  pending = "";
  if (event.key === "g" && key === "g") {
    pending = "g";
    setTimeout(() => { pending = ""; }, 800);
    return;
  }
  const action = actions.get(key) ?? actions.get(event.key);
  if (action && action() !== false) event.preventDefault();
});

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-key], [data-copy], [data-theme-button], [data-expand], [data-replace]");
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const { key, copy: copied, replace } = target.dataset;
  if (key) actions.get(key)();
  else if (copied) copy($(`#${copied}`).textContent);
  else if (replace) {
    event.preventDefault();
    fetchPage(target.href).then((other) => $(`#${replace}`).replaceChildren(...other.body.childNodes), (error) => say(error.message));
  } else if ("expand" in target.dataset) {
    event.preventDefault();
    expand(target).catch((error) => say(error.message));
  } else nextTheme();
});
document.addEventListener("toggle", (event) => { if (event.target.open) load(event.target); }, true);
$("[data-goto]")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const number = $("[data-goto] input").value.trim();
  if (/^\d+$/.test(number)) location.replace(`${document.body.dataset.session}/turns/${number}`);
  else say("That is no turn number");
});

// Following: the page fetches itself anew when something changes. Scrolling up pauses it, the bottom resumes it.
let following = false;
let waiting = 0;
const atEnd = () => innerHeight + scrollY >= document.body.scrollHeight - 60;
const lastTurn = (root) => Number($$("#turns .turn .no", root).at(-1)?.textContent ?? 0);

function setFollowing(on) {
  if (!document.body.dataset.live) return say("This page does not change any more");
  following = on;
  $("#follow")?.setAttribute("aria-pressed", String(on));
  if (!on) return say("Following is paused; f resumes it");
  waiting = 0;
  $("#pill").hidden = true;
  refresh().then(() => scrollTo(0, document.body.scrollHeight));
}

function showWaiting() {
  const pill = $("#pill");
  const button = Object.assign(document.createElement("button"), { textContent: waiting === 1 ? "1 new turn" : `${waiting} new turns` });
  button.addEventListener("click", () => setFollowing(true));
  clearTimeout(say.timer);
  pill.replaceChildren("Following paused · ", button);
  pill.hidden = false;
}

function swap(other, id) {
  const [mine, theirs] = [document.getElementById(id), other.getElementById(id)];
  if (mine && theirs && mine.innerHTML !== theirs.innerHTML) mine.replaceWith(document.adoptNode(theirs));
}

let shownLast = 0;
async function refresh() {
  if (page === "sessions") {
    if (chosen || scrollY > 200 || $("tr.child")) return;
    const other = await fetchPage(location.href);
    swap(other, "rows");
    swap(other, "count");
    return;
  }
  if (page === "turn") {
    const other = await fetchPage(location.href);
    if ($("[data-next]", other) && !$("[data-next]")) swapStepper(other);
    if (!getSelection().toString()) swap(other, "came-back");
    return;
  }
  const url = new URL(location.href);
  url.searchParams.set("from", "last");
  const other = await fetchPage(url);
  const last = lastTurn(other);
  swap(other, "head");
  if (following) {
    history.replaceState(null, "", url);
    swap(other, "outline");
    swap(other, "turns");
    $("#follow")?.setAttribute("aria-pressed", "true");
    shownLast = last;
    scrollTo(0, document.body.scrollHeight);
  } else if (last > shownLast) {
    waiting = last - shownLast;
    showWaiting();
  }
}
function swapStepper(other) {
  $(".stepper").replaceWith(document.adoptNode($(".stepper", other)));
  say("The next turn has begun");
}

function live() {
  const url = document.body.dataset.live;
  if (!url) return;
  shownLast = lastTurn(document);
  following = page === "session" && $("[data-last]") !== null && atEnd();
  $("#follow")?.setAttribute("aria-pressed", String(following));
  const source = new EventSource(url);
  let busy = false;
  let again = false;
  const changed = async () => {
    if (busy) { again = true; return; }
    busy = true;
    await refresh().catch(() => {});
    await new Promise((done) => setTimeout(done, page === "sessions" ? 2000 : 300));
    busy = false;
    if (again) { again = false; changed(); }
  };
  source.addEventListener("change", changed);
  addEventListener("pagehide", () => source.close());
  if (page === "session") addEventListener("wheel", (event) => {
    if (event.deltaY < 0 && following) setFollowing(false);
    else if (event.deltaY > 0 && !following && atEnd() && $("[data-last]")) setFollowing(true);
  }, { passive: true });
}

const names = { ArrowRight: "→", ArrowLeft: "←", gg: "g g" };
$("#help-keys").append(...keys.flatMap(([key, words]) => {
  const [term, meaning] = [document.createElement("dt"), document.createElement("dd")];
  term.append(Object.assign(document.createElement("kbd"), { textContent: names[key] ?? key }));
  meaning.textContent = words;
  return [term, meaning];
}));
showTheme();
if (location.hash === "#search") $("[data-search]")?.focus();
live();
