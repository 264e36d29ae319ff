// The page in Chromium: what a reader does, with the keyboard alone, and pictures to look at.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const command = process.env.LAMBADA ?? fileURLToPath(new URL("../../../../target/debug/lambada", import.meta.url));
const pictures = process.env.PICTURES;

if (!existsSync(executablePath)) {
  console.log(`skipped: there is no Chromium at ${executablePath}`);
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), "play-"));
writeFileSync(join(folder, "main.lam"), "import \"part\"\n\ndef f (x : real) : real = part.g x\n");
writeFileSync(join(folder, "part.lam"), "def g (x : real) : real = x * x\n");

const server = spawn(command, ["play", "--no-open", "--port", "0", folder], { stdio: ["ignore", "pipe", "inherit"] });
const address = await new Promise((resolve) => createInterface(server.stdout).once("line", resolve));
const browser = await chromium.launch({
  executablePath,
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
  ],
});

const wrong = [];
let failed = 0;

async function opened(options, to = address) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  await page.goto(to);
  await page.locator("#panel :is(dl, pre, img)").first().waitFor();
  return page;
}

async function test(name, run) {
  try {
    await run();
    assert.deepEqual(wrong.splice(0), [], "the console has errors");
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    wrong.length = 0;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}

/** Replaces the program. */
async function type(page, text) {
  await page.locator(".cm-content").focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
}

const says = (page, selector, text) => page.locator(selector).filter({ hasText: text }).first().waitFor();
const tab = (page, name) => page.getByRole("tab", { name, exact: true });

await test("a program of the folder imports another", async () => {
  const page = await opened();
  assert.equal(page.url().includes("token"), false, "the secret stays in the address");
  assert.equal(await page.locator("#entry").inputValue(), "f");
  await page.locator("input.number").fill("3");
  await says(page, ".values", "9.0");
  await says(page, ".values", "6.0");
  await page.context().close();
});

await test("sliders, by keyboard alone", async () => {
  const page = await opened();
  await type(page, "def f (x : real) : real = 2 * x\n");
  await says(page, ".values", "∂/∂x");
  await page.locator("input.number").fill("1");
  await says(page, ".values .primal", "2.0");
  // From the editor to the slider there are only Tab keys.
  await page.locator(".cm-content").focus();
  let focused = "";
  for (let k = 0; k < 6 && focused !== "argument-0"; k++) {
    await page.keyboard.press("Tab");
    focused = await page.evaluate(() => document.activeElement.id);
  }
  assert.equal(focused, "argument-0");
  for (let k = 0; k < 10; k++) await page.keyboard.press("ArrowRight");
  await says(page, ".values .primal", "2.2");
  assert.equal(await page.evaluate(() => document.activeElement.id), "argument-0");
  await page.context().close();
});

await test("tabs, by keyboard alone", async () => {
  const page = await opened();
  await type(page, "def f (x : real) (y : real) : real = x * y\n");
  await says(page, ".values", "∂/∂y");
  await tab(page, "Result").focus();
  await page.keyboard.press("ArrowRight");
  await says(page, "#panel .code", "def f_reverse");
  // In step with the source.
  await type(page, "def f (x : real) (y : real) : real = x + sin y\n");
  await says(page, "#panel .code", "cos y");
  await tab(page, "Derivative").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  await says(page, "#panel .code", "def f_forward");
  await tab(page, "Derivative").focus();
  await page.keyboard.press("ArrowRight");
  await says(page, "#panel .code", "|-");
  await page.getByLabel("Stage", { exact: true }).selectOption("shared");
  await says(page, "#panel .code", "LFun");
  await tab(page, "Stages").focus();
  await page.keyboard.press("ArrowRight");
  await page.getByText("Step 1 of").waitFor();
  assert.deepEqual(await page.locator(".cm-line .marked").allTextContents(), ["x"]);
  await page.getByLabel("Stage", { exact: true }).selectOption("applied");
  await says(page, ".rule", "Appendix C");
  await page.getByRole("button", { name: "Next" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Step 2 of").waitFor();
  assert.deepEqual(await page.locator(".cm-line .marked").allTextContents(), ["y"]);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Next");
  for (let k = 0; k < 20 && !(await page.getByRole("button", { name: "Next" }).isDisabled()); k++) {
    await page.keyboard.press("Enter");
  }
  const whole = await page.locator(".cm-line .marked").allTextContents();
  assert.equal(whole.join(""), "x + sin y");
  await page.getByRole("button", { name: "Previous" }).focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Previous");
  await tab(page, "Steps").focus();
  await page.keyboard.press("ArrowRight");
  await page.locator("#panel .code").first().waitFor();
  await page.keyboard.press("ArrowRight");
  await says(page, "#panel .code", "lambada_f");
  await page.keyboard.press("End");
  await page.locator("img.plot").waitFor();
  const drawn = await page.locator("img.plot").evaluate((image) => image.decode().then(() => image.naturalWidth));
  assert.ok(drawn > 100);
  await page.context().close();
});

await test("problems, hover and completion", async () => {
  const page = await opened();
  await type(page, "def f (x : real) : real = sinn x\n");
  await says(page, "#count", "1 error");
  await says(page, "#problems li", "sinn");
  await says(page, ".wrong", "error[");
  await page.locator("#problems button").focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => getSelection().toString()), "sinn");
  await page.keyboard.insertText("sin");
  await says(page, "#count", "No problems");
  await says(page, ".values", "∂/∂x");
  await page.locator(".cm-line span", { hasText: /^sin$/ }).hover();
  await says(page, ".cm-tooltip", "real");
  await page.mouse.move(5, 5);
  await type(page, "def f (x : real) : real = sin");
  await page.keyboard.press("Control+ ");
  await says(page, ".cm-tooltip-autocomplete", "sinh");
  await page.context().close();
});

await test("a link holds a program", async () => {
  const page = await opened();
  await type(page, "--| <img src=x onerror=alert(1)>\ndef linked (x : real) : real = x ** 3\n");
  await says(page, "#signature", "real");
  await page.locator("#entry option", { hasText: "linked" }).waitFor({ state: "attached" });
  await page.locator("input.number").fill("2");
  await says(page, ".values", "8.0");
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByText("Copied").waitFor();
  const link = page.url();
  assert.match(link, /#program=[\w-]+$/);
  const other = await page.context().newPage();
  await other.goto(link);
  await says(other, ".values", "8.0");
  await says(other, ".values", "12.0");
  assert.equal(await other.locator("#doc img").count(), 0);
  // Another browser has not got the secret.
  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(link);
  await says(stranger, "#notice", "secret");
  wrong.length = 0; // The refused requests.
  await page.context().close();
});

await test("a program that does not end is stopped", async () => {
  const page = await opened();
  await type(page, "def f (x : real) : real = loop y = x while y > 0 do y + 1\n");
  await says(page, "#signature", "real -> real");
  await says(page, "#busy", "Working");
  await type(page, "def g (x : real) : real = x\n");
  await says(page, ".values", "∂/∂x");
  await page.context().close();
});

await test("an example", async () => {
  const page = await opened();
  await page.locator("#programs").selectOption("examples:ode.lam");
  await says(page, ".cm-content", "runge_kutta");
  await page.locator("#entry").selectOption("last");
  await says(page, ".values", "∂/∂x");
  await page.locator("#book summary").click();
  assert.ok((await page.locator("#book a").count()) > 60);
  await page.context().close();
});

if (pictures) {
  mkdirSync(pictures, { recursive: true });
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1360, 480]) {
      await test(`pictures, ${colorScheme}, ${width}`, async () => {
        const page = await opened({ colorScheme, viewport: { width, height: 860 } });
        const shot = (name) => page.screenshot({ path: join(pictures, `${name}-${colorScheme}-${width}.png`), fullPage: width < 800 });
        await page.locator("#programs").selectOption("text");
        await says(page, ".values", "∂/∂speed");
        await shot("result");
        for (const [name, title] of [["derivative", "Derivative"], ["stages", "Stages"], ["steps", "Steps"], ["c", "C"], ["plot", "Plot"]]) {
          await tab(page, title).click();
          await page.locator("#panel :is(.code, img)").first().waitFor();
          await page.waitForTimeout(400);
          await shot(name);
        }
        await page.locator("#entry").selectOption("loss");
        await tab(page, "Result").click();
        await says(page, ".values", "∂/∂xs");
        await shot("loss");
        await type(page, "def f (x : real) : real = sinn x + yy\n\ndef unused (x : real) = let y = 2 in x\n");
        await says(page, "#count", "error");
        await shot("problems");
        await page.locator("#book summary").click();
        await shot("book");
        await page.context().close();
      });
    }
  }
}

await browser.close();
const ended = new Promise((resolve) => server.once("exit", resolve));
server.kill("SIGINT");
await test("Ctrl-C ends the server", async () => assert.equal(await ended, 0));
rmSync(folder, { recursive: true });
process.exit(failed > 0 ? 1 : 0);
