// What the tests of the page share: its modules in node, the built page in Chromium, the tool.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { after, before } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../", import.meta.url));
const require = createRequire(`${root}web/package.json`);
// For a machine that has much else to do, in milliseconds; only a failure waits that long.
const PATIENCE = 120_000;
export const pageFile = `${root}build/web/planner.html`;
export const tool = process.env.BLOOMERY_TOOL ?? `${root}build/release/bloomery`;

// The page's own TypeScript modules, as the browser gets them. Call the returned close at the end.
export async function loadModules(...paths) {
  const { createServer } = await import(pathToFileURL(require.resolve("vite").replace("index.cjs", "dist/node/index.js")));
  const server = await createServer({
    root: `${root}web`,
    configFile: false,
    logLevel: "error",
    appType: "custom",
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
  });
  const modules = {};
  for (const path of paths) Object.assign(modules, await server.ssrLoadModule(`/src/${path}`));
  return { ...modules, close: () => server.close() };
}

// A Chromium for the tests of a file (as Debian has it; its sandbox does not work for root or in a container), and a
// function that opens the page in it; whatever the page complains of, or asks of any network, fails the test at its end.
// All that ask for the same browser get the same tab, with the page loaded again: a tab costs more than the page.
export function visits(always) {
  let browser;
  const tabs = new Map(), complaints = [];
  before(async () => {
    browser = await require("playwright-core").chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell",
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    });
  });
  after(async () => {
    await browser.close();
    assert.deepEqual(complaints, []);
  });
  const tabFor = async (context) => {
    const page = await browser.newPage(context);
    page.setDefaultTimeout(PATIENCE);
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (!/^(data|file):/.test(request.url())) complaints.push(`it asks for ${request.url()}`);
    });
    return page;
  };
  return async (t, { hash = "", ...asked } = {}) => {
    const context = { viewport: { width: 1280, height: 900 }, colorScheme: "light", ...always, ...asked };
    const key = JSON.stringify(context);
    if (!tabs.has(key)) tabs.set(key, await tabFor(context));
    const page = tabs.get(key);
    t.after(() => assert.deepEqual(complaints.splice(0), []));
    if (page.url() !== "about:blank") {
      await page.evaluate(() => localStorage.clear());
      await page.goto("about:blank");
    }
    await page.setViewportSize(context.viewport);
    await page.emulateMedia({ colorScheme: context.colorScheme });
    await page.goto(pathToFileURL(pageFile).href + hash);
    await page.waitForSelector("#answer strong, #answer .no-plan");
    return page;
  };
}

// Shows what another link to the page would: much faster than another page.
export async function goTo(page, hash) {
  await page.evaluate((to) => new Promise((done) => {
    addEventListener("hashchange", done, { once: true });
    location.hash = to;
  }), hash);
}

// Whether g++ takes the text of a program that uses the library; its words if not.
export function compile(text) {
  return new Promise((done, fail) => {
    const flags = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", `${root}include`, "-x", "c++", "-"];
    const child = execFile("g++", flags, (error) => (error ? fail(error) : done()));
    child.stdin.end(text);
  });
}

// Runs the tool: what it printed as JSON, or the message of its error.
export async function plan(flags) {
  try {
    const { stdout } = await promisify(execFile)(tool, ["plan", "--json", ...flags], { maxBuffer: 1 << 24 });
    return { json: JSON.parse(stdout) };
  } catch (error) {
    if (error.code !== 2) throw error;
    return { refusal: error.stderr.replace(/^bloomery: /, "").trim() };
  }
}
