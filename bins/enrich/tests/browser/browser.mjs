// Starts Chromium with an empty profile, and records its requests and console messages.
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

const KINDS = [
  ["light", "light", 1200, 800], ["dark", "dark", 1200, 800],
  ["phone", "light", 390, 844], ["phone-dark", "dark", 390, 844],
];

export class Browser {
  static async open(origin, pictures) {
    const browser = new Browser();
    Object.assign(browser, { origin, pictures, faults: [], checked: [] });
    if (pictures) mkdirSync(pictures, { recursive: true });
    browser.folder = mkdtempSync(join(tmpdir(), "enrich-chromium-"));
    const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
    // Each context has its own storage; the folder is for everything else.
    browser.chromium = await chromium.launch({ executablePath, args: ARGUMENTS, env: { ...process.env, HOME: browser.folder } });
    return browser;
  }

  /** Another browser for another server, whose findings count here. */
  async another(origin) {
    const other = await Browser.open(origin, this.pictures);
    other.leaveTo = () => { this.faults.push(...other.faults); this.checked.push(...other.checked); };
    return other;
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

  /** What axe-core finds, and a picture: light and dark, on a desk and at a phone's width. */
  async look(page, name) {
    for (const [kind, colorScheme, width, height] of KINDS) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(250);
      // The debugger evaluates it, to which the page's policy does not apply.
      const found = await page.evaluate(`${AXE}; axe.run({ resultTypes: ["violations"] })`);
      for (const violation of found.violations) {
        const nodes = violation.nodes.map((node) => `${node.target} ${node.failureSummary}`).join(" | ");
        this.faults.push(`axe: ${name} ${kind}: ${violation.id}: ${nodes}`);
      }
      await this.edges(page, `${name} ${kind}`);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (overflow > 1) this.faults.push(`width: ${name} ${kind} is ${overflow} pixels too wide`);
      if (this.pictures) await page.screenshot({ path: join(this.pictures, `${name}-${kind}.png`), fullPage: true, caret: "initial" });
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1200, height: 800 });
    this.checked.push(name);
  }

  /** The edges of fields stand out from what is around them by 3:1 (WCAG 2.2, 1.4.11). */
  async edges(page, where) {
    const faint = await page.evaluate(() => {
      const colour = (text) => {
        const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
        canvas.fillStyle = text;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
      };
      const light = ([r, g, b]) => [0.2126, 0.7152, 0.0722].reduce((sum, share, at) => {
        const part = [r, g, b][at] / 255;
        return sum + share * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
      }, 0);
      const behind = (element) => {
        for (let at = element.parentElement; at; at = at.parentElement) {
          const background = colour(getComputedStyle(at).backgroundColor);
          if (background[3] === 255) return background;
        }
        return colour(getComputedStyle(document.documentElement).backgroundColor);
      };
      const fields = [...document.querySelectorAll("input:not([type=hidden], [type=file]), select, textarea")];
      return fields.filter((field) => field.offsetParent !== null && field !== document.activeElement).flatMap((field) => {
        const [edge, around] = [light(colour(getComputedStyle(field).borderTopColor)), light(behind(field))];
        const ratio = (Math.max(edge, around) + 0.05) / (Math.min(edge, around) + 0.05);
        return ratio < 3 ? [`${field.name || field.id} ${ratio.toFixed(2)}:1`] : [];
      });
    });
    for (const field of faint) this.faults.push(`edge: ${where}: ${field}`);
  }

  async close() {
    await this.chromium.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
