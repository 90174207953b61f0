import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../cli/runCli.ts";
import { startTycheProcess, type Answer, type TycheProcess } from "../support/tyche.ts";

let tyche: TycheProcess;
let folder: string;
beforeAll(async () => {
  tyche = await startTycheProcess({ networks: ["sepolia"] });
  folder = mkdtempSync(path.join(tmpdir(), "tyche-labels-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await tyche.stop();
});

const preset = (name: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  tyche.call("POST", `/api/vrfv2/presets?network=sepolia&preset=${name}`, { body, headers });
const random = (body: object): Promise<Answer> =>
  tyche.call("POST", "/api/vrfv2/requestRandomNumber", { body: { network: "sepolia", ...body } });
const hashOf = ({ data }: Answer): string => String(data.url).split("/").pop()!;
const verify = async (answer: Answer) => {
  const query = `network=sepolia&tx=${hashOf(answer)}&requestId=${answer.data.requestId}`;
  const { data } = await tyche.call("GET", `/api/verify?${query}`);
  return data.requests[0];
};

test("a label is shown as it was spelled, and another spelling of it makes no other request", async () => {
  const key = { "idempotency-key": "spelled" };
  const { data } = await preset("coinflip", { label: "Who  Begins" }, key);
  expect((await preset("coinflip", { label: "who begins" }, key)).data.id).toBe(data.id);
  expect((await tyche.call("GET", `/api/requests/${data.id}`)).data).toMatchObject({
    params: { label: "who begins" },
    givenLabel: "Who  Begins",
  });
  const text = await (await fetch(`${tyche.url}/r/${data.id}`)).text();
  expect(text).toContain("<h1>Who  Begins</h1>");
  const listed = await fetch(`${tyche.url}/api/explorer/requests?text=WHO+BEGINS`);
  expect(await listed.json()).toMatchObject({
    data: { items: [{ label: "who begins", givenLabel: "Who  Begins" }] },
  });
});

test("a raffle that is drawn once says so to whoever verifies it, and is drawn no second time", async () => {
  const raffle = { list: ["ann", "bob", "cy"], label: "Raffle 2026-12-24", once: true };
  const drawn = await preset("lotto", raffle);
  expect(drawn).toMatchObject({ status: 200, data: { success: true, label: "raffle 2026-12-24" } });
  const refused = {
    status: 409,
    data: { success: false, code: "label_taken", id: drawn.data.id, err: expect.stringContaining("label") },
  };
  expect(await preset("lotto", raffle)).toMatchObject(refused);
  expect(await preset("coinflip", { label: "raffle 2026-12-24" })).toMatchObject(refused);
  expect(await random({ label: "RAFFLE\u00a02026-12-24", once: true })).toMatchObject(refused);

  expect(await verify(drawn)).toMatchObject({
    verdict: "valid",
    args: ["1", JSON.stringify(raffle.list)],
    preset: { name: "lotto", parameters: ["numberOfWinners", "list"] },
    label: { label: "raffle 2026-12-24", draw: 1, draws: [expect.anything()], searched: { isWhole: true } },
  });
  const shared = await fetch(`${tyche.url}/api/explorer/results/${drawn.data.id}`);
  const { data: result } = (await shared.json()) as Answer;
  // Nobody chose the name of the first dapp.
  expect(result).not.toHaveProperty("dappName");
  expect({ data: result }).toMatchObject({
    data: {
      preset: "lotto",
      params: { numberOfWinners: "1", list: raffle.list },
      dappId: expect.stringMatching(/^dapp_/),
      givenLabel: "Raffle 2026-12-24",
      outcome: { label: "raffle 2026-12-24" },
    },
  });

  const entries = path.join(folder, "entries.txt");
  writeFileSync(entries, "ann\nbob\ncy\n");
  const check = (...expected: readonly string[]) =>
    runCli(["verify", "sepolia", hashOf(drawn), ...expected.flatMap((one) => ["--expect", one])], "", {
      TYCHE_DATA_DIR: tyche.dataDir,
    });
  const find = (label: string) => runCli(["verify", "sepolia", label], "", { TYCHE_DATA_DIR: tyche.dataDir });
  expect(await find("Raffle 2026-12-24")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(drawn.data.requestId),
  });
  expect(await find("no such raffle")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no request on sepolia has the label "no such raffle" (blocks 0 to '),
  });
  const receipt = path.join(folder, "receipt.json");
  const checkReceipt = (answer: object) => {
    writeFileSync(receipt, JSON.stringify(answer));
    return runCli(["verify", "sepolia", hashOf(drawn), "--receipt", receipt], "", {
      TYCHE_DATA_DIR: tyche.dataDir,
    });
  };
  const { data: kept } = await tyche.call("GET", `/api/requests/${drawn.data.id}`);
  expect(await checkReceipt({ data: { ...kept, outcome: null } })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('numberOfWinners = 1, list = ["ann","bob","cy"]'),
    stderr:
      "as the receipt says: network, kind, dapp, label, round, preset, numberOfWinners, list, state, shown, once, not mined before createdAt\n",
  });
  const outcome = { ...kept.outcome, value: ["eve"] };
  expect(await checkReceipt({ ...kept, outcome })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('not as the receipt says: value: the receipt says ["eve"]'),
  });
  expect(await checkReceipt({ ...kept, dappId: "dapp_b" })).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^not as expected: .*\n {2}not as the receipt says: dapp: the receipt says dapp_b, the chain dapp_/,
    ),
  });
  expect(await checkReceipt({ ...kept, params: { ...kept.params, list: ["eve"] } })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('not as the receipt says: list: the receipt says ["eve"]'),
  });
  const listed = await runCli(["requests", "list", "--kind", "preset"], "", {
    TYCHE_URL: tyche.url,
    TYCHE_API_KEY: tyche.apiKey,
  });
  expect(listed).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ fulfilled {3}"raffle 2026-12-24" {2}\S/),
  });
  const right = await check("label=Raffle 2026-12-24", "preset=lotto", `list=@${entries}`);
  expect(right).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /the dapp's first request with this label, and the only one that the node lists \(blocks 0 to \d+; block hashes show that none is left out in 0 to \d+\)/,
    ),
  });
  expect(await check("label=raffle 2026-12-25")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('the label is "raffle 2026-12-24", not "raffle 2026-12-25"'),
  });
  writeFileSync(entries, JSON.stringify(["ann", "bob"]));
  expect(await check(`list=@${entries}`)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^not as expected: .*\n {2}not as expected: the list has 3 entries/),
  });
});

test("of parallel calls with once and one label, one draws", async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => random({ label: "parallel", once: true })),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    200,
    ...Array.from({ length: 7 }, () => 409),
  ]);
});

test("a draw that is repeated until one suits is told as one of several", async () => {
  const draws = [];
  for (let i = 0; i < 3; i += 1) draws.push(await preset("nDice", { numDice: "2", label: "two dice" }));
  expect(await verify(draws[2]!)).toMatchObject({ label: { draw: 3, draws: { length: 3 } } });
  expect((await verify(await preset("coinflip", {}))).label).toBeNull();
  const { stderr } = await runCli(["verify", "sepolia", "two dice"], "", { TYCHE_DATA_DIR: tyche.dataDir });
  expect(stderr).toContain('3 transactions have requests with the label "two dice" (blocks 0 to ');
  const listed = /^\d\. 0x[0-9a-f]{64}\n {3}nDice {2}\d+, \d+ {2}20.* UTC {2}dapp_\w+$/gm;
  expect(stderr.match(listed)).toHaveLength(3);
});

test("what the service answers to each kind of request is a receipt of it", async () => {
  const source = "return Functions.encodeInt256(-7)";
  const body = { network: "sepolia", source, args: ["a"], returnType: "int256", label: "seven" };
  const answers = [
    await tyche.call("POST", "/api/oracleFunctions/runFunction", { body }),
    await random({ label: "words", numWords: 2 }),
    await preset("coinflip", { label: "coin" }),
    await preset("nDice", { label: "dice", numDice: "3" }),
    await preset("range", { label: "range", min: "-5", max: "5" }),
  ];
  const file = path.join(folder, "own.json");
  for (const answer of answers) {
    const { data: request } = await tyche.call("GET", `/api/requests/${answer.data.id}`);
    for (const receipt of [answer.data, request]) {
      writeFileSync(file, JSON.stringify(receipt));
      const words = ["verify", "sepolia", hashOf(answer), "--request-id", answer.data.requestId];
      const env = { TYCHE_DATA_DIR: tyche.dataDir };
      const { code, stderr } = await runCli([...words, "--receipt", file], "", env);
      expect(stderr).toMatch(/^as the receipt says: .*, value(?:, |\n)/);
      expect(code).toBe(0);
    }
  }
});

test("a request that fails before it is sent leaves its label free", async () => {
  const source = "throw new Error('no')";
  const failing = { network: "sepolia", source, label: "try", once: true };
  const run = (body: object, prefer = "wait=60") =>
    tyche.call("POST", "/api/oracleFunctions/runFunction", { body, headers: { prefer } });
  const accepted = await run(failing, "respond-async");
  expect(accepted.status).toBe(202);
  await expect
    .poll(async () => (await tyche.call("GET", `/api/requests/${accepted.data.id}`)).data.state)
    .toBe("failed");
  const working = { ...failing, source: "return Functions.encodeString('x')" };
  expect(await run(working)).toMatchObject({ status: 200, data: { label: "try" } });
});

test.each([
  ["random", { once: true }, "/once"],
  ["random", { label: "" }, "/label"],
  ["preset", { label: "x".repeat(101) }, "/label"],
  ["preset", { label: "a\u200bb", once: true }, "/label"],
  ["preset", { label: 7 }, "/label"],
  ["random", { label: "a", once: "yes" }, "/once"],
])("a %s with %j is refused at %s", async (kind, body, at) => {
  const answer = kind === "random" ? await random(body) : await preset("coinflip", body);
  expect(answer).toMatchObject({ status: 400, data: { details: [{ path: at }] } });
});
