// Chromium without anything of its own, watched: what it requests, what it complains about.
import { mkdtempSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const ARGUMENTS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
];

export class Browser {
  static async open(origin, pictures) {
    const browser = new Browser();
    Object.assign(browser, { origin, pictures, faults: [], checked: [] });
    if (pictures) mkdirSync(pictures, { recursive: true });
    browser.folder = mkdtempSync(join(tmpdir(), "enrich-chromium-"));
    const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
    // Each context has storage of its own; the folder is for the rest.
    browser.chromium = await chromium.launch({ executablePath, args: ARGUMENTS, env: { ...process.env, HOME: browser.folder } });
    return browser;
  }

  /** A page that nothing is known to. `expected` are complaints that belong to what is done on it. */
  async page({ javaScriptEnabled = true, expected = [], ...options } = {}) {
    const context = await this.chromium.newContext({ javaScriptEnabled, bypassCSP: false, ...options });
    if (javaScriptEnabled) await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: this.origin });
    const page = await context.newPage();
    page.on("console", (message) => {
      const text = `${message.text()} (${message.location().url})`;
      if (["error", "warning"].includes(message.type()) && !expected.some((part) => text.includes(part))) this.faults.push(`console: ${text}`);
    });
    page.on("pageerror", (error) => this.faults.push(`script: ${error.message}`));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${this.origin}/`) && !url.startsWith("data:") && url !== "about:blank") this.faults.push(`off the machine: ${url}`);
    });
    page.on("requestfailed", (request) => {
      const failure = request.failure()?.errorText ?? "";
      if (!failure.includes("ERR_ABORTED")) this.faults.push(`failed: ${request.url()} ${failure}`);
    });
    if (javaScriptEnabled) {
      await page.exposeFunction("reportViolation", (what) => this.faults.push(`policy: ${what}`));
      await page.addInitScript(() => document.addEventListener("securitypolicyviolation", (event) => window.reportViolation(`${event.violatedDirective} ${event.blockedURI}`)));
    }
    return page;
  }

  /** What axe-core finds serious, and a picture in light, dark and at a phone's width. */
  async look(page, name) {
    for (const [kind, colorScheme, width, height] of [["light", "light", 1200, 800], ["dark", "dark", 1200, 800], ["phone", "light", 390, 844]]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(250);
      // Evaluated by the debugger, which the page's policy does not bind.
      const found = await page.evaluate(`${AXE}; axe.run({ resultTypes: ["violations"] })`);
      for (const violation of found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact))) {
        const nodes = violation.nodes.map((node) => `${node.target} ${node.failureSummary}`).join(" | ");
        this.faults.push(`axe: ${name} ${kind}: ${violation.id}: ${nodes}`);
      }
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (overflow > 1) this.faults.push(`width: ${name} ${kind} is ${overflow} pixels too wide`);
      if (this.pictures) await page.screenshot({ path: join(this.pictures, `${name}-${kind}.png`), fullPage: true, caret: "initial" });
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1200, height: 800 });
    this.checked.push(name);
  }

  async close() {
    await this.chromium.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
