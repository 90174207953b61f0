import { expect, test } from "vitest";
import { PresetResult } from "../../src/api/results.ts";
import { TycheError } from "../../src/lib/errors.ts";
import { InvalidParameterError } from "../../src/lib/invalidParameter.ts";
import { API_KEY, CONSUMER, KEY_HASH } from "./exampleService.ts";
import { startHarness } from "./harness.ts";

const PRESETS = "/api/vrfv2/presets";
const RANDOM = "/api/vrfv2/requestRandomNumber";
const RUN = "/api/oracleFunctions/runFunction";

test("a preset by query and body, answered in the envelope", async () => {
  const { call, service } = await startHarness();
  const reply = await call("POST", `${PRESETS}?network=sepolia&preset=range`, {
    body: { min: "1", max: 5 },
  });
  expect(reply.status).toBe(200);
  expect(Object.keys(JSON.parse(reply.text) as object)).toEqual(["data"]);
  expect(Object.keys(reply.data).toSorted()).toEqual(PresetResult.required.toSorted());
  expect(service.submitted).toEqual([
    {
      command: { kind: "preset", network: "sepolia", preset: "range", params: { min: "1", max: "5" } },
      options: { signal: expect.any(AbortSignal) },
    },
  ]);
});

test("a preset without a body is a coinflip on polygon_mumbai", async () => {
  const { call, service } = await startHarness();
  const reply = await call("POST", PRESETS);
  expect(reply).toMatchObject({ status: 200, data: { network: "polygon_mumbai" } });
  expect(service.submitted[0]?.command).toEqual({
    kind: "preset",
    network: "polygon_mumbai",
    preset: "coinflip",
    params: {},
  });
});

test("of a broken preset only the folder is wrong; what no preset takes is told where it is unknown", async () => {
  const { call, service } = await startHarness();
  const message = '"loot" can\'t be served until its folder is repaired';
  const refuse = service.parsePresetParams.bind(service);
  service.parsePresetParams = (name, ...rest) => {
    if (name !== "loot") return refuse(name, ...rest);
    throw new InvalidParameterError([{ path: "/preset", message }], { precludesOthers: true });
  };
  const broken = await call("POST", PRESETS, { body: { preset: "loot", luck: "5" } });
  expect(broken.status).toBe(400);
  expect(broken.data["details"]).toEqual([{ path: "/preset", message }]);
  const unknown = await call("POST", PRESETS, { body: { preset: "boot", luck: "5" } });
  expect((unknown.data["details"] as { path: string }[]).map(({ path }) => path)).toEqual([
    "/preset",
    "/luck",
  ]);
});

test("a parameter in query and body is fine when equal", async () => {
  const { call } = await startHarness();
  const reply = await call("POST", `${PRESETS}?network=fuji&preset=nDice`, {
    body: { network: "fuji", preset: "nDice", numDice: "2" },
  });
  expect(reply.status).toBe(200);
  expect((await call("POST", `${RANDOM}?numWords=3`, { body: { numWords: 3 } })).status).toBe(200);
});

test("a whole number past 2^53 reaches the preset exactly", async () => {
  const { call, service } = await startHarness();
  const body = `{"preset":"range","min":0,"max":115792089237316195423570985008687907853}`;
  expect((await call("POST", PRESETS, { body })).status).toBe(200);
  expect(service.submitted[0]?.command).toMatchObject({
    params: { max: "115792089237316195423570985008687907853" },
  });
});

test("a preset with its confirmations, by query and by body", async () => {
  const { call, service } = await startHarness();
  await call("POST", `${PRESETS}?network=sepolia&preset=coinflip&confirmations=5`);
  await call("POST", PRESETS, { body: { network: "sepolia", preset: "coinflip", confirmations: 6 } });
  expect(service.submitted.map(({ command }) => command)).toMatchObject([
    { kind: "preset", preset: "coinflip", params: {}, confirmations: 5 },
    { kind: "preset", preset: "coinflip", params: {}, confirmations: 6 },
  ]);
});

test("confirmations of a preset outside the network's range", async () => {
  const { call } = await startHarness();
  const reply = await call("POST", `${PRESETS}?network=sepolia&preset=coinflip&confirmations=2`);
  expect(reply).toMatchObject({
    status: 400,
    data: { details: [{ path: "/confirmations", message: "must be from 3 to 200 on sepolia; got 2" }] },
  });
});

test("random numbers, by query, by body, and by default on fantom_testnet", async () => {
  const { call, service } = await startHarness();
  await call(
    "POST",
    `${RANDOM}?network=sepolia&numWords=2&confirmations=3&keyHash=${KEY_HASH.toUpperCase().replace("0X", "0x")}`,
  );
  await call("POST", RANDOM, { body: { numWords: "500" } });
  const reply = await call("POST", RANDOM);
  expect(reply.data).toMatchObject({ success: true, randomNumber: ["1", "2"] });
  expect(service.submitted.map(({ command }) => command)).toEqual([
    { kind: "random", network: "sepolia", numWords: 2, confirmations: 3, keyHash: KEY_HASH },
    { kind: "random", network: "fantom_testnet", numWords: 500 },
    { kind: "random", network: "fantom_testnet", numWords: 1 },
  ]);
});

test("a function run, with its defaults", async () => {
  const { call, service } = await startHarness();
  const reply = await call("POST", RUN, { body: { network: "sepolia", source: "return 1" } });
  expect(reply.status).toBe(200);
  expect(reply.data).toMatchObject({ success: true, err: "0x", parsedResult: "1" });
  expect(service.submitted[0]?.command).toEqual({
    kind: "function",
    network: "sepolia",
    source: "return 1",
    args: [],
    returnType: "string",
  });
});

test("a consumer is linked by query, its address checksummed", async () => {
  const { call, service } = await startHarness();
  for (const consumer of [CONSUMER, CONSUMER.toLowerCase()]) {
    const reply = await call(
      "POST",
      `/api/vrfv2/addConsumer?dappId=dapp_1&network=fuji&consumer=${consumer}`,
    );
    expect(reply.status).toBe(200);
  }
  expect(service.submitted.map(({ command }) => command)).toEqual(
    [1, 2].map(() => ({ kind: "consumer", network: "fuji", dappId: "dapp_1", consumer: CONSUMER })),
  );
});

test("a consumer is unlinked by its address in the path, and the caller's dapp is the key's", async () => {
  const { call, service } = await startHarness();
  const reply = await call("DELETE", `/api/vrfv2/consumers/${CONSUMER.toLowerCase()}?network=fuji`);
  expect([reply.status, reply.data["success"]]).toEqual([200, true]);
  expect(service.submitted.map(({ command }) => command)).toEqual([
    { kind: "unlink", network: "fuji", consumer: CONSUMER },
  ]);
});

test("a dapp is deleted with its own key; another's is not there", async () => {
  const { call } = await startHarness();
  expect((await call("DELETE", "/api/dapps/dapp_2")).status).toBe(404);
  expect((await call("DELETE", "/api/dapps/dapp_1?force=true")).status).toBe(400);
  expect((await call("DELETE", "/api/dapps/dapp_1", { key: null })).status).toBe(401);
  const reply = await call("DELETE", "/api/dapps/dapp_1");
  expect([reply.status, reply.data]).toEqual([200, { success: true, dappId: "dapp_1" }]);
});

test("simulate answers console, time and memory, and submits nothing", async () => {
  const { call, service } = await startHarness();
  const reply = await call("POST", "/api/oracleFunctions/simulate", { body: { source: "return 1" } });
  expect(reply.data).toMatchObject({ success: true, console: "hello\n", timeMs: 1.5 });
  expect(service.submitted).toEqual([]);
});

test("the key may come bare or after Bearer", async () => {
  const { call } = await startHarness();
  for (const key of [API_KEY, `Bearer ${API_KEY}`, `bearer  ${API_KEY} `]) {
    expect((await call("GET", "/api/presets", { key })).status).toBe(200);
  }
});

test("a refused source is 422 with the function result and what was captured", async () => {
  const { call, service } = await startHarness();
  const details = {
    success: false,
    requestId: "",
    result: "0x",
    parsedResult: "",
    err: "boom",
    url: "",
    console: "hi\n",
    line: 2,
    column: 7,
  };
  service.behave({ throws: new TycheError("boom", { code: "function_failed", blame: "caller", details }) });
  const reply = await call("POST", RUN, { body: { network: "sepolia", source: "throw Error('boom')" } });
  expect(reply.status).toBe(422);
  expect(reply.data).toEqual({ ...details, code: "function_failed" });
});

test("what the service throws on purpose has its status; what it throws otherwise is a bare 500", async () => {
  const { call, service, logged } = await startHarness();
  service.behave({ throws: new Error("secret path /home/x") });
  const reply = await call("POST", PRESETS, { headers: { "X-Request-Id": "abc-1" } });
  expect(reply.status).toBe(500);
  expect(reply.data).toEqual({
    success: false,
    err: "Something failed on our side.",
    code: "internal",
    correlationId: "abc-1",
  });
  expect(logged()).toContain("secret path");
});

test("a request that ended without a result answers by its code", async () => {
  const { call, service } = await startHarness();
  service.behave({ fails: { code: "request_failed", message: "callback reverted: no" } });
  const reply = await call("POST", PRESETS);
  expect(reply.status).toBe(502);
  expect(reply.data).toMatchObject({ success: false, err: "callback reverted: no", code: "request_failed" });
  expect(reply.data["statusUrl"]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/requests\/req_/);
});

test("lists what is installed", async () => {
  const { call } = await startHarness();
  const presets = await call("GET", "/api/presets");
  expect((presets.data["items"] as { name: string }[]).map(({ name }) => name)).toContain("lotto");
  const networks = await call("GET", "/api/networks");
  expect(networks.data["items"] as { name: string }[]).toHaveLength(4);
});

test("requests are read one by one and page by page", async () => {
  const { call } = await startHarness();
  for (let count = 0; count < 5; count += 1) await call("POST", PRESETS);
  const first = await call("GET", "/api/requests?limit=2");
  const items = first.data["items"] as { id: string; state: string; createdAt: string }[];
  expect(items).toHaveLength(2);
  expect(items[0]).toMatchObject({ state: "fulfilled", createdAt: "2023-11-14T22:13:20.000Z" });
  const second = await call("GET", `/api/requests?limit=2&cursor=${String(first.data["nextCursor"])}`);
  const ids = [...items, ...(second.data["items"] as { id: string }[])].map(({ id }) => id);
  expect(new Set(ids).size).toBe(4);
  const one = await call("GET", `/api/requests/${ids[0]}`);
  expect(one.data).toMatchObject({ id: ids[0], kind: "preset", network: "polygon_mumbai", error: null });
  expect(one.data["timeline"]).toHaveLength(2);
  expect((await call("GET", "/api/requests?state=failed")).data["items"]).toEqual([]);
});

test("where only one network is served, every call that needs one takes that", async () => {
  const { call, service } = await startHarness();
  const [sepolia] = service.networks().filter(({ name }) => name === "sepolia");
  const only = [sepolia!];
  service.networks = () => only;
  const calls: readonly (readonly [method: string, path: string, body?: object])[] = [
    ["POST", PRESETS],
    ["POST", RANDOM, { confirmations: 3 }],
    ["POST", RUN, { source: "return 1" }],
    ["POST", `/api/vrfv2/addConsumer?consumer=${CONSUMER}`],
    ["DELETE", `/api/vrfv2/consumers/${CONSUMER}`],
  ];
  for (const [method, path, body] of calls) {
    const reply = await call(method, path, body === undefined ? {} : { body });
    expect([path, reply.status]).toEqual([path, 200]);
  }
  expect(service.submitted.map(({ command }) => command.network)).toEqual(calls.map(() => "sepolia"));
  expect((await call("POST", "/api/faucet", { body: { address: CONSUMER } })).status).toBe(200);
});

test("anybody sees the networks as callers do, without addresses before the chain is known", async () => {
  const { call, service } = await startHarness();
  const [sepolia, fuji] = service.networks();
  const none = Object.fromEntries(Object.keys(fuji!.contracts).map((name) => [name, "0x"]));
  const { contracts: _, ...others } = fuji!;
  service.networks = () => [sepolia!, { ...others, contracts: none as typeof _ }];
  const { data } = await call("GET", "/api/explorer/networks", { key: null });
  expect(data["items"]).toEqual([sepolia, others]);
});

test("a missing network is answered with those that are served", async () => {
  const { call } = await startHarness();
  const reply = await call("POST", RUN, { body: { source: "return 1" } });
  expect(reply.data["err"]).toBe(
    "network: is required: one of polygon_mumbai, sepolia, fuji, fantom_testnet",
  );
});

test("a failure that has a request leads to it and to its public page", async () => {
  const { call, service } = await startHarness();
  service.behave({ fails: { code: "oracle_timeout", message: "late" } });
  const { data } = await call("POST", PRESETS);
  expect(data).toMatchObject({ id: expect.stringMatching(/^req_/), code: "oracle_timeout", value: null });
  expect(data["shareUrl"]).toBe(`http://127.0.0.1/r/${data["id"] as string}`);
});
