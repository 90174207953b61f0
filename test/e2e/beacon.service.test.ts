import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { drandChainHash, drandRoundTime } from "../../src/beacon/drand.ts";
import { runCli, startCli } from "../cli/runCli.ts";
import { connectOperator } from "../support/signIn.ts";
import { ownDrandChain, signOwnRound, startDrandRelay, type DrandRelay } from "../support/drandRelay.ts";
import { makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "../support/tyche.ts";

const CHAIN = ownDrandChain();
/** Far more than a request takes to be mined. */
const MARGIN_SECONDS = 30;

/** Rounds that the relay doesn't have yet. */
const held = new Set<bigint>();

let relay: DrandRelay;
let tyche: TycheProcess;
let dataDir: string;
beforeAll(async () => {
  relay = await startDrandRelay(CHAIN, (round) => (held.has(round) ? undefined : signOwnRound(round)));
  dataDir = makeDataDir();
  const beacon = { chain: CHAIN, relays: [`${relay.url}/`], marginSeconds: MARGIN_SECONDS };
  const networks = { sepolia: { embedded: true, beacon } };
  writeFileSync(path.join(dataDir, "tyche.json"), JSON.stringify({ networks }));
  tyche = await startTycheProcess({ dataDir });
});
afterAll(async () => {
  await tyche.stop();
  await relay.close();
  removeDataDir(dataDir);
});

const draw = (body: object, headers: Record<string, string> = {}) =>
  tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=nDice", { body, headers });

/** Waits until a request is said to wait for a round. On a busy machine its word may come after the round: then it doesn't. */
const waitsFor = (id: string, round: string) =>
  expect
    .poll(
      async () => {
        const { state, why } = (await tyche.call("GET", `/api/requests/${id}`)).data;
        return state === "fulfilled" ? `waiting for ${round}` : String(why);
      },
      { timeout: 60_000 },
    )
    .toContain(`waiting for ${round}`);

// They wait for their rounds at the same time.
test.concurrent("the answer names a future round, and the result follows from it; receipt and published key verify it", async () => {
  const body = { beacon: "drand", numDice: "2", label: "with a beacon", once: true };
  const headers = { "idempotency-key": "beacon" };
  const accepted = await draw(body, { ...headers, prefer: "respond-async" });
  expect(accepted.status).toBe(202);
  const { beacon } = accepted.data.params;
  expect(beacon).toEqual({
    round: expect.stringMatching(/^[0-9]+$/),
    time: new Date(drandRoundTime(CHAIN, BigInt(beacon.round)) * 1000).toISOString(),
    chainHash: drandChainHash(CHAIN),
  });
  expect(Date.parse(beacon.time) - Date.parse(accepted.data.createdAt)).toBeGreaterThanOrEqual(
    1000 * (MARGIN_SECONDS - 1),
  );
  await waitsFor(accepted.data.id, `drand's round ${beacon.round}, due at ${beacon.time}`);

  const drawn = await draw(body, headers);
  expect(drawn).toMatchObject({ status: 200, data: { success: true, id: accepted.data.id, beacon } });
  expect(relay.asked.length).toBeGreaterThan(0);
  const hash = String(drawn.data.url).split("/").pop()!;
  const verified = await tyche.call("GET", `/api/verify?network=sepolia&tx=${hash}`);
  expect(verified.data).toMatchObject({
    verdict: "valid",
    requests: [
      {
        beacon,
        steps: expect.arrayContaining([
          expect.objectContaining({
            name: "beacon",
            outcome: "ok",
            detail: expect.stringContaining("knows every round beforehand"),
          }),
        ]),
      },
    ],
  });

  const [receipt, published] = ["receipt.json", "published.json"].map((name) => path.join(dataDir, name));
  writeFileSync(receipt!, JSON.stringify({ data: accepted.data }));
  const networks = await tyche.call("GET", "/api/networks");
  expect(networks.data.items[0].beacon).toMatchObject({
    chainHash: beacon.chainHash,
    marginSeconds: MARGIN_SECONDS,
  });
  writeFileSync(published!, JSON.stringify(networks));
  const { rpcUrl } = networks.data.items[0];
  const check = (...options: readonly string[]) =>
    runCli(["verify", "sepolia", hash, "--rpc-url", rpcUrl, "--receipt", receipt!, ...options], "", {});
  expect(await check("--contracts", published!)).toMatchObject({
    code: 0,
    stderr:
      "as the receipt says: network, kind, dapp, label, round, time of the round, preset, numFaces, numDice, once, not mined before createdAt\n",
  });
  // Without the published key, nobody knows what the chain of rounds is.
  expect(await check()).toMatchObject({ code: 1, stdout: expect.stringContaining("not drand's quicknet") });
  rmSync(published!);
  // The configuration of the data directory has it.
  expect(await runCli(["verify", "sepolia", hash], "", { TYCHE_DATA_DIR: dataDir })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("a chain of rounds of the operator's own"),
  });
});

test.concurrent("requests watch says what a request waits for", async () => {
  const { data } = await draw({ beacon: "drand", numDice: "1" }, { prefer: "respond-async" });
  const round = BigInt(data.params.beacon.round);
  held.add(round);
  const child = startCli(["requests", "watch", data.id], { TYCHE_DATA_DIR: dataDir });
  const exited = once(child, "exit");
  for await (const line of createInterface(child.stderr!))
    if (line.includes(`  waiting     waiting for drand's round ${round}`) || line.includes("no relay has"))
      held.delete(round);
  expect(held).not.toContain(round);
  expect(await exited).toEqual([0, null]);
});

test.concurrent("the local beacon works without relays, is named so, and proves nothing", async () => {
  const body = { beacon: "local", numDice: "1" };
  const headers = { "idempotency-key": "local" };
  const accepted = await draw(body, { ...headers, prefer: "respond-async" });
  const { beacon } = accepted.data.params;
  expect(beacon).toMatchObject({ isLocal: true });
  const { data: networks } = await tyche.call("GET", "/api/networks");
  expect(networks.items[0].localBeacon).toMatchObject({ chainHash: beacon.chainHash, beaconId: "local" });
  await waitsFor(accepted.data.id, `the local beacon's round ${beacon.round}, due at ${beacon.time}`);
  const drawn = await draw(body, headers);
  expect(drawn).toMatchObject({ status: 200, data: { success: true, beacon } });
  expect(relay.asked.filter((path) => path.includes(beacon.chainHash.slice(2)))).toEqual([]);
  const hash = String(drawn.data.url).split("/").pop()!;
  const { data: verified } = await tyche.call("GET", `/api/verify?network=sepolia&tx=${hash}`);
  expect(verified).toMatchObject({ verdict: "valid", requests: [{ beacon }] });
  expect(JSON.stringify(verified)).toMatch(
    /its signature is that of the service's local beacon.*knows every round beforehand/,
  );
  expect(JSON.stringify(verified.trust)).not.toContain("nor by drand alone");
  // What anybody can read of the network without a key is enough, and so is the data directory.
  const explored = await fetch(`${tyche.url}/api/explorer/networks`);
  const [network] = ((await explored.json()) as { data: { items: { rpcUrl: string }[] } }).data.items;
  const given = ["--rpc-url", network!.rpcUrl, "--contracts", JSON.stringify(network)];
  for (const options of [given, []])
    expect(
      await runCli(["verify", "sepolia", hash, ...options], "", { TYCHE_DATA_DIR: dataDir }),
    ).toMatchObject({ code: 0, stdout: expect.stringContaining("local beacon") });
});

test.concurrent.each(["drand", "local"])(
  "a function gets a word of its own from a round (%s)",
  async (beacon) => {
    const source = "return Functions.encodeString(bytesArgs.join())";
    const body = { network: "sepolia", source, args: [], returnType: "string", beacon };
    const dry = await tyche.call("POST", "/api/oracleFunctions/simulate", { body });
    expect(dry.data.parsedResult).toMatch(/^0x[0-9a-f]{64}$/);
    const headers = { "idempotency-key": `function-${beacon}` };
    const call = (more: Record<string, string>) =>
      tyche.call("POST", "/api/oracleFunctions/runFunction", { body, headers: { ...headers, ...more } });
    const accepted = await call({ prefer: "respond-async" });
    expect(accepted.status).toBe(202);
    const { beacon: round } = accepted.data.params;
    const ran = await call({});
    expect(ran).toMatchObject({ status: 200, data: { success: true, beacon: round } });
    expect(ran.data.value).toMatch(/^0x[0-9a-f]{64}$/);
    expect(ran.data.value).not.toBe(dry.data.parsedResult);
    const hash = String(ran.data.url).split("/").pop()!;
    const verified = await tyche.call("GET", `/api/verify?network=sepolia&tx=${hash}`);
    expect(verified.data).toMatchObject({
      verdict: "valid",
      requests: [{ kind: "function", beacon: round }],
    });
  },
);

test("a dapp's presets wait for a round where a call doesn't say otherwise, if the dapp says so", async () => {
  const operator = connectOperator(tyche);
  const { id } = (await operator.dapps())[0]!;
  const beaconOf = async (body: object) =>
    (await draw(body, { prefer: "respond-async" })).data.params.beacon?.chainHash;
  expect(await beaconOf({})).toBeUndefined();
  const cli = (beacon: string) => runCli(["dapp", "beacon", id, beacon], "", { TYCHE_DATA_DIR: dataDir });
  expect(await cli("drand")).toMatchObject({ code: 0, stdout: `${id} waits for drand\n` });
  expect(await operator.dapp(id)).toMatchObject({ beacon: "drand" });
  expect(await beaconOf({})).toBe(drandChainHash(CHAIN));
  expect(await beaconOf({ beacon: "none" })).toBeUndefined();
  expect(await operator.changeDapp(id, { beacon: null })).not.toHaveProperty("beacon");
  expect(await beaconOf({})).toBeUndefined();
  expect(await beaconOf({ beacon: "drand" })).toBe(drandChainHash(CHAIN));
});

test.each([{ beacon: "nist" }, { beacon: true }, { beacon: "drand", round: "1" }])(
  "%j is refused",
  async (body) => {
    expect(await draw(body)).toMatchObject({ status: 400, data: { code: "invalid_parameter" } });
  },
);

test("random numbers refuse a beacon, and say why", async () => {
  const body = { network: "sepolia", beacon: "drand" };
  expect(await tyche.call("POST", "/api/vrfv2/requestRandomNumber", { body })).toMatchObject({
    status: 400,
    data: { details: [{ path: "/beacon", message: expect.stringContaining("of the proof alone") }] },
  });
});
