// Makes the pages more comfortable. Without this script, all links and forms still work.
"use strict";

(() => {
  // A click on a copy button copies the text of a field, such as an API key.
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

  function prepare() {
    for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
    for (const place of document.querySelectorAll(".wide")) mark(place);
  }

  // Marks a table that is wider than the space for it, so that the user sees that it can be
  // scrolled.
  function mark(place) {
    place.classList.toggle("overflows", place.scrollWidth > place.clientWidth + 1);
  }

  // Sets the ceiling to the newly estimated cost, unless the user has changed the suggested
  // ceiling.
  function followEstimate() {
    const estimate = document.getElementById("estimate");
    const ceiling = document.getElementById("ceiling");
    const offered = ceiling?.form?.elements.offered;
    if (!estimate || !offered) return;
    if (ceiling.value.trim() === offered.value) ceiling.value = estimate.dataset.ceiling;
    offered.value = estimate.dataset.ceiling;
  }

  // Refuses a file that is too large before it is uploaded.
  document.addEventListener("change", (event) => {
    const field = event.target;
    if (!field.matches("[data-max-bytes]")) return;
    const isTooLarge = [...field.files].some((file) => file.size > Number(field.dataset.maxBytes));
    field.setCustomValidity(isTooLarge ? field.dataset.tooLarge : "");
    if (isTooLarge) field.reportValidity();
  });

  // Draws a bar chart with the figures of the table that the attribute `data-chart-of` names.
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
      // The time axis is half a day (43,200 seconds) longer on both sides, so that the first and
      // the last bar are fully visible.
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

  let drawn = "";
  const shown = () => [...document.querySelectorAll("[data-chart-of]")].map((place) => document.getElementById(place.dataset.chartOf).textContent).join();

  function drawAll() {
    drawn = shown();
    for (const place of document.querySelectorAll("[data-chart-of]")) draw(place);
  }

  // Draws the charts again if the page has loaded new figures into a table.
  function redraw() {
    if (shown() !== drawn) drawAll();
  }

  prepare();
  drawAll();
  document.addEventListener("htmx:afterSettle", (event) => {
    prepare();
    followEstimate();
    if (event.target.id === "outcome") event.target.scrollIntoView({ block: "nearest" });
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) { width = innerWidth; drawAll(); prepare(); }
  });
})();
