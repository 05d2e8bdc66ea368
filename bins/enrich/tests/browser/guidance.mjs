// Guidance on the pages: the first call, low balances, refreshed figures, returning after a sign-in.
import assert from "node:assert/strict";
import { accept, calls, creditsLeft, generate, signIn, step, upload } from "./people.mjs";
import { Server } from "./server.mjs";

const isInView = (page, selector) => page.locator(selector).first().evaluate((element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && top < innerHeight - 40 && bottom > 0;
});

async function firstCall(server, browser) {
  step("an empty account: its first key, its first call with the key in it");
  const created = server.command("account", "create", "Ledger Ltd", "--credits", "12", "--email", "ben@ledger.example", "--public-url", server.url);
  const page = await browser.page();
  await accept(page, created.invitation);
  assert.match(await page.textContent("#balance"), /12 credits left \(low\)/);
  assert.equal(await page.locator("#call").count(), 1);
  assert.doesNotMatch(await page.inputValue("#call"), /enr_live_[0-9A-Za-z]{20}/);
  await browser.look(page, "first-call");
  await page.click("text=Show it with the key");
  await page.waitForFunction(() => /enr_live_[0-9A-Za-z]{38}/.test(document.querySelector("#call").value));
  const command = await page.inputValue("#call");
  await page.click("text=Copy");
  await page.waitForFunction(() => document.querySelector("#copied").textContent === "Copied.");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), command);
  await browser.look(page, "first-call-key");

  step("Overview and Usage show a call without being loaded again");
  const key = /enr_live_[0-9A-Za-z]{38}/.exec(command)[0];
  const usage = await page.context().newPage();
  await usage.goto(`${server.url}/account/usage`);
  assert.equal((await calls(server, key, "Nestlé")).used, 1);
  await page.waitForFunction(() => document.querySelector("#balance strong").textContent === "11", null, { timeout: 40000 });
  await page.waitForFunction(() => document.querySelector("#figures div:nth-child(2) dd").textContent === "1", null, { timeout: 40000 });
  await usage.waitForSelector("#usage-table", { timeout: 40000 });
  assert.match(await usage.textContent("#usage-table tbody th"), /\/v1\/cuf Company name to website domain/);
  await usage.close();

  step("an account without credits looks like it");
  server.command("credits", "grant", created.id ?? created.account, "-11");
  await page.goto(`${server.url}/account/`);
  assert.equal(await creditsLeft(page), 0);
  assert.match(await page.textContent(".hint.out"), /no credits left/);
  await browser.look(page, "out-of-credits");
}

async function playground(server, browser) {
  step("an answer of the playground is in view, beside the form or below it");
  const page = await browser.page();
  await signIn(page, server);
  await generate(page, server, "playground");
  for (const [width, height, isBeside] of [[1200, 800, true], [390, 844, false]]) {
    await page.setViewportSize({ width, height });
    await page.goto(`${server.url}/account/playground?endpoint=/v1/cuf`);
    await page.fill("[name='field.companyName']", "Telefónica");
    await page.click("text=Send the call");
    await page.waitForSelector("#outcome pre");
    await page.waitForTimeout(300);
    assert.ok(await isInView(page, "#outcome h2"), `in view at ${width}`);
    const [form, outcome] = [await page.locator("#call + p + form").boundingBox(), await page.locator("#outcome").boundingBox()];
    assert.equal(outcome.x >= form.x + form.width, isBeside, `beside at ${width}`);
  }
}

async function tables(server, browser) {
  step("tables on a phone: what matters first, and a sign that there is more");
  const page = await browser.page();
  await signIn(page, server);
  await page.setViewportSize({ width: 390, height: 844 });
  for (const [path, columns] of [["bulk", ["List", "State"]], ["keys", ["Key", "State"]], ["calls", ["Time (UTC)", "Endpoint"]], ["usage", ["Endpoint", "Calls"]]]) {
    await page.goto(`${server.url}/account/${path}`);
    const table = page.locator(".wide").first();
    assert.deepEqual((await table.locator("thead th").allTextContents()).slice(0, 2), columns);
    assert.match(await table.getAttribute("class"), /overflows/);
    assert.match(await table.evaluate((place) => getComputedStyle(place, "::before").content), /Scroll sideways/);
    const second = await table.locator("thead th").nth(1).boundingBox();
    assert.ok(second.x + 40 < 390, `${path}: the second column is seen`);
  }
}

async function wayBack(server, browser) {
  step("a session that has ended leads back to the page it was on");
  const page = await browser.page({ expected: ["status of 401"] });
  await signIn(page, server);
  await page.waitForURL("**/account/");
  await page.goto(`${server.url}/account/calls?from=2026-01-01&to=2026-01-02`);
  const address = page.url();
  await page.context().clearCookies();
  await page.reload();
  assert.match(page.url(), /sign-in\?ended/);
  await browser.look(page, "sign-in-ended");
  await page.fill("#email", "ada@quill.example");
  await page.fill("#password", "correct horse battery");
  await page.click("main button");
  await page.waitForURL(address);
}

async function slowedAndTooLarge(browserOf) {
  step("a list slowed by the rate limit says so; a file that is too large is refused in words");
  const server = new Server(["--rate-policy", "reject", "--rate-limit", "5", "--bulk-max-upload", "1"]);
  server.importFixtures();
  await server.start();
  const created = server.command("account", "create", "Quill Ltd", "--credits", "1000", "--email", "ada@quill.example", "--public-url", server.url);
  const browser = await browserOf(server.url);
  const page = await browser.page({ expected: ["status of 413", "ERR_CONNECTION"] });
  try {
    await accept(page, created.invitation);
    await upload(page, server, "leads.csv", `Company\n${"Nestlé\n".repeat(12)}`, "/v1/cuf");
    await page.click("main button:has-text('Start')");
    await page.waitForSelector("#held-up", { timeout: 20000 });
    assert.match(await page.textContent("#held-up"), /rate limit of the API key, 5 requests in 60 seconds\. It continues in \d+ seconds?; the remaining rows take about \d+ minutes?/);
    await browser.look(page, "bulk-slowed");

    const large = { name: "large.csv", mimeType: "text/csv", buffer: Buffer.alloc(6 * 1024 * 1024, "Nestlé,\n") };
    await page.goto(`${server.url}/account/bulk`);
    await page.setInputFiles("#list", large);
    assert.match(await page.locator("#list").evaluate((field) => field.validationMessage), /larger than 1 MiB/);
    const bare = await browser.page({ javaScriptEnabled: false, expected: ["status of 413"] });
    await signIn(bare, server);
    await bare.goto(`${server.url}/account/bulk`);
    await bare.setInputFiles("#list", large);
    await bare.click("main form[enctype] button");
    assert.match(await bare.textContent("[role=alert]"), /The file is larger than 1 MiB/);
  } finally {
    browser.leaveTo();
    await browser.close();
    await server.close();
  }
}

export async function walkThroughGuidance(server, browser) {
  await playground(server, browser);
  await firstCall(server, browser);
  await tables(server, browser);
  await wayBack(server, browser);
  await slowedAndTooLarge((origin) => browser.another(origin));
}
