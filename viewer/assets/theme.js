// What must happen before anything is drawn. First: the chosen colours; `auto` leaves them to the system.
(() => {
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Without storage the system's colours stay.
  }
})();
// Second: keys pressed before the page's script runs wait here for it.
globalThis.earlyKeys = [];
addEventListener("keydown", (event) => globalThis.earlyKeys?.push(event));
