// Follows what goes on: the page fetches itself anew when something changes. Scrolling up pauses it, the bottom
// resumes it. It works with the names that app.js has given.
"use strict";
let following = false;
let waiting = 0;
let shownLast = 0;
const atEnd = () => innerHeight + scrollY >= document.body.scrollHeight - 60;
const lastTurn = (root) => Number($$("#turns .turn .no", root).at(-1)?.textContent ?? 0);

function setFollowing(on) {
  following = on;
  $("#follow")?.setAttribute("aria-pressed", String(on));
  if (!on) return say("Following is paused; f resumes it");
  waiting = 0;
  $("#pill").hidden = true;
  refresh().then(() => scrollTo(0, document.body.scrollHeight));
}
function toggleFollowing() {
  if (facts.live) setFollowing(!following);
  else say("This page does not change any more");
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

async function refresh() {
  if (page === "sessions") return refreshList();
  if (isTurn) return refreshTurn();
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
  if (following) return;
  // What is told of the turns that are shown: their page, as it is now.
  const same = await fetchPage(location.href);
  swap(same, "outline");
  swap(same, "window");
}
async function refreshList() {
  if (chosen || scrollY > 200 || $("tr.child")) return;
  const other = await fetchPage(location.href);
  swap(other, "rows");
  swap(other, "count");
}
async function refreshTurn() {
  const other = await fetchPage(location.href);
  facts.lastTurn = other.body.dataset.lastTurn;
  if ($("[data-next]", other) && !$("[data-next]")) {
    $(".stepper").replaceWith(document.adoptNode($(".stepper", other)));
    say("The next turn has begun");
  }
  if (!getSelection().toString()) swap(other, "came-back");
}

function live() {
  if (!facts.live) return;
  shownLast = lastTurn(document);
  following = page === "session" && $("[data-last]") !== null && atEnd();
  $("#follow")?.setAttribute("aria-pressed", String(following));
  const source = new EventSource(facts.live);
  let isBusy = false;
  let again = false;
  const changed = async () => {
    if (isBusy) { again = true; return; }
    isBusy = true;
    await refresh().catch((error) => say(error.message));
    await new Promise((done) => setTimeout(done, page === "sessions" ? 2000 : 300));
    isBusy = false;
    if (again) { again = false; changed(); }
  };
  source.addEventListener("change", changed);
  addEventListener("pagehide", () => source.close());
  if (page === "session") addEventListener("wheel", (event) => {
    if (event.deltaY < 0 && following) setFollowing(false);
    else if (event.deltaY > 0 && !following && atEnd() && $("[data-last]")) setFollowing(true);
  }, { passive: true });
}
live();
