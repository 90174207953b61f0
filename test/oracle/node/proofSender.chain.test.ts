import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Receipt } from "../../../src/lib/nodeAnswers.ts";
import type { ProofCompanion } from "../../../src/oracle/answerer.ts";
import { createProofSender } from "../../../src/oracle/node/proofSender.ts";
import { readNodeSet, type NodeSet } from "../../../src/oracle/node/nodeSet.ts";
import type { VrfRequest } from "../../../src/oracle/vrf/fulfillment.ts";
import { createWire } from "../../../src/oracle/protocol/wire.ts";
import { splitBody } from "../../external/support/peerProxy.ts";
import { beginProof, type BegunProof } from "../../../src/vrf/proof.ts";
import { seedOf } from "../../../src/vrf/randomWords.ts";
import { submit, submitJoined } from "../../support/consumer.ts";
import { deliverWords, eventsOf } from "../../support/delivery.ts";
import { TEST_PROVING_KEY } from "../../support/stack.ts";
import { startWorld, type World } from "../support/world.ts";

let world: World;
let items: readonly { readonly sourceId: number }[];
let first: NodeSet;
let servers: Server[];
/** By node: the ids of the requests whose proofs it got, one for each time. */
let got: Hex[][];
let stopping: AbortController;

const lower = (address: Hex): Hex => address.toLowerCase() as Hex;

beforeAll(async () => {
  world = await startWorld({ vrfKeys: 2 });
  items = [{ sourceId: await world.storeSource("return new Uint8Array(1)") }];
  first = await readNodeSet(world.client, lower(world.addresses.functionsCoordinator));
});
afterAll(() => world.close());

beforeEach(async () => {
  got = [[], []];
  stopping = new AbortController();
  servers = await Promise.all(
    got.map(async (proofs) => {
      const server = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.once("end", () => {
          for (const message of splitBody(Buffer.concat(chunks)))
            proofs.push(wireOf(first).readProofMessage(message).requestId);
          response.writeHead(204).end();
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
});

const wireOf = (set: NodeSet) =>
  createWire({ ...set, chainId: world.chainId, coordinator: lower(world.addresses.functionsCoordinator) });

const urls = (): string[] =>
  servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);

const createSender = (set: NodeSet = { ...first, urls: urls() }): ProofCompanion =>
  createProofSender({
    chainId: world.chainId,
    coordinator: lower(world.addresses.functionsCoordinator),
    presetConsumer: lower(world.addresses.presetConsumer),
    vrfCoordinator: lower(world.addresses.vrfCoordinator),
    set,
    readSet: async () => set,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    signal: stopping.signal,
  });

/** What the first request for a word in a receipt needs. */
function wordOf(receipt: Receipt): { readonly request: VrfRequest; readonly proof: BegunProof } {
  const [event] = eventsOf(receipt, "RandomWordsRequested");
  const { subId: subscriptionId, minimumRequestConfirmations: confirmations, ...rest } = event!;
  const { blockNumber, blockHash } = receipt;
  return {
    request: { ...rest, subscriptionId, confirmations, blockNumber, blockHash },
    proof: beginProof(TEST_PROVING_KEY, { preSeed: event!.preSeed, seed: seedOf(event!.preSeed, blockHash) }),
  };
}

const requestBatch = (): Promise<Receipt> => submit(world, { presets: [{ dapp: world.dapp, items }] });

const blockOf = ({ blockNumber: number, blockHash: hash, logs }: Receipt) => ({ number, hash, logs });

/** A block after a receipt's in which nothing happens. */
const emptyAfter = ({ blockNumber }: Receipt, blocks = 1n) => ({
  number: blockNumber + blocks,
  hash: `0x${"00".repeat(32)}` as const,
  logs: [],
});

/** Lets the sender accompany the first word of a receipt; tells whether that is over. */
function accompany(sender: ProofCompanion, receipt: Receipt) {
  const { request, proof } = wordOf(receipt);
  const state = { isOver: false, requestId: request.requestId };
  const over = sender.accompany(request, proof).then(() => (state.isOver = true));
  return Object.assign(state, { over });
}

test("every node gets the proof, and once the word is on chain the operator need not deliver it", async () => {
  const receipt = await requestBatch();
  const sender = createSender();
  sender.onBlock(blockOf(receipt), true);
  const { over, requestId } = accompany(sender, receipt);
  await vi.waitFor(() => expect(got).toEqual([[requestId], [requestId]]));
  sender.onBlock(blockOf(await deliverWords(world, receipt)), true);
  await over;
});

test("each block has the proof sent again, as long as the word is missing", async () => {
  const receipt = await requestBatch();
  const sender = createSender();
  sender.onBlock(blockOf(receipt), true);
  const accompanied = accompany(sender, receipt);
  const { requestId } = accompanied;
  await vi.waitFor(() => expect(got[0]).toEqual([requestId]));
  sender.onBlock(emptyAfter(receipt), true);
  await vi.waitFor(() => expect(got).toEqual([1, 2].map(() => [requestId, requestId])));
  expect(accompanied.isOver).toBe(false);
});

test("after two blocks without the word, the operator delivers it", async () => {
  const receipt = await requestBatch();
  const sender = createSender();
  sender.onBlock(blockOf(receipt), true);
  const accompanied = accompany(sender, receipt);
  sender.onBlock(emptyAfter(receipt, 1n), true);
  await vi.waitFor(() => expect(got[0]).toHaveLength(2));
  expect(accompanied.isOver).toBe(false);
  sender.onBlock(emptyAfter(receipt, 2n), true);
  await accompanied.over;
});

test.each<[string, () => Promise<Receipt>, readonly string[] | undefined]>([
  ["that is no batch's", async () => await requestWord(), undefined],
  [
    "that is joined with others",
    () => submitJoined(world, [{ dapp: world.dapp, items, keys: 2 }]),
    undefined,
  ],
  ["for nodes of one operator, which have no URL", () => requestBatch(), []],
])("a word %s is delivered at once", async (_name, request, nodeUrls) => {
  const receipt = await request();
  const sender = createSender({ ...first, urls: nodeUrls ?? urls() });
  sender.onBlock(blockOf(receipt), true);
  await accompany(sender, receipt).over;
  expect(got).toEqual([[], []]);
});

test("when a reorganisation removes the request, nothing waits for it any more", async () => {
  const receipt = await requestBatch();
  const sender = createSender();
  sender.onBlock(blockOf(receipt), true);
  const { over } = accompany(sender, receipt);
  sender.onReorg(receipt.blockNumber);
  sender.onBlock(emptyAfter(receipt, 0n), true);
  expect(await over).toBe(true);
});

const requestWord = (): Promise<Receipt> =>
  submit(world, { randoms: [{ vrfSubId: world.dapp.vrfSubId, numWords: 1 }] });
