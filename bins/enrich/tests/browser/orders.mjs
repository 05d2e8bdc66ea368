// A list starts with what its form shows: values and ceilings, and nothing chosen by an accidental key.
import assert from "node:assert/strict";
import { creditsLeft, figures, signIn, step, upload } from "./people.mjs";

const done = (page) => page.waitForFunction(() => document.querySelector("#state")?.textContent === "Done", null, { timeout: 60000 });

export async function walkThroughOrders(server, browser) {
  for (const javaScriptEnabled of [true, false]) {
    step(`one value for every row, typed and started without Enter, ${javaScriptEnabled ? "with" : "without"} JavaScript`);
    const page = await browser.page({ javaScriptEnabled, expected: ["status of 422"] });
    await signIn(page, server);
    const before = await creditsLeft(page);
    await upload(page, server, "ids.csv", "id\n1\n2\n3\n", "/v1/cuf");
    await page.fill("[name='fixed.companyName']", "Nobody Hereabouts");
    await page.click("text=Update the estimate");
    await page.waitForURL("**fixed.companyName=Nobody**");
    await page.fill("[name='fixed.companyName']", "Nestlé");
    await page.click("main button:has-text('Start')");
    await page.waitForSelector("#progress");
    if (javaScriptEnabled) await done(page);
    for (let tries = 0; !javaScriptEnabled && tries < 50 && (await page.textContent("#state")) !== "Done"; tries += 1) {
      await page.waitForTimeout(100);
      await page.reload();
    }
    assert.equal((await figures(page)).Found, 3);
    await page.goto(`${server.url}/account/`);
    assert.equal(await creditsLeft(page), before - 3);
  }

  step("delete is there when a list is done, without loading the page again");
  const page = await browser.page({ expected: ["status of 422"] });
  await signIn(page, server);
  await upload(page, server, "few.csv", "Company\nNestlé\n", "/v1/cuf");
  await page.click("main button:has-text('Start')");
  await done(page);
  await page.waitForSelector("text=Delete the list");

  step("Enter in a field updates the estimate and starts nothing");
  await upload(page, server, "few.csv", "Company,Other\nNestlé,\nTelefónica,Nestlé\n", "/v1/cuf");
  await page.press("[name='fixed.companyName']", "Enter");
  await page.waitForURL("**map.companyName=Company**");
  assert.equal(await page.inputValue("#ceiling"), "2");

  step("a ceiling follows the estimate until it is typed, and is kept from then on");
  await page.selectOption("[name='map.companyName']", "Other");
  await page.waitForFunction(() => document.querySelector("#ceiling").value === "1");
  await page.fill("#ceiling", "7");
  await page.selectOption("[name='map.companyName']", "Company");
  await page.waitForFunction(() => document.querySelector("#estimate").dataset.ceiling === "2");
  assert.equal(await page.inputValue("#ceiling"), "7");
  await page.click("text=Update the estimate");
  await page.waitForURL("**ceiling=7**");
  assert.equal(await page.inputValue("#ceiling"), "7");

  step("a ceiling of 1,5 is refused beside its field");
  await page.fill("#ceiling", "1,5");
  await page.click("main button:has-text('Start')");
  await page.waitForSelector("#ceiling-fault");
  assert.equal(await page.inputValue("#ceiling"), "1,5");
  const [field, fault] = [await page.locator("#ceiling").boundingBox(), await page.locator("#ceiling-fault").boundingBox()];
  assert.ok(Math.abs(fault.y - field.y) < 120, "the reason stands beside the field");
  assert.equal(await page.evaluate(() => document.activeElement.id), "ceiling");
  await browser.look(page, "bulk-ceiling");

  step("a list of answers offers a ceiling that it can be started with");
  await upload(page, server, "domains.csv", "Domain\nquillmark.example\n", "/v1/dte");
  assert.equal(await page.inputValue("#ceiling"), "");
  assert.match(await page.textContent("#estimate"), /can use all [\d,]+ credits/);
  await browser.look(page, "bulk-open");
  await page.fill("[name='fixed.limit']", "5");
  await page.press("[name='fixed.limit']", "Tab");
  await page.waitForFunction(() => document.querySelector("#ceiling").value === "1");
  await page.click("main button:has-text('Start')");
  await done(page);

  step("arrow keys on a select go nowhere");
  for (const path of ["/account/playground", new URL(page.url()).pathname.replace(/[^/]+$/, "")]) {
    await page.goto(`${server.url}${path.replace(/\/$/, "")}`);
    if (path.includes("bulk")) await upload(page, server, "few.csv", "Company\nNestlé\n");
    const address = page.url();
    await page.focus("#endpoint");
    for (let number = 0; number < 3; number += 1) await page.keyboard.press("ArrowDown");
    await page.waitForTimeout(700);
    assert.equal(page.url(), address);
    assert.equal(await page.evaluate(() => document.activeElement.id), "endpoint");
  }
}
