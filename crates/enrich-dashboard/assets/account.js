// What the pages do beyond links and forms. Without it everything still works.
"use strict";

(() => {
  // A key is copied from its field.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const field = document.getElementById(button.dataset.copy);
    const say = (text) => { document.getElementById("copied").textContent = text; };
    field.select();
    if (!navigator.clipboard) return say("Selected; copy it with the keyboard.");
    navigator.clipboard.writeText(field.value).then(
      () => say("Copied."),
      () => say("Selected; copy it with the keyboard."),
    );
  });

  // Choosing is enough; the button is for where this script is not.
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-go]")) event.target.form.requestSubmit();
  });

  function prepare() {
    for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
    for (const button of document.querySelectorAll("[data-go-button]")) button.hidden = true;
  }

  // The chart shows what the table beside it says.
  function draw(place) {
    const style = getComputedStyle(place);
    const colour = (name) => style.getPropertyValue(name).trim();
    const rows = [...document.querySelectorAll(`#${place.dataset.chartOf} tbody tr`)];
    const day = (row) => Date.parse(`${row.cells[0].textContent}T00:00:00Z`) / 1000;
    const value = (row, at) => Number(row.cells[at].dataset.value);
    const found = rows.map((row) => value(row, 1));
    const all = rows.map((row, at) => found[at] + value(row, 2));
    const axis = { stroke: colour("--chart-text"), grid: { stroke: colour("--chart-grid"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    const bars = uPlot.paths.bars({ size: [0.7, 40] });
    const bar = (label, name, shown) => ({ label, fill: colour(name), stroke: colour(name), width: 0, paths: bars, points: { show: false }, value: shown });
    place.replaceChildren();
    place.hidden = false;
    new uPlot({
      width: place.clientWidth,
      height: 240,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      cursor: { y: false, drag: { x: false, y: false } },
      // Half a day on both sides, so that the first and the last bar are whole.
      scales: { x: { range: (_, first, last) => [first - 43200, last + 43200] }, y: { range: (_, _least, most) => [0, Math.max(4, most * 1.1)] } },
      axes: [
        { ...axis, size: 32, values: "{DD} {MMM}", space: 60 },
        { ...axis, size: 60, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7, 1e8, 1e9], values: (_, ticks) => ticks.map((tick) => tick.toLocaleString("en")) },
      ],
      series: [
        { label: "Day", value: "{YYYY}-{MM}-{DD}" },
        bar("Not found", "--chart-not-found", (_, _value, _series, at) => at == null ? "–" : (all[at] - found[at]).toLocaleString("en")),
        bar("Found", "--chart-found", (_, _value, _series, at) => at == null ? "–" : found[at].toLocaleString("en")),
      ],
    }, [rows.map(day), all, found], place);
  }

  function drawAll() {
    for (const place of document.querySelectorAll("[data-chart-of]")) draw(place);
  }

  prepare();
  drawAll();
  document.addEventListener("htmx:afterSettle", prepare);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) { width = innerWidth; drawAll(); }
  });
})();
