// Sets the class `dark-mode`, which makes Swagger UI dark, if the user prefers dark pages. The
// class is set before the page is drawn.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  apply();
  dark.addEventListener("change", apply);
})();
