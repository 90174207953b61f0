import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeFunctionData, parseAbi, type Hex } from "viem";
import {
  createClient,
  createExplorer,
  createOperator,
  type NetworkView,
  type TycheOperator,
} from "../../src/client/index.ts";
import { dayOf } from "../../src/store/usage.ts";
import { connectOperator, readOperatorToken } from "../support/signIn.ts";
import { runTyche, startTycheProcess, type TycheProcess } from "../support/tyche.ts";

const NETWORK = "sepolia";
const REMOVE_CONSUMER = parseAbi(["function removeConsumer(uint64 subscriptionId, address consumer)"]);

let tyche: TycheProcess;
let operator: TycheOperator;
let networks: readonly NetworkView[];
let dappId: string;
beforeAll(async () => {
  tyche = await startTycheProcess({ networks: ["sepolia", "fuji"] });
  operator = connectOperator(tyche);
  networks = await operator.networks();
  dappId = (await operator.dapps())[0]!.id;
});
afterAll(async () => {
  await tyche.stop();
});

const connect = (apiKey: string) => createClient({ baseUrl: tyche.url, apiKey, retries: 0 });
const findNetwork = (name: string): NetworkView => networks.find((one) => one.name === name)!;

describe("who may call", () => {
  test("the key of a dapp may not do what the operator may", async () => {
    const asDapp = createOperator({ baseUrl: tyche.url, token: tyche.apiKey, retries: 0 });
    for (const call of [
      () => asDapp.dapps(),
      () => asDapp.createDapp({ name: "x" }),
      () => asDapp.keys(dappId),
      () => asDapp.addKey(dappId),
      () => asDapp.configVars(dappId),
      () => asDapp.activity(),
      () => asDapp.presetProblems(),
    ])
      await expect(call()).rejects.toMatchObject({ code: "forbidden", status: 403 });
    expect((await asDapp.info()).version).toMatch(/^\d/);
  });

  test("another token is none at all", async () => {
    const stranger = createOperator({ baseUrl: tyche.url, token: "x".repeat(43), retries: 0 });
    await expect(stranger.dapps()).rejects.toMatchObject({ code: "unauthenticated" });
  });

  test("an operator calls for a dapp that it names; without a name it is told to", async () => {
    const { id } = await operator.as(dappId).submit.random({ network: NETWORK, numWords: 1 });
    expect(await connect(tyche.apiKey).request(id)).toMatchObject({ id, kind: "random" });
    const unnamed = createOperator({ baseUrl: tyche.url, token: "", retries: 0 });
    await expect(unnamed.dapps()).rejects.toMatchObject({ code: "unauthenticated" });
    await expect(operator.as("").requests()).rejects.toMatchObject({
      code: "invalid_parameter",
      message: expect.stringContaining("Tyche-Dapp"),
    });
    await expect(operator.as("dapp_none").requests()).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("dapps", () => {
  test("one is created with a key that works, is renamed, and deleted", async () => {
    const made = await operator.createDapp({ name: "shop", facilities: ["presets"] });
    expect(made).toMatchObject({
      name: "shop",
      facilities: ["presets"],
      id: expect.stringMatching(/^dapp_/),
    });
    const client = connect(made.key.apiKey);
    expect(await client.requests()).toMatchObject({ items: [] });
    expect(await operator.changeDapp(made.id, { name: "  store " })).toMatchObject({
      id: made.id,
      name: "store",
    });
    expect((await operator.dapps()).map(({ name }) => name)).toContain("store");
    expect(await operator.deleteDapp(made.id)).toMatchObject({ success: true, dappId: made.id });
    await expect(client.requests()).rejects.toMatchObject({ code: "unauthenticated" });
    await expect(operator.dapp(made.id)).rejects.toMatchObject({ code: "not_found" });
  });

  test("what a dapp may use is changed by the operator, for calls with its keys at once", async () => {
    const made = await operator.createDapp({ name: "draws", facilities: ["presets"] });
    const client = connect(made.key.apiKey);
    const run = () => client.simulate({ source: "return Functions.encodeUint256(1)", returnType: "uint256" });
    await expect(run()).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("ask the operator to add it"),
    });
    const facilities = ["presets", "functions"] as const;
    expect(await operator.changeDapp(made.id, { facilities })).toMatchObject({ name: "draws", facilities });
    expect(await run()).toMatchObject({ value: "1" });
    expect((await operator.audit({ dappId: made.id })).items[0]).toMatchObject({
      action: "updateDapp",
      changes: [{ member: "facilities", from: "presets", to: "presets, functions" }],
    });
    await operator.deleteDapp(made.id);
  });

  test("a repeated creation with the same idempotency key returns the first one's dapp or key", async () => {
    const options = { idempotencyKey: "order-17" };
    const made = await operator.createDapp({ name: "once" }, options);
    expect(await operator.createDapp({ name: "once" }, options)).toEqual(made);
    await expect(operator.createDapp({ name: "twice" }, options)).rejects.toMatchObject({
      code: "idempotency_conflict",
      status: 409,
    });
    const key = await operator.addKey(made.id, { name: "a" }, options);
    expect(await operator.addKey(made.id, { name: "a" }, options)).toEqual(key);
    expect(await operator.keys(made.id)).toHaveLength(2);
    await operator.deleteDapp(made.id);
  });

  test.each<[Parameters<TycheOperator["createDapp"]>[0], string]>([
    [{ name: "" }, "must be 1 to 60 characters"],
    [{ name: "x".repeat(61) }, "must be 1 to 60 characters; got 61"],
    [{ name: "a\u0007b" }, "must not hold control characters"],
    [{ name: "a\u202eb" }, "must not hold control characters"],
    [{ name: "shop", facilities: [] }, "facilities"],
  ])("%j is refused with the reason", async (params, reason) => {
    await expect(operator.createDapp(params)).rejects.toMatchObject({
      code: "invalid_parameter",
      message: expect.stringContaining(reason),
    });
  });
});

describe("API keys", () => {
  test("one is named, shown once more when asked for, and stops when revoked", async () => {
    const added = await operator.addKey(dappId, { name: "production" });
    expect(added).toMatchObject({ name: "production", lastUsedAt: null, revokedAt: null });
    const before = (await operator.keys(dappId)).find(({ id }) => id === added.id)!;
    expect(before).toEqual({ ...before, name: "production", ending: added.apiKey.slice(-4) });
    expect(JSON.stringify(await operator.keys(dappId))).not.toContain(added.apiKey);
    expect((await operator.revealKey(dappId, added.id)).apiKey).toBe(added.apiKey);
    await connect(added.apiKey).requests();
    await expect
      .poll(async () => (await operator.keys(dappId)).find(({ id }) => id === added.id)!.lastUsedAt)
      .toMatch(/^\d{4}-/);
    expect(await operator.revokeKey(dappId, added.id)).toMatchObject({
      ending: null,
      revokedAt: expect.stringMatching(/^\d{4}-/),
    });
    await expect(connect(added.apiKey).requests()).rejects.toMatchObject({ code: "unauthenticated" });
    await expect(operator.revealKey(dappId, added.id)).rejects.toMatchObject({ code: "not_found" });
  });

  test("name and limit of a key are changed as far as they are given, and the key stays the same", async () => {
    const { id, apiKey } = await operator.addKey(dappId, { name: "old" });
    const change = (values: { readonly name?: string; readonly dailyLimit?: number | null }) =>
      operator.changeKey(dappId, id, values);
    expect(await change({ dailyLimit: 3 })).toMatchObject({ id, name: "old", dailyLimit: 3 });
    expect(await change({ name: " new " })).toMatchObject({ id, name: "new", dailyLimit: 3 });
    expect((await operator.revealKey(dappId, id)).apiKey).toBe(apiKey);
    await connect(apiKey).requests();
    expect(await change({ name: "", dailyLimit: null })).toMatchObject({ name: "", dailyLimit: null });
    await expect(change({ dailyLimit: 0 })).rejects.toMatchObject({
      code: "invalid_parameter",
      details: [{ path: "/dailyLimit" }],
    });
    await expect(change({ name: "a\u202eb" })).rejects.toMatchObject({ code: "invalid_parameter" });
    await operator.revokeKey(dappId, id);
    await expect(change({ name: "again" })).rejects.toMatchObject({ code: "not_found" });
  });

  test("an expired key is refused with a code of its own, which says since when, and streams with it end", async () => {
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const { id, apiKey } = await operator.addKey(dappId, { name: "short", expiresAt });
    expect((await operator.keys(dappId)).find((key) => key.id === id)).toMatchObject({ expiresAt });
    await connect(apiKey).requests();
    // On a busy machine, the time may be over before the call is there.
    const endSoon = async (ms: number): Promise<string> => {
      const soon = new Date(Date.now() + ms).toISOString();
      const changed = await operator.changeKey(dappId, id, { expiresAt: soon }).catch((error: unknown) => {
        if (Date.now() < Date.parse(soon)) throw error;
      });
      if (changed === undefined) return await endSoon(2 * ms);
      expect(changed).toMatchObject({ expiresAt: soon });
      return soon;
    };
    const soon = await endSoon(1_000);
    await expect
      .poll(
        () =>
          connect(apiKey)
            .requests()
            .catch((error: unknown) => error),
        { timeout: 60_000 },
      )
      .toMatchObject({
        code: "key_expired",
        status: 401,
        message: expect.stringContaining(`the API key ${id} expired at ${soon}; an owner of the dapp`),
      });
    await operator.changeKey(dappId, id, { expiresAt: null });
    await connect(apiKey).requests();
  });

  test.each(["2020-01-01T00:00:00Z", "tomorrow", "2026-13-45T00:00:00Z"])(
    "an expiry of %s is refused at its parameter",
    async (expiresAt) => {
      const refused = { code: "invalid_parameter", details: [{ path: "/expiresAt" }] };
      await expect(operator.addKey(dappId, { expiresAt })).rejects.toMatchObject(refused);
    },
  );

  test("a key that may only read reads, and is told what else is needed", async () => {
    const { apiKey } = await operator.addKey(dappId, { access: "read" });
    const reader = connect(apiKey);
    await reader.requests();
    for (const call of [
      () => reader.random({ network: NETWORK, numWords: 1 }),
      () => reader.simulate({ network: NETWORK, source: "return 1" }),
      () => reader.deleteDapp(dappId),
      () => reader.webhooks.create({ url: "https://example.com/x" }),
    ])
      await expect(call()).rejects.toMatchObject({
        code: "forbidden",
        message: expect.stringContaining('send one with access "full"'),
      });
    await operator.dapp(dappId);
  });

  test("a rotated key has a new value; the former one is valid for the overlap alone", async () => {
    const { id, apiKey } = await operator.addKey(dappId, { name: "rotated", dailyLimit: 9 });
    const second = await operator.rotateKey(dappId, id, { overlapHours: 1 });
    expect(second).toMatchObject({ id, name: "rotated", dailyLimit: 9, requestsToday: 0 });
    expect(Date.parse(second.previousUntil!)).toBeGreaterThan(Date.now());
    for (const value of [apiKey, second.apiKey])
      await connect(value).random({ network: NETWORK, numWords: 1 });
    const [key] = (await operator.keys(dappId)).filter((one) => one.id === id);
    expect(key).toMatchObject({ ending: second.apiKey.slice(-4) });
    const third = await operator.rotateKey(dappId, id, { overlapHours: 0 });
    await connect(third.apiKey).requests();
    for (const value of [apiKey, second.apiKey])
      await expect(connect(value).requests()).rejects.toMatchObject({ code: "unauthenticated" });
    for (const overlapHours of [-1, 169, 1.5])
      await expect(operator.rotateKey(dappId, id, { overlapHours })).rejects.toMatchObject({
        code: "invalid_parameter",
        details: [{ path: "/overlapHours" }],
      });
    await operator.revokeKey(dappId, id);
    await expect(operator.rotateKey(dappId, id)).rejects.toMatchObject({ code: "not_found" });
    const { items } = await operator.audit({ dappId });
    const actions = items.filter(({ subject }) => subject === id).map(({ action }) => action);
    expect(actions).toEqual(["revokeKey", "rotateKey", "rotateKey", "addKey"]);
  });

  test("option: a key may have a limit a day of its own: past it 429, for this key alone", async () => {
    const { apiKey, dailyLimit } = await operator.addKey(dappId, { dailyLimit: 2 });
    expect(dailyLimit).toBe(2);
    const client = connect(apiKey);
    const ask = (idempotencyKey: string) =>
      client.random({ network: NETWORK, numWords: 1 }, { idempotencyKey });
    const firstDay = dayOf(Date.now());
    // If midnight falls between them, the limit allows twice as many.
    const keys = [1, 2, 3, 4, 5].map((number) => `limited-${number}`);
    const answers = await Promise.allSettled(keys.map(ask));
    const days = dayOf(Date.now()) === firstDay ? 1 : 2;
    const refused = answers.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    expect(answers.length - refused.length).toBeLessThanOrEqual(2 * days);
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(2);
    for (const reason of refused)
      expect(reason).toMatchObject({
        code: "rate_limited",
        message: expect.stringContaining("this API key has made its 2 requests"),
      });
    // Repeating an accepted call creates no request.
    await ask(keys[answers.findIndex(({ status }) => status === "fulfilled")]!);
    await connect(tyche.apiKey).random({ network: NETWORK, numWords: 1 });
    await expect(operator.addKey(dappId, { dailyLimit: 0 })).rejects.toMatchObject({
      code: "invalid_parameter",
      details: [{ path: "/dailyLimit" }],
    });
  });

  test("the command line names and limits keys, too", async () => {
    const env = { TYCHE_DATA_DIR: tyche.dataDir };
    const added = await runTyche(
      ["dapp", "add-key", dappId, "--name", "from a shell", "--daily-limit", "7"],
      env,
    );
    const [, id] = /(key_[0-9a-z]{26})/.exec(added.output)!;
    expect((await operator.keys(dappId)).find((key) => key.id === id)).toMatchObject({
      name: "from a shell",
      dailyLimit: 7,
    });
    const changed = await runTyche(
      ["dapp", "change-key", id!, "--name", "renamed", "--daily-limit", "none"],
      env,
    );
    expect(changed.output).toContain(`${id} is renamed, no daily limit`);
    expect((await runTyche(["dapp", "change-key", id!], env)).output).toContain("give --name, --daily-limit");
    const expiry = ["--expires", "2099-01-01T00:00:00Z"];
    const reader = await runTyche(["dapp", "add-key", dappId, "--access", "read", ...expiry, "--json"], env);
    const made = JSON.parse(reader.output) as { readonly id: string; readonly apiKey: string };
    const line = `${made.id}  ${made.apiKey}  read only  expires 2099-01-01T00:00:00.000Z`;
    expect((await runTyche(["dapp", "config", dappId], env)).output).toContain(line);
    const rotated = await runTyche(["dapp", "rotate-key", made.id, "--overlap-hours", "0"], env);
    expect(rotated.output).toContain("the former value is valid no more");
    const [value] = /tyche_\w+/.exec(rotated.output)!;
    await connect(value).requests();
    await expect(connect(made.apiKey).requests()).rejects.toMatchObject({ code: "unauthenticated" });
    const endless = await runTyche(["dapp", "change-key", made.id, "--expires", "never"], env);
    expect(endless.output).toContain(`${made.id} is unnamed, no daily limit\n`);
    for (const [command, text, says] of [
      ["change-key", "--expires=soon", "must be a time such as"],
      ["change-key", "--expires=2020-01-01T00:00:00Z", "must be a time to come"],
      ["rotate-key", "--overlap-hours=169", "must be a whole number from 0 to 168"],
    ] as const)
      expect((await runTyche(["dapp", command, made.id, text], env)).output).toContain(says);
    const { output } = await runTyche(["dapp", "config", dappId], env);
    expect(output).toMatch(new RegExp(`${id} .*  renamed`));
    for (const limit of ["0", "2147483648", "many"])
      expect(await runTyche(["dapp", "add-key", dappId, "--daily-limit", limit], env)).toMatchObject({
        output: expect.stringContaining("must be a whole number from 1 to 2147483647"),
      });
    const refused = await runTyche(["dapp", "add-key", dappId, "--name", "a\u001b[2J"], env);
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("control characters") });
  });

  test("a key can't be reached through another dapp, nor be called what hides text", async () => {
    const other = await operator.createDapp({ name: "other" });
    await expect(operator.revealKey(dappId, other.key.id)).rejects.toMatchObject({ code: "not_found" });
    await expect(operator.revokeKey(dappId, other.key.id)).rejects.toMatchObject({ code: "not_found" });
    await expect(operator.addKey(dappId, { name: "a\u202eb" })).rejects.toMatchObject({
      code: "invalid_parameter",
    });
  });
});

test("config vars have subscriptions, contracts and a sample of each network, balances what is on them", async () => {
  const list = await operator.configVars(dappId);
  expect(list.map(({ network }) => network)).toEqual(networks.map(({ name }) => name));
  for (const vars of list) {
    const { vrfCoordinator, functionsRouter, link } = findNetwork(vars.network).contracts;
    expect(vars).toMatchObject({ contracts: { vrfCoordinator, functionsRouter, link } });
    expect(vars.env).toContain(`${vars.network.toUpperCase()}_VRF_SUBSCRIPTION_ID=${vars.vrfSubscriptionId}`);
    expect(vars.sampleContract).toContain(`SUBSCRIPTION_ID = ${vars.vrfSubscriptionId};`);
  }
  for (const { vrfJuels, vrfWei, functionsJuels } of await operator.balances(dappId)) {
    expect([BigInt(vrfJuels) > 0n, BigInt(functionsJuels) > 0n]).toEqual([true, true]);
    expect(vrfWei).toBe("0");
  }
});

describe("consumers", () => {
  const linked = async (address: string) =>
    (await operator.as(dappId).consumers()).linked.find((one) => one.address === address);

  test("a contract is listed with the transaction that linked it, until it is unlinked", async () => {
    const consumer = findNetwork("fuji").contracts["link"];
    const client = operator.as(dappId);
    const { transactionHash } = await client.addConsumer({ dappId, network: "fuji", consumer });
    expect(await linked(consumer)).toMatchObject({
      network: "fuji",
      onChain: { vrf: true, functions: true },
      transactionHash,
      linkedAt: expect.stringMatching(/^\d{4}-/),
    });
    await client.removeConsumer({ network: "fuji", consumer });
    expect(await linked(consumer)).toBeUndefined();
  });

  test("one that the chain has lost is shown as such", async () => {
    const { contracts, rpcUrl } = findNetwork("fuji");
    const consumer = contracts["functionsCoordinator"];
    await operator.as(dappId).addConsumer({ dappId, network: "fuji", consumer });
    const rpc = async (method: string, ...params: unknown[]): Promise<void> => {
      const response = await fetch(rpcUrl!, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      expect(await response.json()).not.toHaveProperty("error");
    };
    const from = contracts["subscriptionOwner"];
    const remove = async (to: Hex, subscriptionId: string): Promise<void> => {
      const args = [BigInt(subscriptionId), consumer] as const;
      const data = encodeFunctionData({ abi: REMOVE_CONSUMER, args });
      await rpc("eth_sendTransaction", { from, to, data, gas: "0x7a120" });
    };
    const ids = (await operator.configVars(dappId)).find(({ network }) => network === "fuji")!;
    await rpc("anvil_impersonateAccount", from);
    await rpc("anvil_setBalance", from, "0xde0b6b3a7640000");
    await remove(contracts["vrfCoordinator"], ids.vrfSubscriptionId!);
    await expect.poll(async () => (await linked(consumer))?.onChain).toEqual({ vrf: false, functions: true });
    await remove(contracts["functionsRouter"], ids.functionsSubscriptionId!);
    await expect
      .poll(async () => (await linked(consumer))?.onChain)
      .toEqual({ vrf: false, functions: false });
  });
});

test("a dapp's deletion unlinks its contract, and its shared result stays", async () => {
  const made = await operator.createDapp({ name: "short" });
  const client = operator.as(made.id);
  const explorer = createExplorer({ baseUrl: tyche.url });
  const { link, subscriptionOwner } = findNetwork(NETWORK).contracts;
  await client.addConsumer({ dappId: made.id, network: NETWORK, consumer: link });
  const submitted = await client.submit.preset("coinflip", {}, { network: NETWORK });
  await submitted.wait();
  await operator.deleteDapp(made.id);
  expect(await explorer.shared(submitted.id)).toMatchObject({ preset: "coinflip", shown: { as: "coin" } });
  await expect
    .poll(async () => (await explorer.address(NETWORK, subscriptionOwner)).transactions, { timeout: 60_000 })
    .toContainEqual(expect.objectContaining({ method: "removeConsumer" }));
});

test("how the service stands, what was asked for, and accounts that hold coin", async () => {
  await expect
    .poll(() => operator.readiness())
    .toMatchObject({ ready: true, networks: { [NETWORK]: { ready: true } } });
  const { hours } = await operator.activity();
  expect(hours).toHaveLength(24);
  expect(hours.at(-1)!.requests + hours.at(-2)!.requests).toBeGreaterThan(0);
  expect(await operator.presetProblems()).toEqual([]);
  const { address } = (await operator.fundedAccounts())[0]!;
  const account = await createExplorer({ baseUrl: tyche.url }).address(NETWORK, address);
  expect(BigInt(account.balanceWei)).toBeGreaterThan(0n);
  const gift = await operator.faucet({ network: NETWORK, address });
  expect(gift).toMatchObject({ success: true, transactionHashes: [expect.any(String), expect.any(String)] });
});

test("usage comes as CSV, too", async () => {
  const csv = await connect(tyche.apiKey).usageCsv({ network: NETWORK });
  expect(csv).toMatch(/^day,network,preset,.*\r\n(.*\r\n)*\d{4}-\d\d-\d\d,sepolia,\d/);
  await expect(connect(tyche.apiKey).usageCsv({ from: "2026-02-30" })).rejects.toMatchObject({
    code: "invalid_parameter",
  });
});

test("real answers have the schemas that the description of the API promises", async () => {
  const [document, { vrfv2Hash, vrfv2EventHash }] = await Promise.all([
    (await fetch(`${tyche.url}/openapi.json`)).json() as Promise<object>,
    operator.as(dappId).preset("coinflip", {}, { network: NETWORK }),
  ]);
  expect(vrfv2EventHash).toContain(vrfv2Hash);
  const { id: keyId } = await operator.addKey(dappId, { name: "to be revoked" });
  const request = (await operator.as(dappId).requests({ limit: 1, kind: "preset" })).items[0]!.id;
  const { presetConsumer } = findNetwork(NETWORK).contracts;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, "api");
  const dapp = `/api/dapps/${dappId}`;
  const chain = `/api/explorer/networks/${NETWORK}`;
  const calls: readonly (readonly [string, string, string, object?])[] = [
    ["get", "/api/dapps", "/api/dapps"],
    ["post", "/api/dapps", "/api/dapps", { name: "schema" }],
    ["get", "/api/dapps/{dappId}", dapp],
    ["patch", "/api/dapps/{dappId}", dapp, { name: "default" }],
    ["get", "/api/dapps/{dappId}/keys", `${dapp}/keys`],
    ["post", "/api/dapps/{dappId}/keys", `${dapp}/keys`, { name: "schema" }],
    ["get", "/api/dapps/{dappId}/keys/{keyId}", `${dapp}/keys/${keyId}`],
    ["delete", "/api/dapps/{dappId}/keys/{keyId}", `${dapp}/keys/${keyId}`],
    ["get", "/api/dapps/{dappId}/configVars", `${dapp}/configVars`],
    ["get", "/api/dapps/{dappId}/balances", `${dapp}/balances`],
    ["get", "/api/vrfv2/consumers", "/api/vrfv2/consumers?network=fuji"],
    ["get", "/api/contractRequests", `/api/contractRequests?network=${NETWORK}`],
    ["get", "/api/activity", "/api/activity"],
    ["get", "/api/readiness", "/api/readiness"],
    ["get", "/api/presetProblems", "/api/presetProblems"],
    ["get", "/api/faucet/accounts", "/api/faucet/accounts"],
    ["get", "/api/info", "/api/info"],
    ["get", "/api/explorer/networks", "/api/explorer/networks"],
    ["get", "/api/explorer/presets", "/api/explorer/presets"],
    ["get", "/api/explorer/networks/{network}", chain],
    ["get", "/api/explorer/networks/{network}/transactions/{hash}", `${chain}/transactions/${vrfv2Hash}`],
    ["get", "/api/explorer/requests", "/api/explorer/requests?network=sepolia"],
    ["get", "/api/explorer/networks/{network}/transactions", `${chain}/transactions?before=20`],
    ["get", "/api/explorer/networks/{network}/blocks", `${chain}/blocks?before=20`],
    ["get", "/api/explorer/networks/{network}/blocks/{number}", `${chain}/blocks/20`],
    ["get", "/api/explorer/networks/{network}/addresses/{address}", `${chain}/addresses/${presetConsumer}`],
    [
      "get",
      "/api/explorer/networks/{network}/addresses/{address}/contract",
      `${chain}/addresses/${presetConsumer}/contract`,
    ],
    ["get", "/api/explorer/search", "/api/explorer/search?q=link"],
    ["get", "/api/explorer/results/{id}", `/api/explorer/results/${request}`],
    ["get", "/api/explorer/results/{id}/chainData", `/api/explorer/results/${request}/chainData`],
  ];
  for (const [method, path, target, body] of calls) {
    const response = await fetch(tyche.url + target, {
      method: method.toUpperCase(),
      headers: {
        authorization: readOperatorToken(tyche),
        "tyche-dapp": dappId,
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const pointer = `#/paths/${path.replaceAll("/", "~1")}/${method}/responses/200/content/application~1json/schema`;
    const validate = ajv.compile({ $ref: `api${pointer}` });
    const answer: unknown = await response.json();
    expect([target, response.status, validate(answer), validate.errors]).toEqual([target, 200, true, null]);
  }
});
