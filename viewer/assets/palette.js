// Going somewhere by its name, and the list of the keys. It works with the names that app.js has given.
"use strict";
function openPalette() {
  $("#palette").showModal();
  $("#palette input").select();
  showPlaces();
}
async function showPlaces() {
  const words = $("#palette input").value.trim();
  const fits = (link) => link.textContent.toLowerCase().includes(words.toLowerCase());
  const number = /^\d+$/.test(words) && facts.session ? [[`Turn ${words}`, turnAddress(words)]] : [];
  const places = $$(".top nav a, .crumbs a, [data-tab]").filter(fits).map((link) => [link.textContent, link.href]);
  const list = (all) => $("#places").replaceChildren(...all.map(([text, href]) => {
    const item = document.createElement("li");
    item.append(Object.assign(document.createElement("a"), { textContent: text, href }));
    return item;
  }));
  list([...number, ...places]);
  if (words.length < 2) return;
  const other = await fetchPage(`/sessions?text=${encodeURIComponent(words)}`).catch(() => null);
  if (!other || words !== $("#palette input").value.trim()) return;
  const sessions = $$("[data-row] .title", other).slice(0, 8).map((link) => [link.textContent, link.getAttribute("href")]);
  list([...number, ...places, ...sessions]);
}
$("#palette").addEventListener("input", () => {
  clearTimeout(showPlaces.timer);
  showPlaces.timer = setTimeout(showPlaces, 120);
});
$("#palette").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = $$("#places a");
  const at = links.indexOf(document.activeElement);
  if (event.key === "Enter" && at < 0) links[0]?.click();
  else if (step) (links[at + step] ?? $("#palette input")).focus();
  else return;
  event.preventDefault();
});

// The help lists all keys.
const names = { ArrowRight: "→", ArrowLeft: "←", gg: "g g" };
$("#help-keys").append(...keys.flatMap(([key, words]) => {
  const [term, meaning] = [document.createElement("dt"), document.createElement("dd")];
  term.append(Object.assign(document.createElement("kbd"), { textContent: names[key] ?? key }));
  meaning.textContent = words;
  return [term, meaning];
}));
