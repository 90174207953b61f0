import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runTyche, startTycheProcess } from "../support/tyche.ts";
import type { TycheProcess } from "../support/tyche.ts";

const NETWORKS = ["polygon_mumbai", "sepolia", "fuji", "fantom_testnet"];
const HASH = /^0x[0-9a-f]{64}$/;

let tyche: TycheProcess;
let dappId: string;
beforeAll(async () => {
  tyche = await startTycheProcess();
  const { output } = await runTyche(["dapp", "list", "--json"], { TYCHE_DATA_DIR: tyche.dataDir });
  dappId = JSON.parse(output)[0].id;
});
afterAll(async () => {
  await tyche.stop();
});

/** An answer leads to its request, by both ids, and to its public page. */
async function expectReferences(data: { id: string; requestId: string; shareUrl: string }): Promise<void> {
  for (const id of [data.id, data.requestId])
    expect(await tyche.call("GET", `/api/requests/${id}`)).toMatchObject({
      status: 200,
      data: { id: data.id, shareUrl: data.shareUrl, outcome: data },
    });
  expect(data.shareUrl).toBe(`${tyche.url}/r/${data.id}`);
}

describe.each(NETWORKS)("on %s", (network) => {
  const preset = async (body: object) => {
    const answer = await tyche.call("POST", `/api/vrfv2/presets?network=${network}`, { body });
    expect(answer.status).toBe(200);
    expect(answer.data).toMatchObject({
      success: true,
      err: "0x",
      vrfv2Hash: expect.stringMatching(HASH),
      requestId: expect.stringMatching(HASH),
    });
    expect(answer.data.url).toMatch(new RegExp(`/explorer/${network}/tx/0x[0-9a-f]{64}$`));
    expect(answer.data.vrfv2EventHash).toBe(`${tyche.url}/explorer/${network}/tx/${answer.data.vrfv2Hash}`);
    await expectReferences(answer.data);
    return answer.data;
  };

  test("coinflip is 0 or 1 in 32 bytes", async () => {
    const { result, parsedResult, value } = await preset({});
    expect(["0", "1"]).toContain(parsedResult);
    expect(value).toBe(parsedResult === "1");
    expect(result).toBe(`0x${parsedResult.padStart(64, "0")}`);
  });

  test("range keeps to its bounds, negative ones too", async () => {
    const { result, parsedResult, value } = await preset({ preset: "range", min: "-3", max: "-3" });
    expect([parsedResult, value]).toEqual(["-3", "-3"]);
    expect(result).toBe(`0x${(2n ** 256n - 3n).toString(16)}`);
  });

  test("lotto draws winners from the list", async () => {
    const { result, parsedResult, value } = await preset({
      preset: "lotto",
      numberOfWinners: "2",
      list: ["ann", "bob, jr."],
    });
    expect(value.toSorted()).toEqual(["ann", "bob, jr."]);
    expect(parsedResult).toBe(`Winners: ${value.join(", ")}`);
    expect(Buffer.from(result.slice(2), "hex").toString()).toBe(parsedResult);
  });

  test("nDice rolls a hundred dice", async () => {
    const { parsedResult, value: dice } = await preset({ preset: "nDice", numFaces: "6", numDice: "100" });
    expect(dice).toEqual(JSON.parse(parsedResult));
    expect(dice).toHaveLength(100);
    for (const die of dice) expect(die).toSatisfy((n: number) => Number.isInteger(n) && n >= 1 && n <= 6);
  });

  test("a function's result comes back decoded", async () => {
    const body = {
      network,
      source: "return Functions.encodeUint256(BigInt(args[0]) * 2n)",
      args: ["21"],
      returnType: "uint256",
    };
    const answer = await tyche.call("POST", "/api/oracleFunctions/runFunction", { body });
    expect(answer).toMatchObject({
      status: 200,
      data: {
        success: true,
        parsedResult: "42",
        value: "42",
        err: "0x",
        requestId: expect.stringMatching(HASH),
      },
    });
    await expectReferences(answer.data);
  });

  test("random words are distinct decimal strings", async () => {
    const answer = await tyche.call(
      "POST",
      `/api/vrfv2/requestRandomNumber?network=${network}&numWords=3&confirmations=4`,
    );
    expect(answer).toMatchObject({
      status: 200,
      data: { success: true, transactionHash: expect.stringMatching(HASH) },
    });
    expect(new Set(answer.data.randomNumber).size).toBe(3);
    expect(answer.data.value).toEqual(answer.data.randomNumber);
    await expectReferences(answer.data);
    for (const word of answer.data.randomNumber) expect(word).toMatch(/^\d+$/);
  });

  test("a contract is linked once, with one transaction", async () => {
    const { data } = await tyche.call("GET", "/api/networks");
    const consumer = data.items.find((one: { name: string }) => one.name === network).contracts.link;
    const link = () =>
      tyche.call("POST", `/api/vrfv2/addConsumer?dappId=${dappId}&network=${network}&consumer=${consumer}`);
    const first = await link();
    expect(first).toMatchObject({
      status: 200,
      data: { success: true, transactionHash: expect.stringMatching(HASH) },
    });
    expect((await link()).data.transactionHash).toBe(first.data.transactionHash);
  });

  test("the service's own consumer is not linked a second time", async () => {
    const { data } = await tyche.call("GET", "/api/networks");
    const { presetConsumer } = data.items.find((one: { name: string }) => one.name === network).contracts;
    const query = `dappId=${dappId}&network=${network}&consumer=${presetConsumer}`;
    expect(await tyche.call("POST", `/api/vrfv2/addConsumer?${query}`)).toMatchObject({
      status: 400,
      data: { err: expect.stringContaining("own consumer, which is linked already") },
    });
  });
});

test("200 presets at once all succeed, each its own request", async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, () =>
      tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", { body: {} }),
    ),
  );
  expect(answers.filter(({ status, data }) => status === 200 && data.success)).toHaveLength(200);
  expect(new Set(answers.map(({ data }) => data.requestId)).size).toBe(200);
});
