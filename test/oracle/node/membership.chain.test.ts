import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hex } from "viem";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { decodeTransmission } from "../../../src/chainlink/calldata.ts";
import { nodeConfigOf } from "../../../src/chainlink/nodeConfig.ts";
import { findSigner, reportDigest } from "../../../src/chainlink/reportSigners.ts";
import {
  createMembership,
  type Membership,
  type TaskHooks,
  type Topic,
} from "../../../src/oracle/node/membership.ts";
import { createNodeReport } from "../../../src/oracle/node/nodeReport.ts";
import type { RoundJournal } from "../../../src/oracle/node/roundJournal.ts";
import { createStageClock } from "../../../src/oracle/node/stageClock.ts";
import { agree } from "../../../src/oracle/protocol/agree.ts";
import { transmitOrder } from "../../../src/oracle/protocol/transmitOrder.ts";
import { createReportSigner } from "../../../src/oracle/signer.ts";
import { idOf } from "../support/logs.ts";

const NODES = [0, 1, 2, 3];
const keys = NODES.map((index) => createReportSigner(new Uint8Array(32).fill(1 + index)));
const signers = keys.map(({ address }) => address);
const place = { chainId: 31_337, coordinator: `0x${"11".repeat(20)}` } as const;
const configDigest = idOf(0x1234n);
/** Requests for which node 0 is the first to transmit. */
const [REQUEST, SECOND] = Array.from({ length: 64 }, (_, index) => idOf(BigInt(index))).filter(
  (id) => transmitOrder(id, NODES.length)[0] === 0,
) as [Hex, Hex];

interface TestNode {
  readonly member: Membership;
  readonly journal: Map<Hex, string[]>;
  readonly transmitted: Hex[];
  readonly heard: string[];
  /** Of all nodes. */
  readonly commitments: Set<Hex>;
  readonly failures: unknown[];
}

let servers: Server[];
let urls: string[];
let nodes: (TestNode | undefined)[];
/** Whether a node's journal fails. */
let isDiskFull: (node: number) => boolean;
/** Requests that every node has seen answered. */
let answered: Set<Hex>;

beforeEach(async () => {
  nodes = [];
  answered = new Set();
  isDiskFull = () => false;
  servers = await Promise.all(
    NODES.map(async (index) => {
      const server = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.once("end", () => {
          const outcome = nodes[index]?.member.inbox.take(Buffer.concat(chunks), "192.0.2.1");
          response.writeHead(outcome === "taken" ? 204 : 503, { "content-length": 0 }).end();
        });
      });
      await new Promise<void>((resolve) => {
        server.listen(0, "127.0.0.1", resolve);
      });
      return server;
    }),
  );
  urls = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(async () => {
  for (const node of nodes) node?.member.close();
  for (const server of servers) server.closeAllConnections();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
});

/** Starts a node; with the journal of an earlier one, it resumes from there. */
function start(index: number, journal = new Map<Hex, string[]>()): TestNode {
  const heard: string[] = [];
  const commitments = new Set<Hex>();
  const kept: RoundJournal = {
    read: async (requestId) => journal.get(requestId) ?? [],
    async append(requestId, record) {
      if (isDiskFull(index)) throw new Error("no space left on device");
      journal.set(requestId, [...(journal.get(requestId) ?? []), record]);
    },
  };
  const config = nodeConfigOf({ signers, transmitters: signers });
  const set = {
    configDigest,
    count: 1n,
    blockNumber: 1n,
    faulty: 1,
    signers,
    transmitters: signers,
    urls,
    config,
  };
  const member = createMembership({
    ...place,
    set,
    signer: keys[index]!,
    journal: kept,
    clock: createStageClock(),
    proofs: { wants: () => false, take: () => "known" },
    isAnswered: (requestId) => answered.has(requestId),
    onMessage(_, { message }) {
      heard.push(`${message.kind} of ${message.sender}`);
      if (message.kind === "commit") commitments.add(message.commitment);
    },
  });
  return (nodes[index] = { member, journal, transmitted: [], heard, commitments, failures: [] });
}

const reportOf = (requestId: Hex) =>
  createNodeReport(
    {
      requestId,
      client: `0x${"c1".repeat(20)}`,
      subscriptionId: 1n,
      data: new Uint8Array(),
      dataVersion: 1,
      callbackGasLimit: 100_000,
      gasOverheadAfterCallback: 0,
      commitment: new Uint8Array(352),
      blockNumber: 5n,
    },
    { configDigest, beaconSignature: undefined },
  );

function begin(
  { member, transmitted, failures }: TestNode,
  requestId: Hex,
  { isDerived = false, isOpen = () => true, ...hooks }: Partial<TaskHooks & Topic> = {},
): void {
  const report = reportOf(requestId);
  member.begin(
    {
      id: requestId,
      isOpen,
      isDerived,
      agree: (observations) => agree(observations, 1),
      signReport: (rank, result) => report.sign(rank, result, keys[member.self]!),
    },
    {
      onTransmit: ({ rank, result, endorsements }) =>
        void transmitted.push(report.encode(isDerived ? 0 : rank, result, endorsements)),
      onAccuse() {},
      onFailure: (error) => void failures.push(error),
      ...hooks,
    },
  );
}

/** Makes a node observe the result of a request's source. */
function observe({ member }: TestNode, requestId: Hex, text = "seen"): void {
  const observation = { ok: true, bytes: Buffer.from(text) };
  member.tasks.get(requestId)!.give({ type: "observed", observation, salt: idOf(BigInt(member.self)) });
}

/** Returns who signed what a node transmits, and the result in it. */
function readTransmission(data: Hex) {
  const transmission = decodeTransmission(data)!;
  const digest = reportDigest(transmission);
  const by = transmission.signatures.map((signature) => signers.indexOf(findSigner(digest, signature)!));
  return { by: new Set(by), result: Buffer.from(transmission.items[0]!.result.slice(2), "hex").toString() };
}

test("four nodes agree over HTTP, and the first of the order transmits with three signatures", async () => {
  for (const index of NODES) begin(start(index), REQUEST);
  for (const node of nodes) observe(node!, REQUEST);
  await vi.waitFor(() => expect(nodes[0]!.transmitted).not.toEqual([]));
  const { by, result } = readTransmission(nodes[0]!.transmitted[0]!);
  expect([by.size, by.has(-1), result]).toEqual([3, false, "seen"]);
  expect(decodeTransmission(nodes[0]!.transmitted[0]!)!.context[1]).toBe(idOf(1n));
  expect(nodes[0]!.member.inbox.lastHeardAt(0)).toBeUndefined();
  // It needs no more than two others to transmit.
  await vi.waitFor(() => expect(nodes[0]!.member.inbox.lastHeardAt(1)).toBeTypeOf("number"));
});

test("what comes before a node has seen the request counts once it has", async () => {
  for (const index of NODES) start(index);
  for (const index of [1, 2, 3]) {
    begin(nodes[index]!, REQUEST);
    observe(nodes[index]!, REQUEST);
  }
  await vi.waitFor(() =>
    expect(new Set(nodes[0]!.heard)).toEqual(
      new Set([1, 2, 3].flatMap((sender) => [`commit of ${sender}`, `reveal of ${sender}`])),
    ),
  );
  // Nobody sends anything again: only what came early is available.
  for (const index of [1, 2, 3]) nodes[index]!.member.close();
  begin(nodes[0]!, REQUEST);
  await vi.waitFor(() =>
    expect(nodes[0]!.journal.get(REQUEST)?.map((record) => JSON.parse(record).kind)).toEqual([
      "proposed",
      "endorsed",
    ]),
  );
});

test("what comes again of a request that was answered takes no place, and counts for nothing should it open again", async () => {
  for (const index of NODES) start(index);
  answered.add(REQUEST);
  for (const index of [1, 2, 3]) {
    begin(nodes[index]!, REQUEST);
    observe(nodes[index]!, REQUEST);
  }
  await vi.waitFor(() => expect(new Set(nodes[0]!.heard).size).toBe(6));
  for (const index of [1, 2, 3]) nodes[index]!.member.close();
  answered.clear();
  begin(nodes[0]!, REQUEST);
  observe(nodes[0]!, REQUEST);
  const kinds = () => nodes[0]!.journal.get(REQUEST)?.map((record) => JSON.parse(record).kind) ?? [];
  await vi.waitFor(() => expect(kinds()).toContain("observed"));
  expect(kinds()).toEqual(["observed"]);
});

test("rounds know nothing of each other, and one that has ended takes nothing any more", async () => {
  for (const index of NODES) {
    begin(start(index), REQUEST);
    begin(nodes[index]!, SECOND);
  }
  nodes[0]!.member.end(REQUEST);
  for (const node of nodes) if (node!.member.tasks.has(REQUEST)) observe(node!, REQUEST, "first");
  for (const node of nodes) observe(node!, SECOND, "second");
  await vi.waitFor(() => expect(nodes[0]!.transmitted).not.toEqual([]));
  expect(readTransmission(nodes[0]!.transmitted[0]!).result).toBe("second");
  expect(nodes[0]!.journal.has(REQUEST)).toBe(false);
});

test("a node that begins again from its journal says what it said, and the round goes on", async () => {
  const journal = start(0).journal;
  begin(nodes[0]!, REQUEST);
  observe(nodes[0]!, REQUEST);
  await vi.waitFor(() => expect(journal.get(REQUEST)).toHaveLength(1));
  nodes[0]!.member.close();
  start(0, journal);
  begin(nodes[0]!, REQUEST);
  const round = nodes[0]!.member.tasks.get(REQUEST)!;
  await round.ready;
  expect(round.hasObserved).toBe(true);
  const accused = vi.fn<() => void>();
  for (const index of [1, 2]) {
    begin(start(index), REQUEST, { onAccuse: accused });
    observe(nodes[index]!, REQUEST);
  }
  await vi.waitFor(() => expect(nodes[0]!.transmitted).not.toEqual([]));
  expect(readTransmission(nodes[0]!.transmitted[0]!).by).toEqual(new Set([0, 1, 2]));
  expect(accused).not.toHaveBeenCalled();
});

test("a node whose journal can't be written says nothing, and tells why", async () => {
  isDiskFull = (index) => index === 0;
  for (const index of [0, 1]) begin(start(index), REQUEST);
  observe(nodes[0]!, REQUEST);
  await vi.waitFor(() => expect(nodes[0]!.failures).toMatchObject([{ message: "no space left on device" }]));
  observe(nodes[1]!, REQUEST);
  await vi.waitFor(() => expect(nodes[0]!.heard).toContain("commit of 1"));
  expect(nodes[1]!.heard).toEqual([]);
});

test("two commitments of one node are found out, and told to the others", async () => {
  const accused: number[] = [];
  for (const index of [0, 1, 2])
    begin(start(index), REQUEST, {
      onAccuse: ({ evidence }) => void accused.push(evidence.message.first.message.sender),
    });
  // The same key with two disks.
  begin(start(3), REQUEST);
  const first = nodes[3]!;
  observe(first, REQUEST, "one");
  await vi.waitFor(() => expect(nodes[0]!.heard).toContain("commit of 3"));
  first.member.close();
  begin(start(3), REQUEST);
  observe(nodes[3]!, REQUEST, "two");
  await vi.waitFor(() => expect(accused).toEqual([3, 3, 3]));
  for (const index of [0, 1, 2]) observe(nodes[index]!, REQUEST);
  await vi.waitFor(() => expect(nodes[0]!.transmitted).not.toEqual([]));
  expect(readTransmission(nodes[0]!.transmitted[0]!).result).toBe("seen");
});

test("two commitments that come before a node has seen the request are found out once it has", async () => {
  for (const index of [0, 3]) start(index);
  for (const [before, text] of ["one", "two"].entries()) {
    begin(nodes[3]!, REQUEST);
    observe(nodes[3]!, REQUEST, text);
    await vi.waitFor(() => expect(nodes[0]!.commitments.size).toBe(before + 1));
    nodes[3]!.member.close();
    start(3);
  }
  const accused = vi.fn<TaskHooks["onAccuse"]>();
  begin(nodes[0]!, REQUEST, { onAccuse: accused });
  await vi.waitFor(() => expect(accused).toHaveBeenCalledOnce());
  expect(accused.mock.calls[0]![0].evidence.message.first.message.sender).toBe(3);
});

describe("a result that nodes derive", () => {
  const isDerived = true;

  test("each node says its signature at once, and the first of the order transmits with three", async () => {
    for (const index of NODES) begin(start(index), REQUEST, { isDerived });
    for (const node of nodes) observe(node!, REQUEST);
    await vi.waitFor(() => expect(nodes[0]!.transmitted).not.toEqual([]));
    const { by, result } = readTransmission(nodes[0]!.transmitted[0]!);
    expect([by.size, by.has(-1), result]).toEqual([3, false, "seen"]);
    expect(nodes[1]!.transmitted).toEqual([]);
    expect(nodes[0]!.heard.every((one) => one.startsWith("endorsement"))).toBe(true);
  });

  test("the others' signatures count that came before a node knew the seed", async () => {
    for (const index of NODES) start(index);
    for (const index of [1, 2]) {
      begin(nodes[index]!, REQUEST, { isDerived });
      observe(nodes[index]!, REQUEST);
    }
    await vi.waitFor(() => expect(new Set(nodes[0]!.heard)).toHaveLength(2));
    for (const index of [1, 2]) nodes[index]!.member.close();
    begin(nodes[0]!, REQUEST, { isDerived });
    observe(nodes[0]!, REQUEST);
    await vi.waitFor(() => expect(nodes[0]!.transmitted).toHaveLength(1));
  });

  test("after a restart a node signs the same, from its journal, and no other result", async () => {
    const { journal } = start(1);
    begin(nodes[1]!, REQUEST, { isDerived });
    observe(nodes[1]!, REQUEST);
    await vi.waitFor(() => expect(journal.get(REQUEST)).toHaveLength(1));
    nodes[1]!.member.close();
    for (const index of [0, 2]) begin(start(index), REQUEST, { isDerived });
    begin(start(1, journal), REQUEST, { isDerived });
    observe(nodes[1]!, REQUEST, "something else");
    for (const index of [0, 2]) observe(nodes[index]!, REQUEST);
    await vi.waitFor(() => expect(nodes[0]!.heard).toContain("endorsement of 2"));
    // A busy node says it again.
    expect([new Set(nodes[0]!.heard), nodes[0]!.transmitted]).toEqual([new Set(["endorsement of 2"]), []]);
    nodes[1]!.member.close();
    begin(start(1, journal), REQUEST, { isDerived });
    observe(nodes[1]!, REQUEST);
    await vi.waitFor(() => expect(nodes[0]!.transmitted).toHaveLength(1));
    expect(journal.get(REQUEST)).toHaveLength(1);
  });

  test("two signatures of one node for different results are found out", async () => {
    const accused: number[] = [];
    const onAccuse: TaskHooks["onAccuse"] = ({ evidence }) =>
      void accused.push(evidence.message.first.message.sender);
    for (const index of [0, 1]) begin(start(index), REQUEST, { isDerived, onAccuse });
    for (const text of ["one", "two"]) {
      nodes[3]?.member.close();
      // The same key with two disks.
      begin(start(3), REQUEST, { isDerived });
      observe(nodes[3]!, REQUEST, text);
      await vi.waitFor(() => expect(nodes[0]!.heard).toContain("endorsement of 3"));
      nodes[0]!.heard.length = 0;
    }
    await vi.waitFor(() => expect(accused).toEqual([3, 3]));
  });
});

test("rounds that nobody waits for are ended, and those alone", async () => {
  const { member } = start(0);
  begin(nodes[0]!, REQUEST, { isOpen: () => false });
  begin(nodes[0]!, SECOND);
  member.sweep();
  expect([...member.tasks.keys()]).toEqual([SECOND]);
});
