import type { RequestVerification, Verification, VerificationStep } from "../../src/api/types.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Command } from "commander";
import pc from "picocolors";
import { keccak256, stringToHex } from "viem";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import type { VerifyToolOptions } from "../../src/app/tools/verifyTool.ts";
import { registerVerify } from "../../src/cli/verifyCommand.ts";
import { printVerification } from "../../src/cli/printVerification.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { RpcError } from "../../src/lib/nodeAnswers.ts";

const TX = `0x${"5f".repeat(32)}` as const;

const NOTHING: Verification = {
  network: "sepolia",
  chainId: 11_155_111,
  transactionHash: TX,
  valid: true,
  verdict: "valid",
  requests: [],
  contracts: {},
  trust: [],
};

const QUIET: Terminal = { out() {}, err() {}, isTerminal: false, colors: pc.createColors(false) };

afterEach(() => void (process.exitCode = undefined));

/** Runs the command, and returns what it asked for and printed. */
async function run(flags: readonly string[], found = NOTHING, which: string = TX) {
  const lines: string[] = [];
  const write = (text: string) => void lines.push(text);
  const terminal: Terminal = { out: write, err: write, isTerminal: false, colors: pc.createColors(false) };
  let asked: VerifyToolOptions | undefined;
  const program = new Command();
  registerVerify(program, terminal, (options) => {
    asked = options;
    return Promise.resolve(found);
  });
  await program.parseAsync(["verify", "sepolia", which, ...flags], { from: "user" });
  return { asked, output: lines.join("\n") };
}

test("whether blocks are hashed is left to what is known of the network", async () => {
  const { asked } = await run([]);
  expect(asked).not.toHaveProperty("hasEthereumBlocks");
});

test.each([
  [TX, TX],
  [`https://explorer.example.org/tx/${TX}#events`, TX],
  ["Raffle 2026", { label: "Raffle 2026" }],
])("takes %s in place of the transaction's hash", async (text, which) => {
  expect((await run([], NOTHING, text)).asked).toMatchObject({ which });
});

test("takes the url of an answer alone, which names the network", async () => {
  const program = new Command();
  let asked: VerifyToolOptions | undefined;
  registerVerify(program, QUIET, (options) => {
    asked = options;
    return Promise.resolve(NOTHING);
  });
  const url = `https://tyche.example.org/explorer/sepolia/tx/${TX}`;
  await program.parseAsync(["verify", url], { from: "user" });
  expect(asked).toMatchObject({ network: "sepolia", which: TX });
});

test("an id may have spaces around it", async () => {
  const program = new Command().exitOverride();
  registerVerify(program, {} as Terminal, () => Promise.resolve(NOTHING));
  const id = "req_01h000000000000000000000ab";
  await expect(program.parseAsync(["verify", ` ${id} `, TX], { from: "user" })).rejects.toThrow(
    "a result is named twice",
  );
});

test("says what comes before a transaction's address in an explorer", async () => {
  const text = `https://sepolia.etherscan.io/tx/${TX}`;
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  registerVerify(program, QUIET, () => Promise.resolve(NOTHING));
  const verify = program.commands[0]!.exitOverride().configureOutput({ writeErr: () => {} });
  await expect(verify.parseAsync([text], { from: "user" })).rejects.toThrow(`tyche verify <network> ${text}`);
});

test.each([
  ["0x12", "64 hex digits"],
  ["https://explorer.example.org/block/7", "ends in /tx/ and its hash"],
  ["https://tyche.example.org/r/", "ends in /r/ and its id"],
  ["x".repeat(101), "a label must have 1 to 100 characters"],
])("rejects %s in place of it", async (text, reason) => {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  registerVerify(program, {} as Terminal, () => Promise.resolve(NOTHING));
  const verify = program.commands[0]!.exitOverride().configureOutput({ writeErr: () => {} });
  const parsed = verify.parseAsync(["sepolia", text], { from: "user" });
  await expect(parsed).rejects.toThrow(reason);
});

test.each([
  [["rubbish"], '"rubbish" alone names no result'],
  [["rubbish!"], '"rubbish!" alone names no result'],
  [["christmas-2026"], '"christmas-2026" alone names no result'],
  [["127.0.0.1:4791/r/req_1"], '"127.0.0.1:4791/r/req_1" alone names no result'],
  [["christmas-2026", TX], '"christmas-2026" is no network\'s name'],
  [["req_01h000000000000000000000ab", TX], "a result is named twice"],
])("says what to enter in place of %j", async (args, problem) => {
  const program = new Command();
  registerVerify(program, {} as Terminal, () => Promise.resolve(NOTHING));
  await expect(program.parseAsync(["verify", ...args], { from: "user" })).rejects.toThrow(
    `${problem}: enter tyche verify and a result's link (https://…/r/req_…), its id (req_…) or the url of an answer, or tyche verify <network> and a transaction's hash or a draw's label`,
  );
});

test.each([
  ["--no-blocks", false],
  ["--blocks", true],
])("%s decides whether blocks are hashed", async (flag, hasEthereumBlocks) => {
  expect((await run([flag])).asked).toMatchObject({ hasEthereumBlocks });
});

test("option: --from-block and --to-block bound the search for other requests with the label", async () => {
  const { asked } = await run(["--from-block", "7", "--to-block", "9"]);
  expect(asked).toMatchObject({ labelSearch: { fromBlock: 7n, toBlock: 9n } });
});

const hexOf = (text: string): string => `0x${Buffer.from(text).toString("hex")}`;

/** A lotto of which one step fails or none. */
function lotto(outcome: "ok" | "failed", facts: Partial<RequestVerification> = {}): Verification {
  const request: RequestVerification = {
    kind: "preset",
    requestId: `0x${"91".repeat(32)}`,
    vrfRequestId: null,
    verdict: outcome === "ok" ? "valid" : "invalid",
    failed: outcome === "ok" ? null : "delivery",
    transactions: { request: `0x${"a1".repeat(32)}`, randomness: null, report: TX },
    result: hexOf("Winners: bob, dän"),
    err: "0x",
    randomNumber: ["7"],
    keyHashes: [`0x${"ee".repeat(32)}`],
    sourceHash: keccak256(stringToHex("return 7")),
    source: "return\u202E\n\t7",
    args: ["2", '["ann","bob","dän"]'],
    preset: { sourceId: 3, name: "lotto", parameters: ["numWinners", "list"] },
    beacon: null,
    requestedAt: "2026-12-24T18:00:00.000Z",
    deliveredAt: "2026-12-24T18:00:02.000Z",
    deliveredBy: `0x${"d1".repeat(20)}`,
    label: null,
    steps: [
      {
        name: "source",
        outcome: "ok",
        detail: "the source holds",
        compared: [{ what: "source hash", expected: "0x07", found: "0x07" }],
      },
      {
        name: "delivery",
        outcome,
        detail: "the delivery",
        compared: [{ what: "result", expected: "0x01", found: outcome === "ok" ? "0x01" : "0x02" }],
      },
    ],
    ...facts,
  };
  const { verdict } = request;
  return { ...NOTHING, valid: verdict === "valid", verdict, requests: [request], trust: ["Something."] };
}

test("prints verdict and result first, then a line per step", async () => {
  expect((await run([], lotto("ok"))).output).toMatchInlineSnapshot(`
    "valid: 1 request of 0x5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f on sepolia
      lotto  "Winners: bob, dän"

    preset  0x9191919191919191919191919191919191919191919191919191919191919191
      of     lotto (source 3): numWinners = 2, list = ["ann","bob","dän"]
      time   requested 2026-12-24 18:00:00 UTC, result delivered 2026-12-24 18:00:02 UTC by 0xd1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1
      label  The request has no label, so the chain does not show whether it is the only one, or one that was picked from many.
      ✓ source        the source holds
      ✓ delivery      the delivery
      word   7

    What you still have to trust
      – Something."
  `);
});

test.each([
  ["Heads", `0x${"1".padStart(64, "0")}`, "Heads (1)"],
  ["4, 1", hexOf("[4,1]"), '4, 1 ("[4,1]")'],
  ["bob, dän", hexOf("Winners: bob, dän"), "bob, dän"],
])("shows %s, as the preset says, with the raw value beside it", (words, result, line) => {
  const lines: string[] = [];
  const found = lotto("ok", { result });
  const shown = new Map([[found.requests[0]!.requestId, words]]);
  const terminal = { ...QUIET, out: (text: string) => void lines.push(text) };
  printVerification(found, terminal, { isVerbose: false, isQuiet: false, unexpected: [], shown });
  expect(lines[1]).toBe(`  lotto  ${line}`);
});

test("of several requests, each that differs from the verdict has its own", async () => {
  const [good] = lotto("ok").requests;
  const [bad] = lotto("failed").requests;
  const found = { ...NOTHING, valid: false, verdict: "invalid", requests: [good!, bad!] } as const;
  const { output } = await run([], found);
  expect(output).toMatch(
    /^not valid: 2 requests of 0x(5f)+ on sepolia\n {2}delivery: the delivery\n {2}lotto {2}"Winners: bob, dän": valid\n {2}lotto {2}claimed, not proven: "Winners: bob, dän"\n/,
  );
});

test("a failed step says what it compared", async () => {
  const { output } = await run([], lotto("failed"));
  expect(output).toContain("✗ delivery      the delivery\n      result: 0x02, expected 0x01\n");
  expect(output).not.toContain("bytesArgs");
  expect(output).toMatch(/^not valid: 1 request of 0x/);
  expect(process.exitCode).toBe(1);
});

test("option: --verbose adds the transactions, what each step compared, the result's bytes, and the source", async () => {
  const { output } = await run(["--verbose"], lotto("ok"));
  expect(output).toContain("  source\n      returnU+202E\n        7\n");
  expect((await run([], lotto("ok"))).output).not.toContain("  source\n");
  expect(output).toContain(`  request       0x${"a1".repeat(32)}\n`);
  expect(output).toContain("      source hash: 0x07\n");
  expect(output).toContain(hexOf("Winners: bob, dän"));
});

test("option: --quiet prints the verdict and the results alone", async () => {
  expect((await run(["--quiet"], lotto("ok"))).output).toBe(
    `valid: 1 request of ${TX} on sepolia\n  lotto  "Winners: bob, dän"`,
  );
  expect((await run(["--quiet"], lotto("failed"))).output).toBe(
    `not valid: 1 request of ${TX} on sepolia\n  delivery: the delivery\n  lotto  claimed, not proven: "Winners: bob, dän"`,
  );
  expect(process.exitCode).toBe(1);
});

test("of many words only the first are printed", async () => {
  const found = lotto("ok", {
    kind: "random",
    result: null,
    randomNumber: Array.from({ length: 12 }, (_, i) => String(i)),
  });
  const short = (await run([], found)).output;
  expect(short).toContain("  word   9\n         and 2 more: see --verbose\n");
  expect((await run(["--verbose"], found)).output).toContain("  word   11\n");
});

test("a request without an answer has no result yet", async () => {
  const { output } = await run([], lotto("ok", { verdict: "incomplete", result: null, err: null }));
  expect(output).toMatch(/^no result yet: 1 request of 0x.*\n {2}lotto {2}no result\n/);
  expect(process.exitCode).toBe(1);
});

test("without a result, what it waits for comes first, with --quiet, too", async () => {
  const detail = "there is no report on chain yet: it waits for round 7";
  const steps: VerificationStep[] = [{ name: "delivery", outcome: "notApplicable", detail, compared: [] }];
  const found = lotto("ok", { verdict: "incomplete", result: null, err: null, steps });
  for (const flags of [[], ["--quiet"]])
    expect((await run(flags, found)).output).toMatch(
      new RegExp(`^no result yet: 1 request of 0x.*\n {2}${detail}\n {2}lotto {2}no result`),
    );
});

test("what is not valid is no more than claimed", async () => {
  expect((await run([], lotto("failed", { verdict: "invalid" }))).output).toContain(
    "  lotto  claimed, not proven: ",
  );
});

test("what is not confirmed says what to do next", async () => {
  const open = (name: VerificationStep["name"]): Partial<RequestVerification> => ({
    verdict: "unconfirmed",
    steps: [{ name, outcome: "notApplicable", detail: "so it is", compared: [] }],
  });
  expect((await run([], lotto("ok", open("execution")))).output).toContain("read the source, and decide");
  expect((await run([], lotto("ok", open("proof")))).output).toContain("verify again with another node");
});

test.each([
  ["unconfirmed", "execution", "not confirmed", "the source uses HTTP"],
  ["conditional", "contracts", "valid, if these contracts are the operator's", "vrfCoordinator 0x01"],
] as const)("%s says why below the verdict, and exits with 1", async (verdict, name, words, detail) => {
  const compared = [
    { what: "result of the source", expected: "0x01", found: "0x02" },
    { what: "the rest", expected: "0x03", found: "0x03" },
  ];
  const steps: VerificationStep[] = [{ name, outcome: "notApplicable", detail, compared }];
  const { output } = await run([], lotto("ok", { verdict, steps }));
  expect(output).toMatch(new RegExp(`^${words}: 1 request of 0x(?:5f)+ on sepolia\n  ${detail}\n`));
  expect(output).toContain("      result of the source: 0x02, expected 0x01\n");
  expect(output).not.toContain("the rest");
  expect(process.exitCode).toBe(1);
});

describe("option: --expect", () => {
  const draws = [`0x${"a1".repeat(32)}`, `0x${"a2".repeat(32)}`].map((transactionHash) => ({
    transactionHash: transactionHash as `0x${string}`,
    blockNumber: "7",
  }));
  const first: NonNullable<RequestVerification["label"]> = {
    dapp: "dapp_a",
    label: "raffle",
    draw: 1,
    draws,
    searched: { from: "0", to: "9", codeFrom: "0", omits: false, isWhole: true, provenFrom: null },
  };
  const part = { ...first.searched, to: "8", isWhole: false };
  const expecting = (all: readonly string[], label: typeof first | null = first) =>
    run(
      all.flatMap((one) => ["--expect", one]),
      lotto("ok", { label }),
    );

  test("of a transaction that was found by a label, only the request with the label counts", async () => {
    const [draw] = lotto("ok", { label: first }).requests;
    const [other] = lotto("failed").requests;
    const found = { ...NOTHING, valid: false, verdict: "invalid", requests: [other!, draw!] } as const;
    const { output } = await run([], found, "Raffle");
    expect(output).toMatch(/^valid: 1 request of 0x/);
    expect(output).not.toContain("has no label");
  });

  test("what is as expected is valid", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tyche-expect-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const fileOf = (name: string, text: string): string => {
      writeFileSync(path.join(folder, name), text);
      return `@${path.join(folder, name)}`;
    };
    const { output } = await expecting([
      "label=RAFFLE",
      "dapp=dapp_a",
      "preset=lotto",
      `source=${fileOf("source.js", "return 7")}`,
      `source=${keccak256(stringToHex("return 7")).replace(/[a-f]/g, (digit) => digit.toUpperCase())}`,
      `list=${fileOf("lines.txt", "\uFEFFann\r\nbob\r\ndän\r\n")}`,
      `list=${fileOf("list.json", '\uFEFF["ann", "bob", "dän"]')}`,
    ]);
    expect(output).toMatch(/^valid: 1 request of 0x(5f)+ on sepolia\n/);
    expect(process.exitCode).toBeUndefined();
  });

  test("a label without the dapp is warned of, as any dapp can use it", async () => {
    const warning =
      "warning: any dapp can use this label; if it was dapp_a that announced the draw, add --expect dapp=dapp_a";
    expect((await expecting(["label=raffle"])).output).toContain(warning);
    expect((await expecting(["label=raffle", "dapp=dapp_a"])).output).not.toContain("warning");
    expect((await expecting(["preset=lotto"])).output).not.toContain("warning");
  });

  test.each([
    ["another label", ["label=tombola"], first, `the label is "raffle", not "tombola"`],
    ["no label", ["label=raffle"], null, `the label is none, not "raffle"`],
    [
      "a later draw with the label",
      ["label=raffle"],
      { ...first, draw: 2 },
      `it is request 2 of 2 with this label; the first is in 0x${"a1".repeat(32)}`,
    ],
    [
      "blocks that were not searched",
      ["label=raffle"],
      { ...first, searched: { ...part, from: "5" } },
      "blocks before 5 were not searched; ask another node",
    ],
    [
      "a node without the state to show that there was no contract before",
      ["label=raffle"],
      { ...first, searched: { ...part, from: "5", codeFrom: null } },
      "blocks before 5 were not searched, and the node has no state of the time before the deployment",
    ],
    [
      "a part of the chain that ends before the request",
      ["label=raffle"],
      { ...first, searched: { ...part, to: "6" } },
      "blocks after 6, up to its own, were not searched",
    ],
    [
      "a listed request that the node has forgotten",
      ["label=raffle"],
      { ...first, searched: { ...part, omits: true } },
      "not all that the node lists, or not all blocks up to its own, could be read",
    ],
    ["another preset", ["preset=range"], first, "the preset is lotto, not range"],
    ["another source", [`source=0x${"5e".repeat(32)}`], first, "the source's keccak256 is 0x"],
    [
      "another list",
      [`list=@${import.meta.filename}`],
      first,
      /the list has 3 entries, and .* \d+; entry 1 of the list is "ann", and of .* "import.*; only in .*: "import.*, "import.*, "import.* and \d+ more; only in the list: "ann", "bob", "dän"/,
    ],
    ["no round", ["beacon=drand"], first, "its result follows from no round of drand's quicknet"],
    ["another dapp", ["dapp=dapp_b"], first, "the dapp is dapp_a, not dapp_b"],
    ["an unknown dapp", ["dapp=dapp_b"], null, "the dapp is unknown"],
  ])("%s exits with 1, and is never called valid", async (_what, all, label, why) => {
    const { output } = await expecting(all, label);
    expect(output).toMatch(
      /^not as expected: 1 request of 0x(5f)+ on sepolia\n {2}not as expected: (?!preset 0x)/,
    );
    expect(output).toMatch(why);
    expect(output.includes("to search other blocks: --from-block")).toBe(label?.searched.isWhole === false);
    expect(output).not.toMatch(/^valid/m);
    expect(process.exitCode).toBe(1);
  });

  test("of several requests, the reason comes first, then which of them it is", async () => {
    const [request] = lotto("ok").requests;
    const found = { ...lotto("ok"), requests: [request!, request!] };
    const { output } = await run(["--expect", "preset=range"], found);
    expect(output).toContain(
      `  not as expected: the preset is lotto, not range (preset ${request!.requestId})\n`,
    );
  });

  test("that it is the first is certain where block hashes prove it, whatever the node lists", async () => {
    const searched = { ...part, from: "5", omits: true, provenFrom: "0" };
    const { output } = await expecting(["label=raffle", "dapp=dapp_a"], { ...first, searched });
    expect(output).toMatch(/^valid: 1 request/);
  });

  test.each([
    ["the search ends after it", part],
    ["it begins with the contract's code", { ...part, from: "5", codeFrom: "5" }],
  ])("it is the first where all blocks up to its own were searched: %s", async (_, searched) => {
    const { output } = await expecting(["label=raffle", "dapp=dapp_a"], { ...first, searched });
    expect(output).toMatch(/^valid: 1 request/);
  });

  test.each([
    [
      ["ann", "dän", "bob"],
      `the list has the entries of FILE in another order; entry 2 of the list is "bob", and of FILE "dän"`,
    ],
    [
      ["ann", "dän"],
      `the list has 3 entries, and FILE 2; entry 2 of the list is "bob", and of FILE "dän"; only in the list: "bob"`,
    ],
    [["ann", "bob", "dän", "bob"], `the list has 3 entries, and FILE 4; only in FILE: "bob"`],
  ])("of a list with other entries than %j, it says which differ", async (entries, why) => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), "tyche-list-")), "list.txt");
    onTestFinished(() => rmSync(path.dirname(file), { recursive: true }));
    writeFileSync(file, JSON.stringify(entries));
    const { output } = await expecting([`list=@${file}`]);
    expect(output).toContain(`  not as expected: ${why.replaceAll("FILE", file)}\n`);
  });

  test.each(["list=entries.txt", "source=code.js"])("%s lacks the @ of a file", async (given) => {
    const program = new Command().exitOverride();
    registerVerify(program, {} as Terminal, () => Promise.resolve(NOTHING));
    const verify = program.commands[0]!.exitOverride().configureOutput({ writeErr: () => {} });
    const parsed = verify.parseAsync(["sepolia", TX, "--expect", given], { from: "user" });
    await expect(parsed).rejects.toThrow(`A file's name comes after @, such as ${given.replace("=", "=@")}`);
  });

  test("a list's first entry may begin with a bracket", async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), "tyche-list-")), "list.txt");
    onTestFinished(() => rmSync(path.dirname(file), { recursive: true }));
    writeFileSync(file, "[1] ann\n[2] bob\n");
    const args = ["1", '["[1] ann","[2] bob"]'];
    const { output } = await run(["--expect", `list=@${file}`], lotto("ok", { args }));
    expect(output).toMatch(/^valid: 1 request/);
  });

  test("the JSON is not valid either, and says why", async () => {
    const { output } = await run(["--json", "--expect", "dapp=dapp_b"], lotto("ok", { label: first }));
    expect(output).toContain('"valid": false');
    expect(output).toMatch(/"unexpected": \[\n\s+"not as expected: the dapp is dapp_a, not dapp_b"/);
  });
});

test("option: --contracts takes a file or the JSON itself", async () => {
  const given = { vrfCoordinator: `0x${"01".repeat(20)}` };
  expect((await run(["--contracts", JSON.stringify(given)])).asked).toMatchObject({ contracts: given });
  await expect(run(["--contracts", "{0x01"])).rejects.toThrow("--contracts is not JSON");
  await expect(run(["--contracts", import.meta.filename])).rejects.toThrow("is not JSON");
});

test("a draw that failed is no result, and says so in the verdict", async () => {
  const { output } = await run([], lotto("ok", { result: "0x", err: hexOf("known") }));
  expect(output).toContain(" UTC, error delivered 2026-12-24 ");
  expect(output).toContain("  lotto  error: known\n");
  expect(output).toMatch(/^the draw failed, and there is no result \(valid\): 1 request of 0x/);
  expect(process.exitCode).toBeUndefined();
});

test("characters of an argument that nobody sees are named", async () => {
  const { output } = await run([], lotto("ok", { args: ["2", '["ann","ann\u200b\u034f"]'] }));
  expect(output).toContain('list = ["ann","annU+200BU+034F"]');
});

test("a function's error can't control the terminal", async () => {
  const { output } = await run([], lotto("ok", { result: "0x", err: hexOf("no\u001b[31m price") }));
  expect(output).toContain("  lotto  error: noU+001B[31m price");
});

test("what a node or a source wrote can't pass for lines of the verification", async () => {
  const fake = "gone\n\n\u001b[32mvalid\u001b[0m: 1 request";
  const facts = lotto("failed", { err: hexOf(fake) });
  const [request] = facts.requests as [RequestVerification];
  const steps = request.steps.map((step) => ({
    ...step,
    outcome: "notApplicable" as const,
    name: "execution" as const,
    detail: fake,
    compared: [{ what: fake, expected: "1", found: "2" }],
  }));
  const verdict = "unconfirmed";
  const { output } = await run(["--verbose"], {
    ...facts,
    verdict,
    requests: [{ ...request, verdict, steps }],
  });
  expect(output.split("\n").filter((line) => /^\W*(\[\d+m)?valid/.test(line))).toEqual([]);
  const { message } = new RpcError("eth_getLogs", fake);
  expect(message).toBe("eth_getLogs: gone [32mvalid [0m: 1 request");
});
