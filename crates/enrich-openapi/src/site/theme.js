// Swagger UI is dark where this class is. It is set before anything is drawn.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  apply();
  dark.addEventListener("change", apply);
})();
