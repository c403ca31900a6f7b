// Sets the chosen colours before anything is drawn. `auto` leaves them to the system.
(() => {
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Without storage the system's colours stay.
  }
})();
