// Uses the account page from the invitation to the sign-out: with JavaScript, without it, and with only
// the keyboard. Run it with `just browser`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Browser } from "./browser.mjs";
import { walkThroughGuidance } from "./guidance.mjs";
import { walkThroughLists } from "./lists.mjs";
import { walkThroughOrders } from "./orders.mjs";
import { EMAIL, PASSWORD, accept, calls, creditsLeft, figures, generate, signIn, step } from "./people.mjs";
import { walkThroughReference } from "./reference.mjs";
import { Server } from "./server.mjs";

async function walkWithScripts(server, browser, created) {
  const page = await browser.page({ expected: ["status of 422", "status of 404"] });

  step("an invitation that was never made says what to do");
  await page.goto(`${server.url}/account/invitation/${"0".repeat(64)}`);
  assert.match(await page.textContent("h1"), /no longer valid/);
  await browser.look(page, "no-invitation");

  step("an invitation, a password, signed in");
  await page.goto(created.invitation);
  await browser.look(page, "invitation");
  await accept(page, created.invitation);
  assert.equal(await creditsLeft(page), 1000);

  step("out, and in again");
  await page.click("text=Sign out");
  await page.waitForURL("**/account/sign-in");
  await browser.look(page, "sign-in");
  await signIn(page, server, "wrong horse battery");
  assert.match(await page.textContent("[role=alert]"), /is wrong/);
  await browser.look(page, "sign-in-wrong");
  await signIn(page, server);
  await page.waitForURL("**/account/");
  const cookie = (await page.context().cookies()).find(({ name }) => name === "enrich");
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path], [true, "Lax", "/"]);

  step("a key, and a call with it");
  await page.goto(`${server.url}/account/keys`);
  const key = await generate(page, server, "web shop");
  assert.match(key, /^enr_live_/);
  const found = await calls(server, key, "Telefónica");
  assert.deepEqual([found.status, found.used], [200, 1]);
  assert.equal((await calls(server, key, "Nobody Hereabouts")).used, 0);
  for (let number = 0; number < 12; number += 1) await calls(server, key, "Nestlé");
  await page.goto(`${server.url}/account/calls`);
  assert.equal(await creditsLeft(page), 987);
  assert.match(await page.textContent("main table"), new RegExp(found.requestId));
  await browser.look(page, "calls");

  step("the call is found by its request id");
  await page.fill("#id", found.requestId);
  await page.click("main form button");
  assert.match(await page.textContent("[role=status]"), /The whole range was searched: 1 call/);
  assert.equal(await page.locator("main tbody tr").count(), 1);

  step("the files of calls and usage");
  const file = await page.request.get(`${server.url}/account/calls.csv`);
  assert.equal((await file.text()).trim().split("\r\n").length, 14);
  assert.match(file.headers()["content-disposition"], /^attachment/);
  assert.equal((await page.request.get(`${server.url}/account/usage.csv`)).status(), 200);

  step("the key is shown and copied");
  await page.goto(`${server.url}/account/keys`);
  await browser.look(page, "keys");
  await page.click("main table a:has-text('web shop')");
  assert.equal(await page.locator("#key").count(), 0);
  await page.click("text=Show the key");
  await page.waitForSelector("#key");
  assert.equal(await page.inputValue("#key"), key);
  await page.click("text=Copy");
  await page.waitForFunction(() => document.querySelector("#copied").textContent === "Copied.");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), key);
  await browser.look(page, "key");

  step("a label and a limit of its own");
  await page.fill("#label", "web shop 2");
  await page.click("text=Save label");
  assert.match(await page.textContent("[role=status].done"), /The label is saved/);
  await page.fill("#requests", "50");
  await page.click("text=Save limit");
  assert.match(await page.textContent("[role=status].done"), /The limit is saved/);
  assert.match(await page.textContent(".facts"), /50 requests in 60 seconds \(own limit\)/);
  assert.match(await page.textContent("h1"), /web shop 2/);

  step("rotated with an overlap, then revoked: 401");
  await page.click("button:has-text('Rotate key')");
  const successor = await page.inputValue("#key");
  assert.notEqual(successor, key);
  assert.equal((await calls(server, key, "Nestlé")).status, 200);
  assert.equal((await calls(server, successor, "Nestlé")).status, 200);
  for (const ended of [key, successor]) {
    await page.goto(`${server.url}/account/keys`);
    await page.click("main section:first-of-type tbody tr:first-child a");
    await page.check("[name=sure]");
    await page.click("button:has-text('Revoke key')");
    await page.waitForURL("**/account/keys");
  }
  await page.waitForTimeout(1100);
  assert.deepEqual([(await calls(server, key, "Nestlé")).status, (await calls(server, successor, "Nestlé")).status], [401, 401]);

  step("the playground: the price first, then a call like any other");
  await page.goto(`${server.url}/account/playground`);
  const before = await creditsLeft(page);
  await page.selectOption("#endpoint", "/v1/dte");
  await page.click("text=Use this endpoint");
  await page.waitForURL("**endpoint=%2Fv1%2Fdte");
  assert.match(await page.textContent(".price"), /1 per 5 items/);
  await browser.look(page, "playground");
  await page.fill("[name='field.companyDomain']", "quillmark.example");
  await page.click("text=Send the call");
  await page.waitForSelector("#outcome pre");
  const outcome = await page.textContent("#outcome");
  assert.match(outcome, /Found; 1 credit was charged/);
  assert.match(outcome, /curl -s/);
  assert.doesNotMatch(outcome, /enr_live_[0-9A-Za-z]{5}/);
  assert.equal(await creditsLeft(page), before - 1);
  await page.click("text=Send the call");
  await page.waitForFunction((left) => Number(document.querySelector("#balance strong").textContent.replaceAll(",", "")) === left, before - 2);
  await browser.look(page, "playground-answer");

  step("the counters, once they are written");
  for (let tries = 0; tries < 40; tries += 1) {
    await page.goto(`${server.url}/account/`);
    if ((await page.textContent(".figures")).includes("Found in 30 days")
      && (await page.textContent(".figures div:nth-child(2) dd")) !== "0") break;
    await page.waitForTimeout(500);
  }
  assert.match(await page.textContent(".figures div:nth-child(2)"), /Used today\d+/);
  assert.equal(await page.locator("#chart canvas").count(), 1);
  await browser.look(page, "overview");
  await page.goto(`${server.url}/account/usage`);
  assert.match(await page.textContent("main table"), /\/v1\/cuf/);
  await browser.look(page, "usage");

  step("settings");
  await page.goto(`${server.url}/account/settings`);
  await browser.look(page, "settings");
  await page.click("text=Sign out everywhere else");
  assert.match(await page.textContent("[role=status]"), /were ended/);

  step("signed out; the way back leads to the sign-in");
  await page.click("text=Sign out >> nth=0");
  await page.waitForURL("**/account/sign-in");
  await page.goto(`${server.url}/account/keys`);
  assert.match(page.url(), /sign-in/);
  await page.goto(`${server.url}/account/nowhere`);
  assert.match(await page.textContent("h1"), /Not found/);
  await browser.look(page, "not-found");
}

/** 1,000 rows: 600 that are known, 300 that are not, 100 that cannot be asked. */
function list() {
  const rows = [];
  for (let number = 0; number < 1000; number += 1) {
    const name = number % 10 < 6 ? "Nestlé" : number % 10 < 9 ? `Nobody Hereabouts ${number}` : "";
    rows.push(`${number},${name},"=HYPERLINK(""x"")"`);
  }
  return ["id,Company name,Note", ...rows].join("\n");
}

const rowsDone = async (page) => Number(await page.getAttribute("#done", "value"));

async function walkThroughAList(server, browser) {
  step("a list of 1,000 rows: uploaded, mapped, counted");
  const page = await browser.page({ expected: ["ERR_CONNECTION_REFUSED"] });
  await signIn(page, server);
  await page.goto(`${server.url}/account/bulk`);
  await page.setInputFiles("#list", { name: "leads.csv", mimeType: "text/csv", buffer: Buffer.from(list()) });
  await page.click("main form[enctype] button");
  await page.waitForURL("**/account/bulk/*");
  const path = new URL(page.url()).pathname;
  await page.selectOption("#endpoint", "/v1/cuf");
  await page.click("text=Use this endpoint");
  await page.waitForURL("**endpoint=%2Fv1%2Fcuf");
  assert.equal(await page.inputValue("[name='map.companyName'] >> nth=0"), "Company name");
  assert.match(await page.textContent("main"), /Highest cost in credits\s*900/);
  await browser.look(page, "bulk-order");
  const before = await creditsLeft(page);
  // The page refreshes every two seconds; this is faster.
  const rowsDoneFrom = async (least) => {
    for (;;) {
      const shown = await (await page.request.get(`${server.url}${path}`)).text();
      const done = Number(/<progress id="done" value="(\d+)"/.exec(shown)?.[1] ?? 0);
      if (done >= least) return done;
    }
  };

  step("started, and stopped by hand");
  await page.click("main button:has-text('Start')");
  await page.waitForSelector("#progress");
  await rowsDoneFrom(50);
  await page.click("#stop");
  await page.waitForFunction(() => document.querySelector("#state").textContent === "Stopped");
  const stopped = await rowsDone(page);
  await browser.look(page, "bulk-stopped");
  await page.reload();
  assert.equal(await rowsDone(page), stopped);

  step("continued; the server is restarted half-way");
  await page.click("main button:has-text('Continue')");
  const halfway = await rowsDoneFrom(stopped + 50);
  await server.stop();
  await server.start();
  await page.goto(`${server.url}${path}`);
  const after = await rowsDone(page);
  console.log(`  stopped at ${stopped}, restarted at ${halfway}, ${after} when it was up again`);
  assert.ok(stopped < 1000 && halfway < 1000);
  await page.waitForFunction(() => document.querySelector("#state").textContent === "Done", null, { timeout: 120000 });
  assert.deepEqual(await figures(page), { Found: 600, "Not found": 300, Invalid: 100, Failed: 0, Credits: 600 });
  await page.reload();
  assert.equal(await creditsLeft(page), before - 600);
  await browser.look(page, "bulk-done");

  step("downloaded: every row once, the sum right to the credit");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Download")]);
  assert.equal(download.suggestedFilename(), "leads-enriched.csv");
  const lines = readFileSync(await download.path(), "utf8").trim().split(/\r?\n/);
  assert.equal(lines.length, 1001);
  const columns = lines[0].split(",");
  const ids = lines.slice(1).map((line) => Number(line.split(",")[0]));
  assert.deepEqual(ids, Array.from({ length: 1000 }, (_, number) => number));
  const credits = lines.slice(1).reduce((sum, line) => sum + Number(line.split(",").at(columns.indexOf("credits") - columns.length)), 0);
  assert.equal(credits, 600);
  assert.ok(lines.slice(1).every((line) => line.includes("'=HYPERLINK")));
  await page.goto(`${server.url}/account/bulk`);
  await browser.look(page, "bulk");
}

async function walkWithoutScripts(server, browser) {
  step("the same essentials without JavaScript");
  const page = await browser.page({ javaScriptEnabled: false });
  await signIn(page, server);
  assert.match(page.url(), /\/account\/$/);
  assert.equal(await page.locator("#by-day tbody tr").count(), 30);
  const key = await generate(page, server, "no scripts");
  assert.equal(await page.locator("[data-copy]").isVisible(), false);
  assert.equal((await calls(server, key, "Nestlé")).status, 200);
  await page.goto(`${server.url}/account/playground`);
  await page.selectOption("#endpoint", "/v1/cuf");
  await page.click("text=Use this endpoint");
  await page.fill("[name='field.companyName']", "Telefónica");
  await page.click("text=Send the call");
  assert.match(await page.textContent("#outcome"), /Found; 1 credit was charged/);
  await page.reload();
  assert.match(await page.textContent("#outcome"), /The same answer as before; nothing was charged again/);
  await page.goto(`${server.url}/account/bulk`);
  await page.setInputFiles("#list", { name: "few.csv", mimeType: "text/csv", buffer: Buffer.from("Company\nNestlé\nNobody Hereabouts\n") });
  await page.click("main form[enctype] button");
  await page.selectOption("#endpoint", "/v1/cuf");
  await page.click("text=Use this endpoint");
  await page.click("button:has-text('Start')");
  for (let tries = 0; tries < 50 && (await page.textContent("#state")) !== "Done"; tries += 1) {
    await page.waitForTimeout(100);
    await page.reload();
  }
  assert.deepEqual(await figures(page), { Found: 1, "Not found": 1, Invalid: 0, Failed: 0, Credits: 1 });
  await page.check("[name=sure]");
  await page.click("text=Delete the list");
  await page.goto(`${server.url}/account/calls`);
  assert.ok(await page.locator("main tbody tr").count() > 10);
  await page.goto(`${server.url}/account/keys`);
  await page.click("text=no scripts");
  await page.click("text=Show the key");
  assert.equal(await page.inputValue("#key"), key);
  await page.check("[name=sure]");
  await page.click("button:has-text('Revoke key')");
  await page.waitForTimeout(1100);
  assert.equal((await calls(server, key, "Nestlé")).status, 401);
  await page.click("text=Sign out");
  assert.match(page.url(), /sign-in/);
}

async function walkWithKeys(server, browser) {
  step("with the keyboard alone");
  const page = await browser.page();
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim());
  await page.goto(`${server.url}/account/sign-in`);
  await press("Tab");
  assert.equal(await focused(), "Skip to content");
  await press("Enter", "Tab");
  assert.equal(await focused(), "email");
  await page.keyboard.type(EMAIL);
  await press("Tab");
  await page.keyboard.type(PASSWORD);
  await press("Enter");
  await page.waitForURL("**/account/");
  const order = [];
  for (let number = 0; number < 9; number += 1) { await press("Tab"); order.push(await focused()); }
  assert.deepEqual(order, ["Skip to content", "Enrich", "Sign out", ...await page.locator("nav[aria-label=Account] a").allTextContents()].slice(0, 9));
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, "solid");
}

const server = new Server();
const pictures = process.env.ENRICH_PICTURES;
server.importFixtures();
await server.start();
const created = server.command("account", "create", "Quill Ltd", "--credits", "1000", "--email", EMAIL, "--public-url", server.url);
const browser = await Browser.open(server.url, pictures);
let failure;
try {
  await walkWithScripts(server, browser, created);
  await walkThroughAList(server, browser);
  await walkWithoutScripts(server, browser);
  await walkWithKeys(server, browser);
  await walkThroughLists(server, browser);
  await walkThroughReference(server, browser);
  await walkThroughOrders(server, browser);
  await walkThroughGuidance(server, browser);
} catch (error) {
  failure = error;
}
await browser.close();
await server.close();
for (const fault of browser.faults) console.error(`! ${fault}`);
console.log(`${browser.checked.length} pages looked at, ${browser.faults.length} faults`);
if (failure) throw failure;
process.exitCode = browser.faults.length === 0 ? 0 : 1;
