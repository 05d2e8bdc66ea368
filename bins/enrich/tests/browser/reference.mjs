// The OpenAPI document at /docs: an example of each API version is called with a key.
import assert from "node:assert/strict";
import { generate, signIn, step } from "./people.mjs";

const ENDPOINTS = ["/v1/cuf", "/v2/services/name_to_domain"];

/** Chooses an operation, and sends its example as it stands; the status of the answer. */
async function tryIt(page, path) {
  const operation = page.locator(`.opblock:has([data-path='${path}'])`).first();
  await operation.locator(".opblock-summary-control").click();
  await operation.locator(".try-out__btn").click();
  const [answer] = await Promise.all([
    page.waitForResponse((response) => new URL(response.url()).pathname === path),
    operation.locator("button.execute").click(),
  ]);
  const shown = operation.locator(".live-responses-table .response-col_status").last();
  await shown.waitFor();
  assert.equal(parseInt(await shown.textContent(), 10), answer.status());
  return answer.status();
}

/** Gives a key as one of the two schemes, and closes the dialogue. */
async function authorize(page, scheme, key) {
  await page.click(".scheme-container .authorize");
  const container = page.locator(".auth-container", { has: page.locator(`code:text-is("${scheme}")`) });
  await container.locator("input").fill(key);
  await container.locator("button.authorize").click();
  await page.locator(".modal-ux .btn-done").first().click();
}

export async function walkThroughReference(server, browser) {
  const page = await browser.page({ expected: ["status of 401"] });
  await signIn(page, server);
  await page.waitForURL("**/account/");
  const key = await generate(page, server, "reference");
  for (const scheme of ["apiKey", "bearer"]) {
    step(`/docs: authorized as ${scheme}, the example of an endpoint of each version is answered`);
    await page.goto(`${server.url}/docs`);
    await page.waitForSelector(".opblock");
    await authorize(page, scheme, key);
    for (const path of ENDPOINTS) assert.equal(await tryIt(page, path), 200, `${path} with ${scheme}`);
  }

  step("/docs: without a key the example is refused");
  await page.goto(`${server.url}/docs`);
  await page.waitForSelector(".opblock");
  assert.equal(await tryIt(page, "/v1/cuf"), 401);

  step("/docs: dark where the system is, and a way back to the account");
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => document.documentElement.classList.contains("dark-mode"));
  assert.notEqual(await background(), light);
  await page.click("#account-link");
  await page.waitForURL("**/account/");
}
