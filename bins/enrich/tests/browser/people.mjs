// Common steps: signing in, creating keys, calling endpoints, uploading a list.

export const EMAIL = "ada@quill.example";
export const PASSWORD = "correct horse battery";

export const step = (name) => console.log(`- ${name}`);

export async function calls(server, key, companyName, idempotencyKey) {
  const headers = { "content-type": "application/json", ...(idempotencyKey && { "idempotency-key": idempotencyKey }) };
  const answer = await fetch(`${server.url}/v1/cuf`, { method: "POST", headers, body: JSON.stringify({ apiKey: key, companyName }) });
  return { status: answer.status, used: Number(answer.headers.get("x-credits-used")), requestId: answer.headers.get("x-request-id") };
}

export const creditsLeft = async (page) => Number((await page.textContent("#balance strong")).replaceAll(",", ""));

/** Accepts an invitation. */
export async function accept(page, invitation) {
  await page.goto(invitation);
  await page.fill("#password", PASSWORD);
  await page.fill("#again", PASSWORD);
  await page.click("main button");
  await page.waitForURL("**/account/");
}

export async function signIn(page, server, password = PASSWORD, email = EMAIL) {
  await page.goto(`${server.url}/account/sign-in`);
  await page.fill("#email", email);
  await page.fill("#password", password);
  await page.click("main button");
}

/** Makes a key with a label; the key. */
export async function generate(page, server, label) {
  await page.goto(`${server.url}/account/keys`);
  await page.fill("#label", label);
  await page.click("text=Generate key");
  await page.waitForURL("**/account/keys/*");
  return page.inputValue("#key");
}

/** Uploads a list and chooses what is looked up. */
export async function upload(page, server, name, text, endpoint) {
  await page.goto(`${server.url}/account/bulk`);
  await page.setInputFiles("#list", { name, mimeType: "text/csv", buffer: Buffer.from(text) });
  await page.click("main form[enctype] button");
  await page.waitForURL("**/account/bulk/*");
  if (!endpoint) return;
  await page.selectOption("#endpoint", endpoint);
  await page.click("text=Use this endpoint");
  await page.waitForSelector("#order");
}

export async function figures(page) {
  const names = await page.locator("#progress dt").allTextContents();
  const numbers = await page.locator("#progress dd").allTextContents();
  return Object.fromEntries(names.map((name, at) => [name.split(" of at most")[0], Number(numbers[at].replaceAll(",", ""))]));
}
