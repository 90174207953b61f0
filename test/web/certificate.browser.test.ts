import { correction, generate } from "lean-qr/nano";
import { toSvgPath } from "lean-qr/extras/svg";
import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createExplorer } from "../../src/client/index.ts";
import { DISAGREED } from "../../src/text/failure.ts";
import { DRY_RUN_WORD } from "../../src/requests/accept/dryRun.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

const HOSTILE = `</title><script>alert(1)</script> \u202Egnp.exe`;

let browser: Browser;
let tyche: SharedDapp;
shared.beforeAll(async ({ browser: chromium, service }) => {
  browser = chromium;
  tyche = await joinService(service);
});

let visitor: Visitor;
let page: Page;
beforeEach(async () => {
  visitor = await createVisitor(browser);
  page = visitor.page;
});
afterEach(() => visitor.close());

const draw = async (preset: string, body: object) =>
  (await tyche.call("POST", `/api/vrfv2/presets?network=sepolia&preset=${preset}`, { body })).data;
const callApi = async (path: string, body: object) => (await tyche.call("POST", path, { body })).data;
const lead = () => page.locator(".lead");
const verdict = () => page.getByRole("region", { name: "Verdict" });

test("says what was drawn from how many, for what, when and on which chain, and leads here from paper", async () => {
  const label = `raffle <b>${tyche.dappId.slice(-6)}</b>`;
  const { id, value, vrfv2Hash } = await draw("lotto", {
    numberOfWinners: "2",
    list: ["ann", HOSTILE, "cy", "dee"],
    label,
  });
  const address = `${tyche.url}/r/${id}`;
  await page.goto(address);
  await page.getByRole("heading", { level: 1, name: label, exact: true }).waitFor();
  await page
    .getByText(/^Draw winners from a list: 2 of 4 entries, on Ethereum Sepolia \(local chain\), 20/)
    .waitFor();
  await expect.poll(() => lead().innerText()).toMatch(/, 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  const winners = page.getByRole("list", { name: "Result" }).getByRole("listitem");
  await expect.poll(() => winners.count()).toBe(value.length);
  const entries = page.getByText("4 entries", { exact: true });
  await page.locator(".given .hidden-char", { hasText: "U+202E" }).waitFor();
  expect(await page.locator("#application").textContent()).not.toContain("\u202E");
  await page.getByRole("term").filter({ hasText: "Winners" }).waitFor();
  expect(await page.getByText("numberOfWinners").count()).toBe(0);
  await page.getByText(`${tyche.dappId} on chain with the label: compare it with the announcement`).waitFor();
  const word = page.getByRole("term").filter({ hasText: "Random word" });
  expect(await word.isVisible()).toBe(false);
  await page.getByText("Ids and bytes", { exact: true }).click();
  const { presets } = await createExplorer({ baseUrl: tyche.url }).transaction("sepolia", vrfv2Hash);
  await page
    .getByRole("region", { name: "About" })
    .getByText(String(BigInt(presets[0]!.word!)), { exact: true })
    .waitFor();
  await page.getByText("sent the transaction with the result, and paid its fee", { exact: true }).waitFor();
  const how = page.locator("#how");
  await how.getByText(/^The list, all other inputs and the program were written/).waitFor();
  expect(await how.getByRole("link").getAttribute("href")).toBe("/presets/lotto");
  const code = page.getByRole("img", { name: "QR code of this page's address" });
  const drawn = toSvgPath(generate(address, { minCorrectionLevel: correction.M }));
  expect(await code.locator("path").last().getAttribute("d")).toBe(drawn);
  const { host } = new URL(address);
  await page.getByText(`Scan to open this page at ${host}, which only this computer reaches`).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);

  await verdict().getByText("Your browser has computed every step").waitFor();
  const pdf = await page.pdf({ format: "A4" });
  expect(pdf.toString("latin1").match(/\/Type \/Page\b/g)).toHaveLength(1);
  await entries.click();
  await page.getByText("Ids and bytes", { exact: true }).click();
  await page.locator(".given").waitFor({ state: "hidden" });
  await word.waitFor({ state: "hidden" });
  await page.emulateMedia({ media: "print" });
  await word.waitFor();
  await page.locator(".given").getByText("dee", { exact: true }).waitFor();
  await page.getByText(`Drawn with Tyche. This result: ${address}.`).waitFor();
  await verdict()
    .getByText(/^Checked 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC: the browser that printed this has computed/)
    .waitFor();
  for (const part of [verdict().locator(".checks"), verdict().locator(".printed li").last()])
    await part.waitFor();
  expect(await page.getByRole("button").count()).toBe(0);
});

test("a long list can be searched, and prints on few pages", async () => {
  const list = Array.from({ length: 800 }, (_, i) => `guest ${i + 1} of the evening`);
  const { id } = await draw("lotto", { numberOfWinners: "30", list });
  await page.goto(`${tyche.url}/r/${id}`);
  const winners = page.getByRole("list", { name: "Result" }).getByRole("listitem");
  await expect.poll(() => winners.count()).toBe(30);
  const [place] = await winners.getByText(/^entry \d+$/).allInnerTexts();
  const first = `guest ${place!.slice("entry ".length)} of the evening`;
  expect(await winners.first().innerText()).toBe(`${first} ${place}`);
  await page.getByLabel("Find in: Result").fill(first.toUpperCase());
  await page.getByText("1 of 30", { exact: true }).waitFor();
  expect(await winners.count()).toBe(1);
  await verdict()
    .getByText(/^\d+ steps: /)
    .click();
  await verdict().getByRole("link", { name: "The list that it was drawn from" }).click();
  const find = page.getByLabel(/^Find in: (?!Result)/);
  await find.fill("guest 800 ");
  const entry = page.locator(".given").getByRole("listitem");
  await entry.filter({ hasText: "guest 800 of the evening" }).waitFor();
  await find.fill(first);
  await page.getByText("1 of 800", { exact: true }).waitFor();
  expect(await entry.innerText()).toBe(`${first} drawn`);
  await find.fill("guest 800 ");
  await entry.filter({ hasText: "guest 800 of the evening" }).waitFor();
  expect(await entry.getAttribute("value")).toBe("800");
  await visitor.inspect();
  await page.emulateMedia({ media: "print" });
  await expect.poll(() => entry.count()).toBe(800);
  expect(await winners.count()).toBe(30);
  const pdf = await page.pdf({ format: "A4" });
  expect(pdf.toString("latin1").match(/\/Type \/Page\b/g)!.length).toBeLessThan(8);
  expect(visitor.troubles).toEqual([]);
});

const GUESTS = Array.from({ length: 12 }, (_, i) => `Katarzyna Nowak-Okafor ${i + 1}`);
const ADDRESS = "Department of Research and Development, 12 Long Avenue of the Republic, 8001 Zürich";

test.each([
  ["a coin", () => draw("coinflip", { label: "who begins" })],
  [
    "five random numbers",
    () => callApi("/api/vrfv2/requestRandomNumber", { network: "sepolia", numWords: 5 }),
  ],
  ["3 of 12", () => draw("lotto", { numberOfWinners: "3", list: GUESTS, label: "the summer raffle" })],
  [
    "3 of 12 with very long names",
    () => draw("lotto", { numberOfWinners: "3", list: GUESTS.map((name) => `${name}, ${ADDRESS}`) }),
  ],
] as const)("%s takes one sheet of paper", async (_what, request) => {
  const { id } = await request();
  await page.goto(`${tyche.url}/r/${id}`);
  await verdict().getByText("Your browser has computed every step").waitFor();
  for (const format of ["A4", "Letter"]) {
    const pdf = await page.pdf({ format });
    expect(pdf.toString("latin1").match(/\/Type \/Page\b/g)).toHaveLength(1);
  }
});

test("on paper, entries and their numbers stay in their columns", async () => {
  const list = Array.from({ length: 120 }, (_, i) => `${"guest".repeat(7)}${i + 1}`);
  const { id } = await draw("lotto", { numberOfWinners: "24", list });
  await page.goto(`${tyche.url}/r/${id}`);
  await page.getByText("120 entries", { exact: true }).click();
  await expect.poll(() => page.locator(".entries li").count()).toBe(24);
  await page.setViewportSize({ width: 800, height: 1000 });
  await page.emulateMedia({ media: "print" });
  for (const name of [".given", ".entries"]) {
    const boxes = await page.locator(`${name} li`).evaluateAll((all) =>
      all.map((item) => {
        const { left, right } = item.getBoundingClientRect();
        // Its number is less than 32 px wide.
        return { column: Math.round(right), start: left - 32, beyond: item.scrollWidth - item.clientWidth };
      }),
    );
    const columns = [...new Set(boxes.map(({ column }) => column))].sort((a, b) => a - b);
    expect(columns.length).toBeGreaterThan(1);
    for (const { column, start, beyond } of boxes) {
      expect(beyond).toBe(0);
      expect(start).toBeGreaterThanOrEqual(columns[columns.indexOf(column) - 1] ?? 0);
    }
  }
  expect(visitor.troubles).toEqual([]);
});

test("on paper, no entry is parted from what says that it was drawn", async () => {
  // So long that each takes more than one line of a column.
  const list = Array.from({ length: 13 }, (_, i) => `${"guest ".repeat(8)}${i + 1}`);
  const { id } = await draw("lotto", { numberOfWinners: "12", list });
  await page.goto(`${tyche.url}/r/${id}`);
  const entries = page.locator(".given li");
  await entries.last().waitFor();
  await page.setViewportSize({ width: 703, height: 1000 });
  await page.emulateMedia({ media: "print" });
  const parts = await entries.evaluateAll((all) => all.map((one) => one.getClientRects().length));
  expect(parts).toEqual(list.map(() => 1));
});

test("of a list, all that is not long is shown, and half a line says that there are more of a long one", async () => {
  const shown: [entries: number, lines: string][] = [];
  for (const length of [19, 20]) {
    const list = Array.from({ length }, (_, i) => `guest ${i + 1}`);
    const { id } = await draw("lotto", { list });
    await page.goto(`${tyche.url}/r/${id}`);
    if (length === 20) await page.getByText(`${length} entries`, { exact: true }).click();
    const given = page.locator(".given");
    await given.waitFor();
    // The entry that was drawn, which may be any, is higher than the others.
    const lineHeight = await page.evaluate<string>(
      "getComputedStyle(document.querySelector('.given')).lineHeight",
    );
    const { height } = (await given.boundingBox())!;
    shown.push([length, (height / parseFloat(lineHeight)).toFixed(1)]);
    await visitor.inspect();
  }
  expect(shown).toEqual([
    [19, "19.0"],
    [20, "9.5"],
  ]);
});

test.each([
  ["a draw with a label", () => draw("coinflip", { label: "again" })],
  ["a draw that waits for a round", () => draw("coinflip", { beacon: "local" })],
  [
    "words joined of several keys",
    () => callApi("/api/vrfv2/requestRandomNumber", { network: "sepolia", numWords: 2 }),
  ],
  [
    "a function",
    () =>
      callApi("/api/oracleFunctions/runFunction", {
        network: "sepolia",
        source: "console.log('answering'); return Functions.encodeUint256(40 + 2);",
        returnType: "uint256",
      }),
  ],
] as const)("finds the verdict on %s in the browser, without a further call", async (what, request) => {
  const { id } = await request();
  await page.goto(`${tyche.url}/r/${id}`);
  await verdict().getByText("Your browser has computed every step").waitFor();
  expect(await verdict().locator(".verdict").innerText()).toMatch(/^Th.* the operator's own chain\s+valid/);
  const inputs = what.startsWith("a draw") ? "by choosing the inputs, which are listed below, " : "";
  const cheating = verdict().getByText(`Could the organiser have cheated? Only ${inputs}by making `);
  expect(await cheating.count()).toBe(what === "a function" ? 0 : 1);
  const signatures = verdict().getByText(/\d of 4 nodes signed/);
  expect(await signatures.filter({ visible: true }).count()).toBe(0);
  await verdict()
    .getByText(/^\d+ steps: /)
    .click();
  const steps = await verdict().innerText();
  expect(steps).toMatch(/execution|proof/);
  expect(steps).not.toContain("no answer to this");
  if (what !== "words joined of several keys") {
    await signatures.waitFor();
    // A function's is open if it is short.
    if (what !== "a function") {
      await verdict().getByText("The source that was run").click();
      await verdict().getByRole("link", { name: "As its author wrote it", exact: true }).waitFor();
    }
    await verdict()
      .getByRole("region", { name: "Source" })
      .getByText(/Functions\.encode/)
      .waitFor();
  }
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

const result = () => page.getByRole("region", { name: "Result" });

test("a function with HTTP requests names the hosts of its source, and says what is proven and what not", async () => {
  const run = (url: string) =>
    callApi("/api/oracleFunctions/runFunction", {
      network: "sepolia",
      source:
        `// see https://docs.example.org\nconst { error } = await Functions.makeHttpRequest({ url: ${url}, timeout: 1000 });\n` +
        "return Functions.encodeString(error ? 'no answer' : 'an answer')",
      args: ["127.0.0.1:1"],
      returnType: "string",
    });
  const { id } = await run("'https://127.0.0.1:1/price'");
  await page.goto(`${tyche.url}/r/${id}`);
  await page
    .getByRole("heading", { level: 1, name: "Function: see https://docs.example.org", exact: true })
    .waitFor();
  await result().getByText("Text", { exact: true }).waitFor();
  await result()
    .getByText(
      /^The nodes made HTTP requests; the source names 127\.0\.0\.1:1\. The answers are not on chain: /,
    )
    .waitFor();
  await result()
    .getByText(/signatures prove that they agreed on this result, not that the answers were right\.$/)
    .waitFor();
  await page
    .locator("#check")
    .getByText(
      "Check it in the verifier: it computes every step that can be repeated in your browser, with this service's node, or another of your choice.",
      {
        exact: true,
      },
    )
    .waitFor();
  expect(await page.getByText("not on chain").count()).toBe(1);
  await verdict()
    .getByText("3 of 4 nodes signed this report, as many as the contract requires.", { exact: true })
    .waitFor();
  await page
    .locator("#how")
    .getByText(
      /ran the program, each with HTTP requests of its own, and signed the answer that most of them agreed on\.$/,
    )
    .waitFor();
  await visitor.inspect();
  const built = await run("`https://${args[0]}/`");
  await page.goto(`${tyche.url}/r/${built.id}`);
  await result()
    .getByText(/^The nodes made HTTP requests, to addresses that the source builds/)
    .waitFor();
  expect(visitor.troubles).toEqual([]);
});

/** Runs a function that fails on the nodes alone: its dry run, which gets another word in place of a round's, ends well. */
async function failOnNodes(statement: string): Promise<string> {
  const source = `if (bytesArgs[0] !== "${DRY_RUN_WORD}") ${statement}; return Functions.encodeString("fine");`;
  const body = { network: "sepolia", source, beacon: "local", returnType: "string" };
  const { id, success } = await callApi("/api/oracleFunctions/runFunction", body);
  expect(success).toBe(false);
  return id;
}

test("a function that failed says so first, with its error, and then that it is proven", async () => {
  const id = await failOnNodes("throw new Error('no price for ' + 'X\\u202EY')");
  await page.goto(`${tyche.url}/r/${id}`);
  await result().getByText("The function failed", { exact: true }).waitFor();
  await result().locator(".bad", { hasText: "no price for X" }).waitFor();
  await result().locator(".hidden-char", { hasText: "U+202E" }).waitFor();
  await result()
    .getByText(
      /^The oracle's nodes signed that this is what came of the program: .* There is no result, and none will follow\.$/,
    )
    .waitFor();
  await verdict().getByText("failure proven", { exact: true }).waitFor();
  await verdict()
    .getByRole("heading", { name: "Error signed by the oracle's nodes, and repeated here", exact: true })
    .waitFor();
  await page
    .locator("#how")
    .getByText(/signed the error that it ended with\.$/)
    .waitFor();
  const about = page.getByRole("region", { name: "About" });
  for (const name of ["Requested in", "Error in"]) {
    const place = about.getByRole("term").filter({ hasText: name }).locator("xpath=..");
    await place.getByRole("link", { name: /^0x[0-9a-f]{64}$/ }).waitFor();
    await place.getByText(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/).waitFor();
  }
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("where the nodes disagreed, the page doesn't say that they agreed, or that the program is at fault", async () => {
  const { id } = await callApi("/api/oracleFunctions/runFunction", {
    network: "sepolia",
    source:
      "try { await fetch('https://127.0.0.1:1/') } catch {}\nreturn Functions.encodeString(crypto.randomUUID())",
    returnType: "string",
  });
  await page.route(/\/api\/explorer\/results\/req_\w+$/, async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    const outcome = { ...json.data.outcome, success: false, parsedResult: "", value: null, err: DISAGREED };
    await route.fulfill({ response, json: { data: { ...json.data, outcome } } });
  });
  await page.goto(`${tyche.url}/r/${id}`);
  await page
    .getByRole("heading", { level: 1, name: "Function that names 127.0.0.1:1", exact: true })
    .waitFor();
  await result()
    .getByText(/they came to different outcomes, not which of the answers was right\.$/)
    .waitFor();
  await result()
    .getByText(/^What the program read differed from node to node/)
    .waitFor();
  await page
    .locator("#how")
    .getByText(/signed that their outcomes differed\.$/)
    .waitFor();
  expect(await page.getByText(/agreed on|the program's own/).count()).toBe(0);
});

test("an error of the runtime is explained, and said to be on chain where it can't be repeated", async () => {
  const id = await failOnNodes("return new Uint8Array(2_000)");
  await page.goto(`${tyche.url}/r/${id}`);
  await result().locator(".bad", { hasText: "response >" }).waitFor();
  await result()
    .getByText(/^The result of the source is longer/)
    .waitFor();
  await verdict()
    .getByText(/^\d of 4 nodes signed this report, as many as the contract requires\.$/)
    .waitFor();
  await verdict().getByRole("heading", { name: "Error signed by the oracle's nodes", exact: true }).waitFor();
  await verdict()
    .getByText(/^Nothing was found to be wrong: read the source/)
    .waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a function has a name and its arguments beside its result, and what can't be repeated is said to be signed", async () => {
  const source =
    "// Doubles a number\nreturn Functions.encodeUint256(BigInt(args[0]) * 2n + BigInt(Date.now() % 1))";
  const { id } = await callApi("/api/oracleFunctions/runFunction", {
    network: "sepolia",
    source,
    args: ["21"],
    returnType: "uint256",
  });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${tyche.url}/r/${id}`);
  await page.getByRole("heading", { level: 1, name: "Function: Doubles a number", exact: true }).waitFor();
  await result().getByText("42", { exact: true }).waitFor();
  await result().getByText("Whole number", { exact: true }).waitFor();
  const about = page.getByRole("region", { name: "About" });
  await about.getByText("args[0] = 21", { exact: true }).waitFor();
  await verdict().getByRole("heading", { name: "Signed by the oracle's nodes", exact: true }).waitFor();
  await verdict()
    .getByText(/^Nothing was found to be wrong: read the source/)
    .waitFor();
  await verdict().getByText("signed", { exact: true }).waitFor();
  await verdict()
    .locator("p.sentence", { hasText: /^not repeated here: / })
    .waitFor();
  await verdict()
    .getByText(/^Your browser has computed every other step, from/)
    .waitFor();
  await page.locator(".qr").waitFor({ state: "hidden" });
  await visitor.inspect();
  await page.goto(`${tyche.url}/explorer/requests?kind=function&state=fulfilled`);
  const rows = page.getByRole("region", { name: "Requests" });
  await rows.getByRole("link", { name: "Function: Doubles a number", exact: true }).waitFor();
  await page.getByLabel("Kind").selectOption("random");
  await page.waitForURL("**/explorer/requests?kind=random&state=fulfilled");
  await rows.getByText("Doubles a number").waitFor({ state: "detached" });
  expect(visitor.troubles).toEqual([]);
});

test("a result in JSON is indented, and copied as it is on chain", async () => {
  const json = '{"city":"Bern","mean":123456789012345678901.50}';
  const source = "return Functions.encodeString(args[0])";
  const body = { network: "sepolia", source, args: [json], returnType: "string" };
  const { id } = await callApi("/api/oracleFunctions/runFunction", body);
  await page.goto(`${tyche.url}/r/${id}`);
  const listing = result().getByRole("region", { name: "JSON", exact: true });
  await expect
    .poll(() => listing.innerText())
    .toBe('{\n  "city": "Bern",\n  "mean": 123456789012345678901.50\n}');
  expect(await visitor.copy(page.getByRole("button", { name: "Copy result" }))).toBe(json);
  await verdict()
    .getByText(/^\d+ steps: .*hold/)
    .waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("random numbers are numbered from 1, a single one is not, and both say how they came about", async () => {
  const draw = (numWords: number) =>
    callApi("/api/vrfv2/requestRandomNumber", { network: "sepolia", numWords });
  const { id, randomNumber } = await draw(3);
  await page.goto(`${tyche.url}/r/${id}`);
  await page.getByRole("heading", { level: 1, name: "3 random numbers", exact: true }).waitFor();
  await page.getByText(/^on Ethereum Sepolia/).waitFor();
  const numbers = result().getByRole("listitem");
  await expect.poll(() => numbers.count()).toBe(3);
  expect(await result().getByRole("list").getAttribute("start")).toBeNull();
  expect(await visitor.copy(page.getByRole("button", { name: "Copy all random numbers" }))).toBe(
    randomNumber.join("\n"),
  );
  await expect.poll(() => page.locator("#how").getByRole("listitem").count()).toBe(2);
  await visitor.inspect();
  const one = await draw(1);
  await page.goto(`${tyche.url}/r/${one.id}`);
  await result().getByText(one.randomNumber[0], { exact: true }).waitFor();
  await result()
    .getByText("It is a whole number from 0 to 2256 − 1, each as likely as any other.", { exact: true })
    .waitFor();
  expect(await numbers.count()).toBe(0);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("the steps of a draw from a long list count its entries", async () => {
  const list = Array.from({ length: 200 }, (_, i) => `guest ${i + 1}`);
  const { id } = await draw("lotto", { numberOfWinners: "1", list });
  await page.goto(`${tyche.url}/r/${id}`);
  await verdict()
    .getByText(/^\d+ steps: /)
    .click();
  await verdict()
    .getByText(/^lotto \(source \d+\): numberOfWinners = 1, list = 200 entries$/)
    .waitFor();
  expect(await verdict().getByText('"guest 2"').count()).toBe(0);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a draw that repeats a label says so in its verdict", async () => {
  await draw("coinflip", { label: "repeated" });
  const { id } = await draw("coinflip", { label: "repeated" });
  await page.goto(`${tyche.url}/r/${id}`);
  await verdict().getByText("valid: only request 2 of 2 with this label", { exact: true }).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a result that was changed is not valid, and one whose chain can't be read is not checked", async () => {
  const { id, result } = await draw("nDice", { numDice: "2", numFaces: "6" });
  const other = `${result.slice(2, -4)}${result.endsWith("365d") ? "345d" : "365d"}`;
  await page.route(/\/chainData$/, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: (await answer.text()).replaceAll(result.slice(2), other) });
  });
  await page.goto(`${tyche.url}/r/${id}`);
  await verdict().getByText("Your browser has computed every step").waitFor();
  await verdict()
    .getByText(/^not (valid|confirmed)$/)
    .waitFor();
  expect(await verdict().getByText("valid", { exact: true }).count()).toBe(0);
  await page.unroute(/\/chainData$/);
  await page.route(/\/chainData$/, (route) =>
    route.fulfill({ status: 422, json: { data: { code: "invalid_parameter", err: "no chain" } } }),
  );
  await page.goto(`${tyche.url}/r/${id}?again`);
  await verdict()
    .getByText(/^This page could not check the result: no chain/i)
    .waitFor();
  await page.unroute(/\/chainData$/);
  await page.route(/\/chainData$/, () => {});
  await page.emulateMedia({ media: "print" });
  await page.goto(`${tyche.url}/r/${id}?unanswered`);
  await verdict().getByText("This result was not checked when it was printed.", { exact: true }).waitFor();
});

test("without a label, a draw has its preset's title; without a list, it says nothing of entries", async () => {
  const { id } = await draw("coinflip", {});
  await page.goto(`${tyche.url}/r/${id}`);
  await page.getByRole("heading", { level: 1, name: "Flip a coin", exact: true }).waitFor();
  await page.getByText(/^on Ethereum Sepolia \(local chain\), 20/).waitFor();
  expect(await page.locator(".coin").innerText()).toMatch(/^(?:Heads|Tails)$/);
  await expect.poll(() => page.title()).toMatch(/^(?:Heads|Tails) – Flip a coin · Tyche$/);
  expect(visitor.troubles).toEqual([]);
});

test("calls a draw genuine on a public chain only: on a local one, it matches the operator's own chain", async () => {
  const { id } = await draw("coinflip", {});
  const open = async (heading: string): Promise<void> => {
    await page.goto(`${tyche.url}/r/${id}`);
    await verdict().getByRole("heading", { name: heading, exact: true }).waitFor();
  };
  await open("This draw matches the operator's own chain");
  await page.route("**/api/explorer/networks", async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replaceAll('"embedded":true', '"embedded":false');
    await route.fulfill({ response, body });
  });
  await open("This draw is genuine");
  expect(visitor.troubles).toEqual([]);
});
