import { createServer, request as requestHttp, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hex } from "viem";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ChainEventOf } from "../../../src/chainlink/events.ts";
import {
  beaconWord,
  presetRequestId,
  readyRecord,
  wordsOfBatch,
} from "../../../src/chainlink/presetBatch.ts";
import { encodeFunctionsRequest } from "../../../src/chainlink/functionsRequest.ts";
import { deriveWords } from "../../../src/chainlink/fulfilmentWords.ts";
import { drandRoundTime, QUICKNET } from "../../../src/beacon/drand.ts";
import { readUint256 } from "../../../src/lib/uint256.ts";
import type { Receipt } from "../../../src/lib/nodeAnswers.ts";
import { fromHexText, toHexText } from "../../../src/lib/hex.ts";
import { keccak256 } from "../../../src/lib/keccak.ts";
import type { EvidenceRecord } from "../../../src/oracle/node/evidence.ts";
import { MESSAGES_PATH } from "../../../src/oracle/node/peerClient.ts";
import { readNodeSet, type NodeSet } from "../../../src/oracle/node/nodeSet.ts";
import { createOracle, type Oracle, type OracleOptions } from "../../../src/oracle/oracle.ts";
import { transmitOrder } from "../../../src/oracle/protocol/transmitOrder.ts";
import { createWire } from "../../../src/oracle/protocol/wire.ts";
import { joinBody } from "../../external/support/peerProxy.ts";
import { prove, type Proof } from "../../../src/vrf/proof.ts";
import { seedOf } from "../../../src/vrf/randomWords.ts";
import { pathOf, QUICKNET_HASH, QUICKNET_ROUNDS, startDrandRelay } from "../../support/drandRelay.ts";
import { eventsOf, seedsOf } from "../../support/delivery.ts";
import { FURTHER_PROVING_KEYS, TEST_PROVING_KEY, TEST_ROLES } from "../../support/stack.ts";
import { createTestRunner } from "../support/runner.ts";
import { startWorld, type World } from "../support/world.ts";

const ECHO = "return Uint8Array.from(bytesArgs[0].slice(2).match(/../g), (byte) => parseInt(byte, 16))";
const NODES = [0, 1, 2, 3];

let world: World;
let set: NodeSet;
let servers: Server[];
let oracles: (Oracle | undefined)[];
let evidence: EvidenceRecord[];
let stopping: AbortController;
let beacon: OracleOptions["beacon"];

async function open(options: Parameters<typeof startWorld>[0] = {}): Promise<void> {
  world = await startWorld(options);
  set = {
    ...(await readNodeSet(world.client, world.addresses.functionsCoordinator.toLowerCase() as Hex)),
    urls: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  };
}

beforeEach(async () => {
  oracles = [];
  evidence = [];
  beacon = undefined;
  stopping = new AbortController();
  servers = await Promise.all(
    NODES.map(async (index) => {
      const server = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.once("end", () => {
          const outcome = oracles[index]?.node?.take(Buffer.concat(chunks), "192.0.2.1");
          response.writeHead(outcome === "taken" ? 204 : 503, { "content-length": 0 }).end();
        });
      });
      await new Promise<void>((resolve) => {
        server.listen(0, "127.0.0.1", resolve);
      });
      return server;
    }),
  );
});
afterEach(async () => {
  stopping.abort();
  for (const server of servers) server.closeAllConnections();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  await world.close();
});

/** Starts an oracle of its own on the world's chain. */
function start(parts: Pick<OracleOptions, "node" | "vrf" | "proofsFor">): Oracle {
  const { name, chainId, client, watcher, contracts } = world.network;
  const write = (): void => {};
  return createOracle({
    name,
    chainId,
    client,
    watcher,
    contracts,
    beacon,
    ...parts,
    runner: createTestRunner(),
    log: { debug: write, info: write, warn: write, error: write },
    signal: stopping.signal,
  });
}

function startNode(index: number): Oracle {
  const { signer, transmitter } = world.network.functions.nodes[index]!;
  const journal = new Map<Hex, string[]>();
  const oracle = start({
    node: {
      set,
      readSet: async () => set,
      signer,
      transmitter,
      saltOf: (digest, id) => toHexText(keccak256(fromHexText(`${digest}${id.slice(2)}0${index}`))),
      journalOf: () => ({
        read: async (id) => journal.get(id) ?? [],
        async append(id, record) {
          journal.set(id, [...(journal.get(id) ?? []), record]);
        },
      }),
      keepEvidence: async (record) => void evidence.push(record),
      maxResponseBytes: 256,
    },
  });
  oracles[index] = oracle;
  return oracle;
}

const startVrf = (): Oracle =>
  start({ vrf: world.network.vrf, proofsFor: { set, readSet: async () => set } });

/** Requests a batch of one preset; returns the request for its word. */
async function requestPreset(): Promise<
  ChainEventOf<"RandomWordsRequested"> & { readonly receipt: Receipt }
> {
  await world.requestPresets(ECHO, 1);
  const { transactions } = await world.viem.getBlock({ blockNumber: world.lastRequestBlock() });
  const receipt = (await world.client.getReceipt(transactions[0]!))!;
  return { ...eventsOf(receipt, "RandomWordsRequested")[0]!, receipt };
}

type Requested = Awaited<ReturnType<typeof requestPreset>>;

const proofOf = ({ preSeed, receipt }: Requested, key = TEST_PROVING_KEY): Proof =>
  prove(key, { preSeed, seed: seedOf(preSeed, receipt.blockHash) });

/** Sends a proof to every node, as anybody may. */
async function post({ requestId }: Requested, proof: Proof): Promise<void> {
  const { chainId, addresses } = world;
  const coordinator = addresses.functionsCoordinator.toLowerCase() as Hex;
  const body = joinBody([createWire({ ...set, chainId, coordinator }).encodeProofMessage(requestId, proof)]);
  await Promise.all(
    set.urls.map(
      (url) =>
        new Promise<void>((resolve, reject) => {
          requestHttp(url + MESSAGES_PATH, { method: "POST" }, (response) => {
            response.resume().once("end", resolve);
          })
            .once("error", reject)
            .end(body);
        }),
    ),
  );
}

/** Returns the transactions of the chain's blocks after a request, with their senders. */
async function sentAfter({
  receipt,
}: Requested): Promise<{ readonly block: bigint; readonly from: string }[]> {
  const sent: { block: bigint; from: string }[] = [];
  const head = await world.viem.getBlockNumber();
  for (let number = receipt.blockNumber + 1n; number <= head; number += 1n) {
    const { transactions } = await world.viem.getBlock({ blockNumber: number, includeTransactions: true });
    for (const { from } of transactions) sent.push({ block: number, from: from.toLowerCase() });
  }
  return sent;
}

/** Returns the account of the node whose turn it is to deliver first. */
function firstOf({ requestId, receipt }: Requested): string {
  const [{ batch }] = eventsOf(receipt, "BatchRequested") as [ChainEventOf<"BatchRequested">];
  const [first] = transmitOrder(readyRecord(batch, seedsOf(receipt).get(requestId)!), NODES.length);
  return TEST_ROLES.transmitters[first!]!.address.toLowerCase();
}

const answered = (count: number): Promise<unknown> =>
  vi.waitFor(async () => expect(await world.results()).toHaveLength(count));

test("the node whose turn it is delivers proof and report together, in the block after the request", async () => {
  await open();
  for (const index of NODES) startNode(index);
  startVrf();
  const requested = await requestPreset();
  await answered(1);
  expect(await sentAfter(requested)).toEqual([
    { block: requested.receipt.blockNumber + 1n, from: firstOf(requested) },
  ]);
  expect(await world.events("RandomWordsFulfilled")).toHaveLength(1);
});

test("nodes that each fetch a round of drand agree on what follows from it, for a batch and a function", async () => {
  const relay = await startDrandRelay(QUICKNET, (round) => QUICKNET_ROUNDS.get(round));
  try {
    await open({ startsAt: drandRoundTime(QUICKNET, 1000n) - 600 });
    beacon = { chain: QUICKNET, relays: [relay.url], marginSeconds: 3 };
    for (const index of NODES) startNode(index);
    startVrf();
    const round1000 = { round: 1000n, chainHash: QUICKNET_HASH };
    await world.requestPresets(ECHO, 1, round1000);
    const [functionId] = await world.requestFunctions([
      encodeFunctionsRequest({ source: ECHO, beacon: round1000 }),
    ]);
    await answered(2);
    await vi.waitFor(async () => expect(await world.events("RequestProcessed")).toHaveLength(1));
    const [{ response }] = (await world.events("RequestProcessed")) as [ChainEventOf<"RequestProcessed">];
    const signature = QUICKNET_ROUNDS.get(1000n)!;
    expect(BigInt(response)).toBe(beaconWord(0n, { signature, requestId: functionId! }));
    const [result, round] = await world.results();
    expect(round).toEqual({ ok: true, bytes: QUICKNET_ROUNDS.get(1000n) });
    const [{ requestId, outputSeed }] = (await world.events("RandomWordsFulfilled")) as [
      ChainEventOf<"RandomWordsFulfilled">,
    ];
    const [word] = wordsOfBatch(deriveWords(outputSeed, 1)[0]!, 1);
    const own = { signature: round!.bytes, requestId: presetRequestId(requestId, 0) };
    expect(readUint256(result!.bytes)).toBe(beaconWord(word!, own));
    // A busy node may ask again.
    expect(new Set(relay.asked)).toEqual(new Set([pathOf(QUICKNET, 1000n)]));
  } finally {
    await relay.close();
  }
});

test("nodes that follow different chains of rounds sign no function's report, and why names the chain", async () => {
  const relay = await startDrandRelay(QUICKNET, (round) => QUICKNET_ROUNDS.get(round));
  try {
    await open({ startsAt: drandRoundTime(QUICKNET, 1000n) - 600 });
    for (const index of NODES) {
      beacon = index < 2 ? { chain: QUICKNET, relays: [relay.url], marginSeconds: 3 } : undefined;
      startNode(index);
    }
    const round1000 = { round: 1000n, chainHash: QUICKNET_HASH };
    await world.requestFunctions([encodeFunctionsRequest({ source: ECHO, beacon: round1000 })]);
    const agreeing = "agreeing with the other nodes";
    const refusing = `${agreeing} that the oracle doesn't follow the drand chain ${QUICKNET_HASH}`;
    await vi.waitFor(() =>
      expect(oracles.map((oracle) => oracle!.status().pending.map(({ why }) => why))).toEqual(
        NODES.map((index) => [index < 2 ? agreeing : refusing]),
      ),
    );
  } finally {
    await relay.close();
  }
});

test("a right proof is enough, whoever sends it, also before a node has seen the request", async () => {
  await open();
  const requested = await requestPreset();
  for (const index of NODES) startNode(index);
  // No node has read a block yet.
  await post(requested, proofOf(requested));
  await answered(1);
  expect(await sentAfter(requested)).toMatchObject([{ from: firstOf(requested) }]);
});

test.each<[string, (requested: Requested) => Proof]>([
  ["with another challenge", (requested) => ({ ...proofOf(requested), c: proofOf(requested).c + 1n })],
  ["with another word", (requested) => ({ ...proofOf(requested), gamma: TEST_PROVING_KEY.publicKey })],
  ["of another key", (requested) => proofOf(requested, FURTHER_PROVING_KEYS[0])],
  ["for another request", (requested) => proofOf({ ...requested, preSeed: requested.preSeed + 1n })],
])("a proof %s is not taken, and doesn't keep the right one away", async (_name, wrong) => {
  await open();
  const nodes = NODES.map((index) => startNode(index));
  const requested = await requestPreset();
  const whyOf = (): unknown[] => nodes.flatMap((node) => node.status().pending.map(({ why }) => why));
  await vi.waitFor(() => expect(whyOf()).toEqual(NODES.map(() => "waiting for its random word")));
  await post(requested, wrong(requested));
  expect(whyOf()).toEqual(NODES.map(() => "waiting for its random word"));
  await post(requested, proofOf(requested));
  await answered(1);
});

test("what a reorganisation removes with proof and report is delivered again, for the same word, once", async () => {
  await open();
  for (const index of NODES) startNode(index);
  startVrf();
  await requestPreset();
  await answered(1);
  const before = [await world.results(), await world.events("RandomWordsFulfilled")];
  const { hash } = await world.viem.getBlock();
  await world.client.request("anvil_reorg", [1, []]);
  await answered(1);
  expect([await world.results(), await world.events("RandomWordsFulfilled")]).toEqual(before);
  expect((await world.viem.getBlock()).hash).not.toBe(hash);
  expect(await world.events("BatchReported")).toHaveLength(1);
  expect(evidence).toEqual([]);
});

test("a proof that the coordinator refuses is not sent again; the report follows the word", async () => {
  await open({ vrfLink: 0n });
  for (const index of NODES) startNode(index);
  const requested = await requestPreset();
  await post(requested, proofOf(requested));
  // The proof finds no LINK.
  await vi.waitFor(async () => expect(await sentAfter(requested)).toHaveLength(1));
  expect(await world.results()).toEqual([]);
  await world.fundVrf();
  startVrf();
  // The VRF operator leaves the nodes two blocks.
  await vi.waitFor(async () => {
    await world.viem.mine({ blocks: 1 });
    expect(await world.results()).toHaveLength(1);
  });
  const [refused, , word, report] = await sentAfter(requested);
  expect([refused!.from, word!.from]).toEqual([
    firstOf(requested),
    TEST_ROLES.vrfOracle.address.toLowerCase(),
  ]);
  expect(report!.block).toBeGreaterThan(word!.block);
});
