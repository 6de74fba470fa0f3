// Light or dark, before the first paint: as the system has it, until the user switches. Not a module, since modules run later.
"use strict";

(() => {
  const KEY = "par-theme";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  function chosen() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  function show() {
    const theme = chosen() ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    document.getElementById("theme")?.setAttribute("aria-pressed", String(theme === "dark"));
  }

  function turn() {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // If the browser stores nothing, the choice holds until the page is left.
    }
    document.documentElement.dataset.theme = theme;
    document.getElementById("theme").setAttribute("aria-pressed", String(theme === "dark"));
  }

  show();
  dark.addEventListener("change", show);
  document.addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById("theme").addEventListener("click", turn);
  });
})();
