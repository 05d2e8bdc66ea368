// A server process on its own data folder, and the operator's commands.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const BINARY = process.env.ENRICH_BINARY;
const FIXTURES = resolve(import.meta.dirname, "../../../../fixtures/directory");

export class Server {
  constructor(options = []) {
    this.folder = mkdtempSync(join(tmpdir(), "enrich-walk-"));
    this.data = join(this.folder, "data");
    this.options = options;
  }

  /** What a command says with --json. */
  command(...words) {
    const said = execFileSync(BINARY, [...words, "--json", "--data", this.data], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
    return JSON.parse(said);
  }

  importFixtures() {
    const files = ["companies.jsonl", "examples.jsonl", "domains.jsonl"].map((name) => join(FIXTURES, name));
    this.command("import", ...files);
  }

  /** Starts on the port it had before, if it had one. */
  async start() {
    const listen = `127.0.0.1:${this.port ?? 0}`;
    const words = ["serve", "--listen", listen, "--data", this.data, ...this.options];
    this.process = spawn(BINARY, words, { stdio: ["ignore", "pipe", "inherit"] });
    const first = await new Promise((resolve, reject) => {
      createInterface({ input: this.process.stdout }).once("line", resolve);
      this.process.once("exit", (status) => reject(new Error(`the server ended with ${status}`)));
    });
    this.port = Number(/:(\d+)$/.exec(first)[1]);
    this.url = `http://127.0.0.1:${this.port}`;
  }

  async stop(signal = "SIGTERM") {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill(signal);
    await ended;
  }

  async close() {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
