// The layout of a list: the page shows what it detected, and the owner can change it.
import assert from "node:assert/strict";
import { creditsLeft, figures, signIn, step, upload } from "./people.mjs";

const LIST = "id;Company name;City, country\n1;Nestlé;Vevey, CH\n2;Telefónica;Madrid, ES\n3;Nobody Hereabouts;Ulm, DE\n";

/** The preview's columns, and its rows. */
async function preview(page) {
  const table = page.locator("section[aria-labelledby=sample] table");
  const rows = table.locator("tbody tr");
  const cells = async (row) => row.locator("td").allTextContents();
  return {
    layout: await page.locator("#sample + p").textContent(),
    columns: await table.locator("thead th").allTextContents(),
    rows: await Promise.all((await rows.all()).map(cells)),
  };
}

/** Chooses a delimiter and reads the list again. */
async function readWith(page, delimiter) {
  await page.selectOption("#delimiter", delimiter);
  await Promise.all([page.waitForEvent("load"), page.click("text=Read again")]);
  return preview(page);
}

async function delimiters(server, browser) {
  step("a list with semicolons: what was detected, a preview, the right column chosen");
  const page = await browser.page();
  await signIn(page, server);
  await page.waitForURL("**/account/");
  const before = await creditsLeft(page);
  // Windows-1252, as spreadsheet programs write.
  await upload(page, server, "kunden.csv", Buffer.from(LIST, "latin1"), "/v1/cuf");
  const detected = await preview(page);
  assert.match(detected.layout, /^Read as CSV, `;` between columns, Windows-1252\./);
  assert.deepEqual(detected.columns, ["id", "Company name", "City, country"]);
  assert.deepEqual(detected.rows[0], ["1", "Nestlé", "Vevey, CH"]);
  assert.equal(detected.rows.length, 3);
  assert.equal(await page.inputValue("#delimiter"), "");
  assert.equal(await page.inputValue("[name='map.companyName']"), "Company name");
  await browser.look(page, "bulk-semicolons");

  step("another delimiter changes the preview, and detecting changes it back");
  const commas = await readWith(page, ",");
  assert.match(commas.layout, /^Read as CSV, `,` between columns/);
  assert.deepEqual(commas.columns, ["id;Company name;City", "country"]);
  assert.deepEqual(commas.rows[0], ["1;Nestlé;Vevey", " CH"]);
  assert.equal(await page.inputValue("#delimiter"), ",");
  assert.deepEqual(await readWith(page, ""), detected);

  step("the list is looked up by the columns that are shown");
  await page.selectOption("#endpoint", "/v1/cuf");
  await page.click("text=Use this endpoint");
  await page.waitForSelector("#order");
  assert.equal(await page.inputValue("[name='map.companyName']"), "Company name");
  await page.click("main button:has-text('Start')");
  await page.waitForFunction(() => document.querySelector("#state")?.textContent === "Done", null, { timeout: 60000 });
  assert.deepEqual(await figures(page), { Found: 2, "Not found": 1, Invalid: 0, Failed: 0, Credits: 2 });
  await page.goto(`${server.url}/account/`);
  assert.equal(await creditsLeft(page), before - 2);
}

export async function walkThroughLists(server, browser) {
  await delimiters(server, browser);
}
