import {
  concatBytes,
  decodeFunctionData,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Abi,
  type Hex,
  zeroAddress,
} from "viem";
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from "vitest";
import type { Receipt } from "../../../src/lib/nodeAnswers.ts";
import { presetConsumerAbi, subscriptionOwnerAbi } from "../../../src/chainlink/contracts/abi.ts";
import { loadArtifacts } from "../../../src/chainlink/contracts/artifacts.ts";
import { nodeConfigOf, type NodeConfig } from "../../../src/chainlink/nodeConfig.ts";
import { pendingRecord, readyRecord } from "../../../src/chainlink/presetBatch.ts";
import {
  encodeBatchReport,
  encodeDelivery,
  encodeResults,
  type NodeSignature,
  type SignedReport,
} from "../../../src/chainlink/presetReport.ts";
import { fromHexText, toHexText } from "../../../src/lib/hex.ts";
import { toWord } from "../../../src/lib/uint256.ts";
import { testAccount } from "../../support/anvil.ts";
import { provisionDapp, storeSource, submit, type TestDapp } from "../../support/consumer.ts";
import {
  deliver,
  deliverReports,
  deliverWords,
  encodeReportOf,
  eventsOf,
  fulfilmentOf,
  reportOf,
  seedsOf,
  signReport,
} from "../../support/delivery.ts";
import { adoptNodes, configureNodes, encodeAdoption, nodeConfig } from "../../support/nodes.ts";
import { revertOf } from "../../support/reverts.ts";
import { compileSolidity } from "../../support/solidity.ts";
import { TEST_ROLES, startTestStack, type TestStack } from "../../support/stack.ts";

const STRANGER = testAccount(9);
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

let stack: TestStack;
let dapp: TestDapp;
let sourceId: number;
beforeAll(async () => {
  stack = await startTestStack();
  dapp = await provisionDapp(stack, "dapp");
  sourceId = await storeSource(stack, "return bytesArgs[0]");
});
afterAll(() => stack.close());

let snapshot: unknown;
beforeEach(async () => {
  snapshot = await stack.client.request("evm_snapshot");
});
afterEach(async () => {
  await stack.client.request("evm_revert", [snapshot]);
});

describe("a report of the nodes that is not of this batch and its word is passed over", () => {
  test("if it is of other words", async () => {
    const { submitted, vrfRequestId } = await readyBatch();
    const seeds = new Map([[vrfRequestId, 7n]]);
    expect(await passesOver(submitted, await reportOf(stack, submitted, { seeds }))).toBe(true);
  });

  test("if it is of another batch", async () => {
    const { submitted, vrfRequestId, seed } = await readyBatch();
    expect(await passesOver(submitted, await signed(vrfRequestId, readyRecord("0x0001", seed)))).toBe(true);
  });

  test("of another request with the same batch", async () => {
    const { submitted, vrfRequestId } = await readyBatch();
    const other = await readyBatch();
    expect(
      await passesOver(submitted, await signed(vrfRequestId, readyRecord(other.batch, other.seed))),
    ).toBe(true);
  });

  test("of a request that has no word yet, by either of its records", async () => {
    const { submitted, vrfRequestId, batch, seed } = await pendingBatch();
    for (const record of [pendingRecord(batch), readyRecord(batch, seed)]) {
      const reported = await deliverReports(stack, await signed(vrfRequestId, record));
      expect([reported.succeeded, reported.logs]).toEqual([true, []]);
    }
    expect((await deliverWords(stack, submitted)).logs).toHaveLength(1);
    expect(await isReported(await reportOf(stack, submitted))).toBe(true);
  });

  test("of a request that there isn't, or of words alone, by a record of 0", async () => {
    const submitted = await submit(stack, { randoms: [{ vrfSubId: dapp.vrfSubId, numWords: 1 }] });
    await deliverWords(stack, submitted);
    for (const id of [toWord(1n), eventsOf(submitted, "Accepted")[0]!.requestId])
      expect(await isReported(await signed(id, toWord(0n)))).toBe(false);
  });

  test("of a batch whose bytes are another batch's record and its seed", async () => {
    const { batch, seed } = await pendingBatch();
    const crafted: Hex = `${pendingRecord(batch)}${toWord(seed).slice(2)}`;
    const submitted = await submit(stack, { presets: [{ dapp, items: [], batch: crafted }] });
    const [{ requestId } = {}] = eventsOf(submitted, "Accepted");
    for (const record of [readyRecord(batch, seed), pendingRecord(crafted)])
      expect(await isReported(await signed(requestId!, record))).toBe(false);
  });

  test("twice, in one report, one transaction or several", async () => {
    const { submitted } = await readyBatch();
    const once = encodeReportOf(submitted);
    const twice = await signReport(stack, concatBytes([once, once]));
    const reported = await deliverReports(stack, twice, twice, await reportOf(stack, submitted));
    expect(eventsOf(reported, "BatchReported")).toHaveLength(1);
    expect(await isReported(twice)).toBe(false);
  });

  test("the other batches of the report and the delivery are not", async () => {
    const [stale, fresh, last] = [await readyBatch(), await readyBatch(), await readyBatch()];
    await deliverReports(stack, await reportOf(stack, stale.submitted));
    const report = concatBytes([encodeReportOf(stale.submitted), encodeReportOf(fresh.submitted)]);
    const delivered = await deliverReports(
      stack,
      await signReport(stack, report),
      await reportOf(stack, last.submitted),
    );
    expect(eventsOf(delivered, "BatchReported").map(({ vrfRequestId }) => vrfRequestId)).toEqual([
      fresh.vrfRequestId,
      last.vrfRequestId,
    ]);
  });
});

describe("signatures", () => {
  const CASES: readonly [string, (signatures: readonly NodeSignature[]) => readonly NodeSignature[]][] = [
    ["none", () => []],
    ["too few", (signatures) => signatures.slice(1)],
    ["the same node's twice", ([one, two]) => [one!, two!, two!]],
    ["another node's under this index", ([one, two, three]) => [one!, two!, { ...three!, index: 3 }]],
    ["an index beyond the nodes", ([one, two, three]) => [one!, two!, { ...three!, index: 4 }]],
    ["the highest index", ([one, two, three]) => [one!, two!, { ...three!, index: 255 }]],
    ["out of order", ([one, two, three]) => [one!, three!, two!]],
    ["the other recovery id", ([one, ...rest]) => [{ ...one!, recoveryId: 1 - one!.recoveryId }, ...rest]],
    ["a v of 0 or 1", ([one, ...rest]) => [{ ...one!, recoveryId: one!.recoveryId - 27 }, ...rest]],
    ["a v of 29", ([one, ...rest]) => [{ ...one!, recoveryId: 2 }, ...rest]],
    ["zeros", ([one, ...rest]) => [{ ...one!, r: new Uint8Array(32), s: new Uint8Array(32) }, ...rest]],
  ];

  test.each(CASES)("%s", async (_, change) => {
    const { submitted } = await readyBatch();
    const { report, signatures } = await reportOf(stack, submitted);
    expect(await deliveryRevert(encodeRaw(report, packSignatures(change(signatures))))).toBe("NotSigned()");
  });

  test("with more signatures than the contract asks for", async () => {
    const { submitted } = await readyBatch();
    const report = await reportOf(stack, submitted, { signers: [0, 1, 2, 3] });
    expect(await deliveryRevert(encodeDelivery("0x", [report]))).toBe("NotSigned()");
  });

  test("with the signature of a stranger", async () => {
    const { submitted } = await readyBatch();
    const nodes = [...TEST_ROLES.signers.slice(0, 2), STRANGER];
    const report = await reportOf(stack, submitted, { nodes });
    expect(await deliveryRevert(encodeDelivery("0x", [report]))).toBe("NotSigned()");
  });

  test("with a byte more or fewer", async () => {
    const { submitted } = await readyBatch();
    const { report, signatures } = await reportOf(stack, submitted);
    const packed = packSignatures(signatures);
    for (const bytes of [
      packed.subarray(1),
      packed.subarray(0, -1),
      concatBytes([packed, new Uint8Array(1)]),
    ])
      expect(await deliveryRevert(encodeRaw(report, bytes))).toBe("NotSigned()");
  });

  test.each<[string, Parameters<typeof signReport>[3]]>([
    ["another chain", { chainId: 1 }],
    ["another contract", { presetConsumer: STRANGER.address }],
    ["another configuration", { configDigest: toWord(1n) }],
  ])("for %s", async (_, place) => {
    const { submitted } = await readyBatch();
    const report = await signReport(stack, encodeReportOf(submitted), {}, place);
    expect(await deliveryRevert(encodeDelivery("0x", [report]))).toBe("NotSigned()");
  });

  test("for other bytes, whichever is changed", async () => {
    const { submitted } = await readyBatch();
    const { report, signatures } = await reportOf(stack, submitted);
    for (let at = 0; at < report.length; at += 1) {
      const changed = report.slice();
      changed[at]! ^= 1;
      const data = encodeDelivery("0x", [{ report: changed, signatures }]);
      expect([at, await deliveryRevert(data)]).toEqual([at, "NotSigned()"]);
    }
  });

  test("any three of the four nodes do", async () => {
    for (const signers of [
      [0, 1, 3],
      [0, 2, 3],
      [1, 2, 3],
    ]) {
      const { submitted } = await readyBatch();
      expect(await isReported(await reportOf(stack, submitted, { signers }))).toBe(true);
    }
  });

  test("the other form of a signature says the same, but reports no second time", async () => {
    const { submitted } = await readyBatch();
    const { report, signatures } = await reportOf(stack, submitted);
    const malleated = signatures.map(({ s, recoveryId, ...rest }) => ({
      ...rest,
      s: fromHexText(toWord(CURVE_ORDER - BigInt(toHexText(s)))),
      recoveryId: 1 - recoveryId,
    }));
    expect(await isReported({ report, signatures: malleated })).toBe(true);
    expect(await isReported({ report, signatures })).toBe(false);
  });

  test("one report that is not signed undoes the delivery, proofs included", async () => {
    const { submitted } = await pendingBatch();
    const report = await reportOf(stack, submitted);
    const forged = { ...report, signatures: report.signatures.slice(1) };
    const delivered = await deliver(stack, {
      fulfilment: fulfilmentOf(stack, submitted),
      reports: [report, forged],
    });
    expect([delivered.succeeded, delivered.logs]).toEqual([false, []]);
  });
});

describe("the bytes of a signed report", () => {
  test("none report nothing", async () => {
    const reported = await deliverReports(stack, await signReport(stack, new Uint8Array()));
    expect([reported.succeeded, reported.logs]).toEqual([true, []]);
  });

  test("cut anywhere, they report nothing", async () => {
    const { submitted } = await readyBatch();
    const whole = encodeReportOf(submitted);
    for (let length = 1; length < whole.length; length += 1) {
      const report = await signReport(stack, whole.slice(0, length));
      const delivered = await deliverReports(stack, report);
      expect([length, delivered.succeeded, delivered.logs]).toEqual([length, false, []]);
    }
    expect(await isReported(await reportOf(stack, submitted))).toBe(true);
  });

  test("a length beyond the end reports nothing, of the batches before it either", async () => {
    const [first, second] = [await readyBatch(), await readyBatch()];
    const bytes = concatBytes([encodeReportOf(first.submitted), encodeReportOf(second.submitted)]);
    for (const length of [bytes.length / 2 - 66, 0xffff, 0xffffff]) {
      const report = bytes.slice();
      report.set([length >> 16, (length >> 8) & 255, length & 255], bytes.length / 2 + 64);
      const delivered = await deliverReports(stack, await signReport(stack, report));
      expect([length, delivered.succeeded, delivered.logs]).toEqual([length, false, []]);
    }
  });
});

describe("a stranger", () => {
  test("delivers proof and report as well as anybody", async () => {
    const { submitted } = await pendingBatch();
    const reports = [await reportOf(stack, submitted)];
    const delivered = await deliver(stack, {
      fulfilment: fulfilmentOf(stack, submitted),
      reports,
      account: STRANGER,
    });
    expect(eventsOf(delivered, "BatchReported")).toHaveLength(1);
  });

  const FORWARDER = compileSolidity(
    "Forwarder",
    `pragma solidity ^0.8.19;
    contract Forwarder {
      function forward(address to, bytes calldata data, uint256 gas_) external {
        (bool ok, ) = to.call{gas: gas_}(data);
        ok;
      }
    }`,
  );
  const FIRST: readonly [string, (submitted: Receipt) => Promise<Receipt>][] = [
    ["the proof, at the coordinator", async (submitted) => deliverWords(stack, submitted)],
    [
      "the proof, by deliver",
      async (submitted) => deliver(stack, { fulfilment: fulfilmentOf(stack, submitted), account: STRANGER }),
    ],
    [
      "the proof, through a contract of their own",
      async (submitted) => {
        const forwarder = await deploy(FORWARDER.bytecode);
        return deliverWords(stack, submitted, {
          wrap: ({ to, data }) => ({
            to: forwarder,
            data: encodeForward(FORWARDER.abi, to, data, 10_000_000n),
          }),
        });
      },
    ],
  ];
  test.each(FIRST)("who delivers %s first changes nothing but who pays", async (_, first) => {
    const { submitted, vrfRequestId } = await pendingBatch();
    expect(eventsOf(await first(submitted), "RandomWordsFulfilled")).toMatchObject([{ success: true }]);
    const reports = [await reportOf(stack, submitted)];
    const delivered = await deliver(stack, { fulfilment: fulfilmentOf(stack, submitted), reports });
    expect(eventsOf(delivered, "RawErrorReturned")).toMatchObject([{ requestId: vrfRequestId }]);
    expect(eventsOf(delivered, "BatchReported")).toMatchObject([{ vrfRequestId }]);
  });

  test("who delivers all of it first makes the next delivery one without effect", async () => {
    const { submitted } = await pendingBatch();
    const delivery = {
      fulfilment: fulfilmentOf(stack, submitted),
      reports: [await reportOf(stack, submitted)],
    };
    const first = await deliver(stack, { ...delivery, account: STRANGER });
    expect(eventsOf(first, "BatchReported")).toHaveLength(1);
    const second = await deliver(stack, delivery);
    expect([second.succeeded, eventsOf(second, "BatchReported")]).toEqual([true, []]);
  });

  test("who delivers with too little gas makes no callback fail and no report be skipped for good", async () => {
    const to = stack.addresses.presetConsumer;
    const forwarder = await deploy(FORWARDER.bytecode);
    const deliveryOf = async () => {
      const { submitted } = await pendingBatch();
      return { fulfilment: fulfilmentOf(stack, submitted), reports: [await reportOf(stack, submitted)] };
    };
    const { gasUsed } = await deliver(stack, await deliveryOf());
    const ends = new Set<string>();
    for (let part = 2n; part <= 40n; part += 1n) {
      const delivery = await deliveryOf();
      const data = encodeDelivery(delivery.fulfilment, delivery.reports);
      const attack = await stack.send(STRANGER, {
        to: forwarder,
        data: encodeForward(FORWARDER.abi, to, data, (gasUsed * part) / 20n),
      });
      expect(attack.succeeded).toBe(true);
      const words = eventsOf(attack, "RandomWordsFulfilled").map(({ success }) => success);
      expect(words).not.toContain(false);
      const isDone = eventsOf(attack, "BatchReported").length === 1;
      const after = await deliver(stack, delivery);
      expect([part, eventsOf(after, "BatchReported").length]).toEqual([part, isDone ? 0 : 1]);
      ends.add(`words ${words.length}, report ${Number(isDone)}`);
    }
    expect(ends).toContain("words 0, report 0");
    expect(ends).toContain("words 1, report 1");
  });

  const CONSUMER = compileSolidity(
    "Consumer",
    `pragma solidity ^0.8.19;
    interface ICoordinator {
      function requestRandomWords(bytes32 keyHash, uint64 subId, uint16 confirmations, uint32 gas_, uint32 words) external returns (uint256);
    }
    contract Consumer {
      address to;
      bytes data;
      function ask(ICoordinator coordinator, bytes32 keyHash, uint64 subId) external {
        coordinator.requestRandomWords(keyHash, subId, 1, 2500000, 1);
      }
      function prepare(address to_, bytes calldata data_) external {
        to = to_;
        data = data_;
      }
      function rawFulfillRandomWords(uint256, uint256[] calldata) external {
        if (data.length == 0) while (true) {}
        (bool ok, ) = to.call(data);
        require(ok);
      }
    }`,
  );
  /** Requests a preset, and words for a stranger's contract in the same delivery. */
  const withConsumer = async () => {
    const consumer = await deploy(CONSUMER.bytecode);
    await addConsumer(consumer);
    const submitted = await submit(stack, { presets: [{ dapp, items: [{ sourceId }] }] });
    const [{ keyHash } = {}] = eventsOf(submitted, "RandomWordsRequested");
    const asked = await stack.send(STRANGER, {
      to: consumer,
      data: encodeFunctionData({
        abi: CONSUMER.abi,
        functionName: "ask",
        args: [stack.addresses.vrfCoordinator, keyHash, dapp.vrfSubId],
      }),
    });
    return { consumer, submitted, asked };
  };

  test("a callback that delivers in the middle of a delivery makes one report of it", async () => {
    const { consumer, submitted, asked } = await withConsumer();
    const reports = [await reportOf(stack, submitted)];
    await deliverWords(stack, submitted);
    const nested = encodeDelivery(fulfilmentOf(stack, submitted), reports);
    await stack.send(STRANGER, {
      to: consumer,
      data: encodeFunctionData({
        abi: CONSUMER.abi,
        functionName: "prepare",
        args: [stack.addresses.presetConsumer, nested],
      }),
    });
    const delivered = await deliver(stack, { fulfilment: fulfilmentOf(stack, asked), reports });
    expect(eventsOf(delivered, "RandomWordsFulfilled")).toMatchObject([{ success: true }]);
    expect(eventsOf(delivered, "BatchReported")).toHaveLength(1);
  });

  test("a callback that burns its gas spoils no report of the same delivery", async () => {
    const { submitted, asked } = await withConsumer();
    await deliverWords(stack, submitted);
    const reports = [await reportOf(stack, submitted)];
    const delivered = await deliver(stack, { fulfilment: fulfilmentOf(stack, asked), reports });
    expect(eventsOf(delivered, "RandomWordsFulfilled")).toMatchObject([{ success: false }]);
    expect(eventsOf(delivered, "BatchReported")).toHaveLength(1);
  });
});

test("500 words and a preset come in one delivery", async () => {
  const submitted = await submit(stack, {
    presets: [{ dapp, items: [{ sourceId }] }],
    randoms: [{ vrfSubId: dapp.vrfSubId, numWords: 500 }],
  });
  const reports = [await reportOf(stack, submitted)];
  const delivered = await deliver(stack, { fulfilment: fulfilmentOf(stack, submitted), reports });
  const successes = eventsOf(delivered, "RandomWordsFulfilled").map(({ success }) => success);
  expect(successes).toEqual([true, true]);
  expect(eventsOf(delivered, "BatchReported")).toHaveLength(1);
});

test("after a reorganisation the old report of the same request is passed over, and a new one is taken", async () => {
  const before = await stack.client.request("evm_snapshot");
  const old = await pendingBatch();
  const oldReport = await reportOf(stack, old.submitted);
  await stack.client.request("evm_revert", [before]);
  await stack.client.request("evm_mine");
  const { submitted, vrfRequestId, seed } = await pendingBatch();
  expect(vrfRequestId).toBe(old.vrfRequestId);
  expect(seed).not.toBe(old.seed);
  const stale = await deliver(stack, {
    fulfilment: fulfilmentOf(stack, old.submitted),
    reports: [oldReport],
  });
  expect([eventsOf(stale, "RandomWordsFulfilled"), eventsOf(stale, "BatchReported")]).toEqual([[], []]);
  const fulfilment = fulfilmentOf(stack, submitted);
  const reports = [oldReport, await reportOf(stack, submitted)];
  expect(eventsOf(await deliver(stack, { fulfilment, reports }), "BatchReported")).toHaveLength(1);
});

describe("adoptNodes", () => {
  const NODES = [20, 21, 22, 23, 24, 25, 26].map(testAccount);
  const ADDRESSES = NODES.map(({ address }) => address);
  const CONFIG = nodeConfig(NODES, "0x1234");

  test("anybody has the coordinator's new nodes adopted, whose reports count from then on", async () => {
    const { submitted } = await readyBatch();
    const old = await reportOf(stack, submitted);
    await configureNodes(stack, CONFIG);
    expect(await adopted()).toMatchObject([expect.anything(), 1, TEST_ROLES.signers.map(addressOf)]);
    const [event] = eventsOf(await adoptNodes(stack, CONFIG), "NodesAdopted");
    expect(await adopted()).toEqual([event!.configDigest, 2, ADDRESSES]);
    expect(await deliveryRevert(encodeDelivery("0x", [old]))).toBe("NotSigned()");
    // ⌊(7 + 2) / 2⌋ + 1
    const signers = [0, 2, 3, 5, 6];
    const short = await reportOf(stack, submitted, { nodes: NODES, signers: signers.slice(1) });
    expect(await deliveryRevert(encodeDelivery("0x", [short]))).toBe("NotSigned()");
    expect(await isReported(await reportOf(stack, submitted, { nodes: NODES, signers }))).toBe(true);
  });

  test("until then the former nodes report", async () => {
    const { submitted } = await readyBatch();
    const old = await reportOf(stack, submitted);
    await configureNodes(stack, CONFIG);
    const early = await reportOf(stack, submitted, { nodes: NODES, signers: [0, 1, 2, 3, 4] });
    expect(await deliveryRevert(encodeDelivery("0x", [early]))).toBe("NotSigned()");
    expect(await isReported(old)).toBe(true);
  });

  test("refuses the configuration before the present one", async () => {
    const former = nodeConfig(TEST_ROLES.signers);
    await configureNodes(stack, former);
    await adoptNodes(stack, former);
    await configureNodes(stack, CONFIG);
    await adoptNodes(stack, CONFIG);
    expect(await adoptionRevert(await encodeAdoption(stack, former, 2n))).toMatch(/^NotTheConfiguration/);
    expect((await adopted())[2]).toEqual(ADDRESSES);
  });

  test.each<[string, Partial<NodeConfig>]>([
    ["other signers", { signers: [STRANGER.address, ...ADDRESSES.slice(1)] }],
    ["other transmitters", { transmitters: ADDRESSES }],
    ["fewer faulty nodes", { faulty: 1 }],
    ["other data on chain", { onchainConfig: "0x01" }],
    ["another version", { offchainConfigVersion: 2n }],
    ["other URLs", { offchainConfig: "0x1235" }],
  ])("%s", async (_, change) => {
    await configureNodes(stack, CONFIG);
    const data = await encodeAdoption(stack, { ...CONFIG, ...change });
    expect(await adoptionRevert(data)).toMatch(/^NotTheConfiguration/);
  });

  test("another number, or a byte more", async () => {
    await configureNodes(stack, CONFIG);
    expect(await adoptionRevert(await encodeAdoption(stack, CONFIG, 3n))).toMatch(/^NotTheConfiguration/);
    const config = decodeAdoption(await encodeAdoption(stack, CONFIG));
    for (const bytes of ["0x", `${config}00`, config.slice(0, -2)] as Hex[]) {
      const data = encodeFunctionData({ abi: presetConsumerAbi, functionName: "adoptNodes", args: [bytes] });
      expect(await adoptionRevert(data)).toMatch(/^NotTheConfiguration/);
    }
  });
});

describe("another PresetConsumer", () => {
  test("takes no report before it has adopted nodes", async () => {
    const presetConsumer = await deployConsumer(stack.addresses.batchVrfCoordinator);
    const { submitted } = await readyBatch();
    const report = await signReport(stack, encodeReportOf(submitted), {}, { presetConsumer });
    const data = encodeDelivery("0x", [report]);
    expect(await revertOf(stack, { from: STRANGER.address, to: presetConsumer, data })).toBe("NotSigned()");
    expect(await adopted(presetConsumer)).toEqual([toWord(0n), 0, []]);
  });

  test("takes reports without a batch coordinator, once others have delivered the words", async () => {
    const presetConsumer = await deployConsumer(zeroAddress);
    await addConsumer(presetConsumer);
    const other: TestStack = { ...stack, addresses: { ...stack.addresses, presetConsumer } };
    await adoptNodes(other, nodeConfigOfStack());
    const submitted = await submit(other, { presets: [{ dapp, items: [{ sourceId }] }] });
    const reports = [await reportOf(other, submitted)];
    const fulfilment = fulfilmentOf(other, submitted);
    const early = await deliver(other, { fulfilment, reports });
    expect([early.succeeded, early.logs]).toEqual([true, []]);
    await deliverWords(other, submitted);
    expect(eventsOf(await deliver(other, { fulfilment, reports }), "BatchReported")).toHaveLength(1);
  });
});

/** A batch of one preset without its word. */
async function pendingBatch() {
  const submitted = await submit(stack, { presets: [{ dapp, items: [{ sourceId }] }] });
  const [{ vrfRequestId, batch } = {}] = eventsOf(submitted, "BatchRequested");
  return {
    submitted,
    vrfRequestId: vrfRequestId!,
    batch: batch!,
    seed: seedsOf(submitted).get(vrfRequestId!)!,
  };
}

/** A batch of one preset with its word. */
async function readyBatch() {
  const pending = await pendingBatch();
  await deliverWords(stack, pending.submitted);
  return pending;
}

/** Returns a report about one batch with the given record, signed by three nodes. */
async function signed(vrfRequestId: Hex, ready: Hex): Promise<SignedReport> {
  const results = encodeResults([{ ok: true, bytes: Uint8Array.of(1) }]);
  return await signReport(stack, encodeBatchReport([{ vrfRequestId, ready, results }]));
}

/** Delivers a report and returns whether any batch got its results by it. */
async function isReported(report: SignedReport): Promise<boolean> {
  return eventsOf(await deliverReports(stack, report), "BatchReported").length > 0;
}

/** Checks that a report changes nothing, and that the true one is taken afterwards. */
async function passesOver(submitted: Receipt, report: SignedReport): Promise<boolean> {
  const { succeeded, logs } = await deliverReports(stack, report);
  return succeeded && logs.length === 0 && (await isReported(await reportOf(stack, submitted)));
}

async function deliveryRevert(data: Hex): Promise<string | undefined> {
  return await revertOf(stack, { from: STRANGER.address, to: stack.addresses.presetConsumer, data });
}
const adoptionRevert = deliveryRevert;

function encodeRaw(report: Uint8Array, signatures: Uint8Array): Hex {
  return encodeFunctionData({
    abi: presetConsumerAbi,
    functionName: "deliver",
    args: ["0x", [{ report: toHexText(report), signatures: toHexText(signatures) }]],
  });
}

/** Packs signatures in the order given. */
function packSignatures(signatures: readonly NodeSignature[]): Uint8Array {
  return concatBytes(
    signatures.flatMap(({ index, r, s, recoveryId }) => [
      Uint8Array.of(index),
      r,
      s,
      Uint8Array.of(27 + recoveryId),
    ]),
  );
}

async function adopted(address = stack.addresses.presetConsumer) {
  return await stack.viem.readContract({ address, abi: presetConsumerAbi, functionName: "adoptedNodes" });
}

/** Deploys a contract and returns its address. */
async function deploy(data: Hex): Promise<Hex> {
  const nonce = await stack.client.getNonce(STRANGER.address, "latest");
  expect((await stack.send(STRANGER, { data })).succeeded).toBe(true);
  return getContractAddress({ from: STRANGER.address, nonce: BigInt(nonce) });
}

/** Deploys another PresetConsumer, which has adopted no nodes. */
async function deployConsumer(batchVrfCoordinator: Hex): Promise<Hex> {
  const { abi, bytecode } = loadArtifacts().PresetConsumer;
  const { presetConsumer, vrfCoordinator, functionsRouter } = stack.addresses;
  const donId = await stack.viem.readContract({ address: presetConsumer, abi, functionName: "DON_ID" });
  const args = [TEST_ROLES.operator.address, vrfCoordinator, batchVrfCoordinator, functionsRouter, donId];
  return await deploy(encodeDeployData({ abi, bytecode, args }));
}

/** Links a contract to the dapp's subscriptions. */
async function addConsumer(consumer: Hex): Promise<void> {
  await stack.send(TEST_ROLES.operator, {
    to: stack.addresses.subscriptionOwner,
    data: encodeFunctionData({
      abi: subscriptionOwnerAbi,
      functionName: "addConsumer",
      args: [dapp.vrfSubId, dapp.functionsSubId, consumer],
    }),
  });
}

/** Returns the configuration that the stack was deployed with. */
function nodeConfigOfStack(): NodeConfig {
  const { signers, transmitters } = TEST_ROLES;
  return nodeConfigOf({ signers: signers.map(addressOf), transmitters: transmitters.map(addressOf) });
}

function addressOf({ address }: { readonly address: Hex }): Hex {
  return address;
}

function encodeForward(abi: Abi, to: Hex, data: Hex, gas: bigint): Hex {
  return encodeFunctionData({ abi, functionName: "forward", args: [to, data, gas] });
}

function decodeAdoption(data: Hex): Hex {
  const call = decodeFunctionData({ abi: presetConsumerAbi, data });
  return call.functionName === "adoptNodes" ? call.args[0] : "0x";
}
