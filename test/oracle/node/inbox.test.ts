import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { toHexText } from "../../../src/lib/hex.ts";
import { loadSecp256k1 } from "../../../src/lib/secp256k1.ts";
import { createInbox, type Inbox } from "../../../src/oracle/node/inbox.ts";
import { uintBytes } from "../../../src/oracle/protocol/byteReader.ts";
import type { Commit, Message, Reveal, Sealed } from "../../../src/oracle/protocol/message.ts";
import type { Proof } from "../../../src/vrf/proof.ts";
import { createProvingKey, prove } from "../../../src/vrf/proof.ts";
import { createWire, type Received } from "../../../src/oracle/protocol/wire.ts";
import { createReportSigner } from "../../../src/oracle/signer.ts";

const signers = [1, 2, 3, 4].map((key) => createReportSigner(new Uint8Array(32).fill(key)));
const wire = createWire({
  chainId: 31_337,
  coordinator: `0x${"11".repeat(20)}`,
  configDigest: `0x${"22".repeat(32)}`,
  signers: signers.map(({ address }) => address),
});
const idOf = (index: number): `0x${string}` => toHexText(uintBytes(index, 32));
const seal = <Of extends Message>(message: Of, request = 0): Sealed<Of> =>
  wire.seal(idOf(request), message, signers[message.sender]!);
const commit = (sender: number, request = 0) =>
  seal({ kind: "commit", sender, commitment: idOf(request) }, request);
const bodyOf = (messages: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat(messages.flatMap((one) => [uintBytes(one.length, 4), one]));

const ANSWERED = idOf(77);
const MEMBER = "192.0.2.1";
const ATTACKER = "198.51.100.1";
let inbox: Inbox;
let received: Received[];
/** Pre-seeds of the proofs that were handed on. */
let proofs: bigint[];
const NO_PROOFS = { wants: () => false, take: () => "known" as const };
beforeEach(() => {
  // Keeps quotas from refilling, however slow the machine is.
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
  received = [];
  proofs = [];
  inbox = createInbox({
    wire,
    signers: signers.map(({ address }) => address),
    isOpen: (requestId) => requestId === idOf(0),
    isAnswered: (requestId) => requestId === ANSWERED,
    onMessage: (one) => received.push(one),
    proofs: {
      wants: (requestId) => requestId === idOf(0),
      take(_, { preSeed }: Proof) {
        proofs.push(preSeed);
        return preSeed === 0n ? "wrong" : "right";
      },
    },
  });
});
afterEach(() => {
  vi.useRealTimers();
});

test("hands on what a node of the configuration has signed", () => {
  expect(inbox.take(bodyOf([commit(0).bytes, commit(1).bytes]), MEMBER)).toBe("taken");
  expect(received.map(({ sealed }) => sealed.message.sender)).toEqual([0, 1]);
});

test("bytes of any kind are refused, and nothing is thrown", () => {
  const reveal = seal({
    kind: "reveal",
    sender: 1,
    salt: idOf(1),
    observation: { ok: true, bytes: new Uint8Array(9) },
  });
  const samples = [
    commit(0),
    reveal,
    seal({ kind: "proposal", sender: 2, rank: 0, reveals: [reveal] }),
    seal({ kind: "evidence", sender: 3, first: commit(0, 0), second: commit(0, 0) }),
  ].map(({ bytes }) => bodyOf([bytes]));
  let tries = 0;
  for (const sample of samples)
    for (const [at, byte] of sample.entries()) {
      const flipped = sample.with(at, byte ^ 0xff);
      for (const body of [flipped, sample.subarray(0, at)].filter(({ length }) => length > 0))
        expect(inbox.take(body, `address ${(tries += 1)}`), `byte ${at}`).toBe("malformed");
    }
  expect(received).toEqual([]);
});

describe("limits of an address", () => {
  test("whoever sends malformed bodies is refused, and nobody else is", () => {
    const outcomes = Array.from({ length: 60 }, () => inbox.take(new Uint8Array(200), ATTACKER));
    expect(outcomes[0]).toBe("malformed");
    expect(outcomes.at(-1)).toBe("limited");
    expect(inbox.take(bodyOf([commit(0).bytes]), MEMBER)).toBe("taken");
  });

  test("whoever repeats what a node said is refused, and the node is not", () => {
    const message = commit(0).bytes;
    const body = bodyOf(Array.from({ length: 2_000 }, () => message));
    const outcomes = Array.from({ length: 11 }, () => inbox.take(body, ATTACKER));
    expect(outcomes.at(-1)).toBe("limited");
    expect(inbox.take(bodyOf([message, commit(0, 1).bytes]), MEMBER)).toBe("taken");
  });
});

describe("what a stranger recorded from the wire", () => {
  const recover = vi.spyOn(loadSecp256k1(), "ecdsaRecover");
  afterAll(() => recover.mockRestore());
  /** Takes bodies of one message each; returns how many signatures that checked. */
  const replay = (messages: readonly Uint8Array[]): number => {
    recover.mockClear();
    for (const message of messages) inbox.take(bodyOf([message]), ATTACKER);
    return recover.mock.calls.length;
  };
  const afterwards = (request: number) => inbox.take(bodyOf([commit(1, request).bytes]), MEMBER);

  test("the same message 10,000 times has one signature checked", () => {
    const { bytes } = commit(0);
    expect(replay(Array.from({ length: 10_000 }, () => bytes))).toBe(1);
    expect(afterwards(0)).toBe("taken");
  });

  test("of messages about requests that are over, a burst is checked and no more", () => {
    const old = Array.from({ length: 2_200 }, (_, index) => commit(0, 1 + index).bytes);
    expect(replay(old)).toBe(2_000);
    vi.advanceTimersByTime(100);
    expect(replay(old.slice(2_000))).toBe(50);
    // The sender's own messages pass, whether about open requests or about those that this node has yet to see.
    expect([afterwards(0), afterwards(9_999)]).toEqual(["taken", "taken"]);
    // So do a stranger's messages about open requests: repeating what a node said only helps it.
    expect(inbox.take(bodyOf([commit(2).bytes]), ATTACKER)).toBe("taken");
  });

  test("messages of another configuration have no signature checked", () => {
    const elsewhere = createWire({
      chainId: 31_337,
      coordinator: `0x${"11".repeat(20)}`,
      configDigest: `0x${"33".repeat(32)}`,
      signers: signers.map(({ address }) => address),
    });
    const message = { kind: "commit", sender: 0, commitment: idOf(1) } as const;
    const { bytes } = elsewhere.seal(idOf(0), message, signers[0]!);
    expect(replay(Array.from({ length: 100 }, () => bytes))).toBe(0);
    expect(afterwards(0)).toBe("taken");
  });
});

describe("when a node was last heard", () => {
  const takeLater = (message: Sealed): number | undefined => {
    vi.advanceTimersByTime(1_000);
    inbox.take(bodyOf([message.bytes]), ATTACKER);
    return inbox.lastHeardAt(message.message.sender);
  };

  test("it is when its newest message came, about a request that is open or was answered lately", () => {
    expect(takeLater(commit(1))).toBe(Date.now());
    expect(takeLater(commit(1, 77))).toBe(Date.now());
  });

  test("takes nothing that a node said before for evidence against it, of whatever request", () => {
    const first = takeLater(commit(1));
    expect([takeLater(commit(1)), takeLater(commit(1, 3))]).toEqual([first, first]);
    expect(takeLater(commit(2, 3))).toBeUndefined();
  });

  test("a message that came before its request counts once this node sees that", () => {
    let isSeen = false;
    const early = createInbox({
      wire,
      signers: signers.map(({ address }) => address),
      isOpen: () => isSeen,
      isAnswered: () => false,
      onMessage() {},
      proofs: NO_PROOFS,
    });
    const body = bodyOf([commit(1).bytes]);
    early.take(body, MEMBER);
    expect(early.lastHeardAt(1)).toBeUndefined();
    isSeen = true;
    early.take(body, MEMBER);
    expect(early.lastHeardAt(1)).toBe(Date.now());
  });
});

test("a node that sends long messages pushes out its own alone", () => {
  const many = Array.from({ length: 31 }, (_, key) => createReportSigner(new Uint8Array(32).fill(key + 1)));
  const addresses = many.map(({ address }) => address);
  const wide = createWire({
    chainId: 31_337,
    coordinator: `0x${"11".repeat(20)}`,
    configDigest: `0x${"22".repeat(32)}`,
    signers: addresses,
  });
  const reveals = Array.from({ length: 31 }, () => {
    const observation = { ok: true, bytes: new Uint8Array(4_000) };
    return wide.seal<Reveal>(idOf(0), { kind: "reveal", sender: 0, salt: idOf(1), observation }, many[0]!);
  });
  const proposals = Array.from({ length: 20 }, (_, rank) =>
    wide.seal(idOf(0), { kind: "proposal", sender: 0, rank, reveals }, many[0]!),
  );
  const other = wide.seal(idOf(0), { kind: "commit", sender: 1, commitment: idOf(0) }, many[1]!);
  const hear = createInbox({
    wire: wide,
    signers: addresses,
    isOpen: () => true,
    isAnswered: () => false,
    onMessage() {},
    proofs: NO_PROOFS,
  });
  for (const { bytes } of [other, ...proposals]) expect(hear.take(bodyOf([bytes]), ATTACKER)).toBe("taken");
  const recover = vi.spyOn(loadSecp256k1(), "ecdsaRecover");
  const checksOf = ({ bytes }: Sealed): number => {
    recover.mockClear();
    hear.take(bodyOf([bytes]), ATTACKER);
    return recover.mock.calls.length;
  };
  expect([checksOf(other), checksOf(proposals.at(-1)!)]).toEqual([0, 0]);
  // Its own signature; the reveal in it was pushed out too, and is checked once.
  expect(checksOf(proposals[0]!)).toBeGreaterThan(0);
  recover.mockRestore();
});

describe("a VRF proof", () => {
  const key = createProvingKey(new Uint8Array(32).fill(7));
  const proofOf = (preSeed: bigint, request = 0) =>
    wire.encodeProofMessage(idOf(request), prove(key, { preSeed, seed: 9n }));

  test("is handed on with the messages around it, whoever sent it", () => {
    const body = bodyOf([commit(0).bytes, proofOf(5n), commit(1).bytes]);
    expect(inbox.take(body, ATTACKER)).toBe("taken");
    expect([proofs, received.length]).toEqual([[5n], 2]);
  });

  test("the rest of a body with a wrong one counts", () => {
    expect(inbox.take(bodyOf([proofOf(0n), proofOf(5n), commit(1).bytes]), ATTACKER)).toBe("taken");
    expect([proofs, received.length]).toEqual([[0n, 5n], 1]);
  });

  test("ten wrong ones are the last that are checked of an address, in one body or many", () => {
    expect(inbox.take(bodyOf(Array.from({ length: 7 }, () => proofOf(0n))), ATTACKER)).toBe("taken");
    expect(inbox.take(bodyOf(Array.from({ length: 7 }, () => proofOf(0n))), ATTACKER)).toBe("limited");
    expect(proofs).toHaveLength(10);
    expect(inbox.take(bodyOf([proofOf(5n)]), MEMBER)).toBe("taken");
  });

  test("those of requests that nobody sees are limited", () => {
    const body = bodyOf(Array.from({ length: 500 }, () => proofOf(5n, 3)));
    const outcomes = Array.from({ length: 5 }, () => inbox.take(body, ATTACKER));
    expect(outcomes).toEqual(["taken", "taken", "taken", "taken", "limited"]);
    expect(proofs).toHaveLength(2_000);
    expect(inbox.take(bodyOf([proofOf(5n)]), ATTACKER)).toBe("taken");
  });
});

test("messages nested in one another are refused before their signatures are checked", () => {
  // Only a member can do this: nobody else could sign these messages.
  let nested = commit(0);
  for (let depth = 0; depth < 300; depth += 1) {
    const reveals = [nested as unknown as Sealed<Reveal>];
    nested = seal({ kind: "proposal", sender: 0, rank: 0, reveals }) as unknown as Sealed<Commit>;
  }
  const recover = vi.spyOn(loadSecp256k1(), "ecdsaRecover");
  expect(inbox.take(bodyOf([nested.bytes]), ATTACKER)).toBe("malformed");
  expect(recover).toHaveBeenCalledTimes(1);
  recover.mockRestore();
});

test("of the messages in a proposal, those that came before are not checked again", () => {
  const reveals = [1, 2, 3].map((sender) =>
    seal<Reveal>({
      kind: "reveal",
      sender,
      salt: idOf(sender),
      observation: { ok: true, bytes: new Uint8Array(9) },
    }),
  );
  const proposal = seal({ kind: "proposal", sender: 0, rank: 0, reveals });
  inbox.take(bodyOf(reveals.slice(0, 2).map(({ bytes }) => bytes)), MEMBER);
  const recover = vi.spyOn(loadSecp256k1(), "ecdsaRecover");
  expect(inbox.take(bodyOf([proposal.bytes]), MEMBER)).toBe("taken");
  expect(recover).toHaveBeenCalledTimes(2);
  recover.mockRestore();
  expect(toHexText(received.at(-1)!.sealed.bytes)).toBe(toHexText(proposal.bytes));
});

test("a reveal of another request that came before makes no proposal", () => {
  const reveal = seal<Reveal>(
    { kind: "reveal", sender: 1, salt: idOf(1), observation: { ok: true, bytes: new Uint8Array(9) } },
    1,
  );
  inbox.take(bodyOf([reveal.bytes]), MEMBER);
  const proposal = seal({ kind: "proposal", sender: 0, rank: 0, reveals: [reveal] });
  expect(inbox.take(bodyOf([proposal.bytes]), MEMBER)).toBe("malformed");
});
