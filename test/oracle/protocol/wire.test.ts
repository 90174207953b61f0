import { describe, expect, test } from "vitest";
import { toHexText } from "../../../src/lib/hex.ts";
import { keccak256 } from "../../../src/lib/keccak.ts";
import { MalformedMessageError, uintBytes } from "../../../src/oracle/protocol/byteReader.ts";
import type { Message, Reveal, Sealed } from "../../../src/oracle/protocol/message.ts";
import { recoverAddress } from "../../../src/oracle/protocol/recoverAddress.ts";
import {
  createWire,
  isProofMessage,
  joinSignature,
  MAX_MESSAGE_BYTES,
  maxObservationBytes,
  peekAddressee,
} from "../../../src/oracle/protocol/wire.ts";
import { createReportSigner } from "../../../src/oracle/signer.ts";
import { encodeProof, createProvingKey, prove } from "../../../src/vrf/proof.ts";

const keys = Array.from({ length: 31 }, (_, index) => createReportSigner(new Uint8Array(32).fill(index + 1)));
const place = {
  chainId: 31_337,
  coordinator: `0x${"11".repeat(20)}`,
  configDigest: `0x${"22".repeat(32)}`,
  signers: keys.map(({ address }) => address),
} as const;
const wire = createWire(place);
const REQUEST = `0x${"33".repeat(32)}` as const;
const OTHER_REQUEST = `0x${"34".repeat(32)}` as const;
const HASH = `0x${"44".repeat(32)}` as const;
const LONGEST = maxObservationBytes(keys.length);
const NOT_SIGNED = /signature is not its sender's/;

const seal = <Of extends Message>(message: Of, requestId = REQUEST): Sealed<Of> =>
  wire.seal(requestId, message, keys[message.sender]!);
const commit = (sender = 2) => seal({ kind: "commit", sender, commitment: HASH });
const revealOf = (sender: number, bytes: Uint8Array = Buffer.from("seen"), ok = true): Reveal => ({
  kind: "reveal",
  sender,
  salt: HASH,
  observation: { ok, bytes: Buffer.from(bytes) },
});
const reveal = (sender: number, bytes?: Uint8Array) => seal(revealOf(sender, bytes));
const proposal = (senders: readonly number[], bytes?: Uint8Array) =>
  seal({ kind: "proposal", sender: 2, rank: 7, reveals: senders.map((one) => reveal(one, bytes)) });
const signed = (sender: number, signer = sender): Sealed => {
  const signature = toHexText(joinSignature(keys[signer]!.sign(Buffer.from(HASH.slice(2), "hex"))));
  return seal({ kind: "endorsement", sender, rank: 250, digest: HASH, signature });
};

/** Replaces some bytes of a message and signs it again as the sender that it then names. */
function forge(sealed: Sealed, at: number, bytes: Uint8Array): Uint8Array {
  const changed = Buffer.from(sealed.bytes.subarray(0, -65));
  Buffer.from(bytes).copy(changed, at);
  return sign(changed);
}
function sign(unsigned: Uint8Array): Uint8Array {
  const tag = keccak256(Buffer.from("tyche oracle message"));
  const signer = keys[unsigned[94]!] ?? keys[0]!;
  const digest = keccak256(Buffer.concat([tag, unsigned]));
  return Buffer.concat([unsigned, joinSignature(signer.sign(digest))]);
}

describe("what PROTOCOL.md lays out", () => {
  test("a header of 95 bytes, the body, and a signature of 65 over tag, header and body", () => {
    const { bytes } = commit();
    expect(bytes).toHaveLength(95 + 32 + 65);
    const header = Buffer.concat([
      Uint8Array.of(1, 1),
      uintBytes(31_337, 8),
      Buffer.alloc(20, 0x11),
      Buffer.alloc(32, 0x22),
      Buffer.alloc(32, 0x33),
      Uint8Array.of(2),
    ]);
    const unsigned = Buffer.concat([header, Buffer.alloc(32, 0x44)]);
    expect(toHexText(bytes)).toBe(toHexText(sign(unsigned)));
  });

  test("a commitment hashes tag, coordinator, request, sender, salt, flag and observation", () => {
    const parts = [
      keccak256(Buffer.from("tyche oracle commitment")),
      Buffer.alloc(20, 0x11),
      Buffer.alloc(32, 0x33),
      Uint8Array.of(2),
      Buffer.alloc(32, 0x44),
      Uint8Array.of(1),
      Buffer.from("seen"),
    ];
    expect(wire.commitmentOf(REQUEST, revealOf(2))).toBe(toHexText(keccak256(Buffer.concat(parts))));
  });

  test.each<[string, Reveal]>([
    ["sender", revealOf(3)],
    ["observation", revealOf(2, Buffer.from("seem"))],
    ["flag", revealOf(2, Buffer.from("seen"), false)],
    ["salt", { ...revealOf(2), salt: REQUEST }],
  ])("another %s is another commitment", (_, other) => {
    expect(wire.commitmentOf(REQUEST, other)).not.toBe(wire.commitmentOf(REQUEST, revealOf(2)));
  });

  test("another request or coordinator is another commitment, another configuration is not", () => {
    const own = wire.commitmentOf(REQUEST, revealOf(2));
    expect(wire.commitmentOf(OTHER_REQUEST, revealOf(2))).not.toBe(own);
    const elsewhere = createWire({ ...place, coordinator: `0x${"12".repeat(20)}` });
    expect(elsewhere.commitmentOf(REQUEST, revealOf(2))).not.toBe(own);
    const next = createWire({ ...place, configDigest: HASH });
    expect(next.commitmentOf(REQUEST, revealOf(2))).toBe(own);
  });
});

test.each<[string, Sealed]>([
  ["commitment", commit()],
  ["reveal", reveal(30)],
  ["reveal of nothing", reveal(0, new Uint8Array())],
  ["reveal of an error, as long as one may be", seal(revealOf(0, new Uint8Array(LONGEST).fill(9), false))],
  ["proposal", proposal([0, 1, 2])],
  ["endorsement", signed(5)],
  ["evidence", seal({ kind: "evidence", sender: 0, first: commit(), second: reveal(2) })],
])("a %s is read as it was written", (_, sealed) => {
  expect(wire.open(Buffer.from(sealed.bytes))).toEqual({ requestId: REQUEST, sealed });
});

test("evidence of two proposals of 31 nodes with the longest results fits one message", () => {
  const all = Array.from({ length: 22 }, (_, index) => index);
  const [first, second] = [all.slice(1), all.slice(0, -1)].map((senders) =>
    proposal(senders, new Uint8Array(LONGEST)),
  );
  const evidence = seal({ kind: "evidence", sender: 0, first: first!, second: second! });
  expect(evidence.bytes.length).toBeLessThan(MAX_MESSAGE_BYTES);
  expect(wire.open(evidence.bytes).sealed.message.kind).toBe("evidence");
});

test.each<[string, Uint8Array, RegExp]>([
  ["nothing", new Uint8Array(), /too short/],
  ["too long a message", new Uint8Array(MAX_MESSAGE_BYTES + 1), /too long/],
  ["another version", forge(commit(), 0, Uint8Array.of(2)), /version or kind/],
  ["no known kind", forge(commit(), 1, Uint8Array.of(7)), /version or kind/],
  ["the kind of a proof", forge(commit(), 1, Uint8Array.of(6)), /version or kind/],
  ["kind 0", forge(commit(), 1, Uint8Array.of(0)), /version or kind/],
  ["another chain", forge(commit(), 2, uintBytes(1, 8)), /another chain, coordinator or configuration/],
  ["another coordinator", forge(commit(), 10, Uint8Array.of(0)), /another chain, coordinator/],
  ["another configuration", forge(commit(), 61, Uint8Array.of(0)), /another chain, coordinator/],
  ["a sender that is in no set", forge(commit(), 94, Uint8Array.of(31)), /sender is unknown/],
  ["another sender's name", Buffer.from(commit().bytes).fill(3, 94, 95), NOT_SIGNED],
  ["another request", Buffer.from(commit().bytes).fill(9, 62, 63), NOT_SIGNED],
  ["no signature", Buffer.from(commit().bytes).fill(0, 127), NOT_SIGNED],
  [
    "a byte too many in its body",
    sign(Buffer.concat([commit().bytes.subarray(0, -65), Uint8Array.of(0)])),
    /too long/,
  ],
  ["a flag of 2", forge(reveal(2), 127, Uint8Array.of(2)), /neither 0 nor 1/],
  ["too long an observation", seal(revealOf(2, new Uint8Array(LONGEST + 1))).bytes, /too long/],
  ["somebody else's signature of the report", signed(5, 6).bytes, /signed by somebody else/],
  [
    "a commitment in a proposal",
    seal({ kind: "proposal", sender: 2, rank: 0, reveals: [commit() as never] }).bytes,
    /no place there/,
  ],
  [
    "a reveal of another request in a proposal",
    seal({ kind: "proposal", sender: 2, rank: 0, reveals: [seal(revealOf(1), OTHER_REQUEST)] }).bytes,
    /another request/,
  ],
  ["32 reveals in a proposal of 31 nodes", proposal(Array.from({ length: 32 }, () => 1)).bytes, /too long/],
  [
    "evidence in evidence",
    seal({
      kind: "evidence",
      sender: 0,
      first: seal({ kind: "evidence", sender: 1, first: commit(), second: commit() }),
      second: commit(),
    }).bytes,
    /no place there/,
  ],
])("a message with %s is refused", (_, bytes, why) => {
  expect(() => wire.open(bytes)).toThrow(MalformedMessageError);
  expect(() => wire.open(bytes)).toThrow(why);
});

test("the second form of a signature, with s in the upper half, is none", () => {
  const digest = keccak256(Buffer.from("digest"));
  const { r, s, recoveryId } = keys[0]!.sign(digest);
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const upper = (order - BigInt(toHexText(s))).toString(16).padStart(64, "0");
  const second = Buffer.concat([r, Buffer.from(upper, "hex"), Uint8Array.of(1 - recoveryId)]);
  expect(recoverAddress(digest, joinSignature({ r, s, recoveryId }))).toBe(keys[0]!.address.toLowerCase());
  // Slices of a Buffer are views, those of other arrays are copies.
  for (const bytes of [second, new Uint8Array(second)]) {
    expect(recoverAddress(digest, bytes)).toBeUndefined();
    expect(Buffer.compare(bytes, second)).toBe(0);
  }
});

describe("a proof", () => {
  const proof = prove(createProvingKey(new Uint8Array(32).fill(7)), { preSeed: 5n, seed: 99n });
  const message = wire.encodeProofMessage(REQUEST, proof);

  test("is read as it was written, and names its request and no node", () => {
    expect(isProofMessage(message)).toBe(true);
    expect(wire.readProofMessage(message)).toEqual({ requestId: REQUEST, proof });
    expect(toHexText(message.subarray(94))).toBe(
      toHexText(Buffer.concat([[255], encodeProof(proof)].map((one) => Uint8Array.from(one)))),
    );
  });

  test.each<[string, Uint8Array, RegExp]>([
    ["of another configuration", Buffer.from(message).fill(0, 40, 41), /another chain, coordinator/],
    ["with the name of a node", Buffer.from(message).fill(2, 94, 95), /no proof/],
    ["that ends early", message.subarray(0, -1), /too short/],
    ["with a byte too many", Buffer.concat([message, Uint8Array.of(0)]), /too long/],
    [
      "with a witness of more than 20 bytes",
      Buffer.from(message).fill(1, 95 + 7 * 32, 95 + 8 * 32),
      /20 bytes/,
    ],
    ["that is a commitment", commit().bytes, /no proof/],
  ])("one %s is refused", (_, bytes, why) => {
    expect(() => wire.readProofMessage(bytes)).toThrow(MalformedMessageError);
    expect(() => wire.readProofMessage(bytes)).toThrow(why);
  });
});

test.each([
  [4, 32_768],
  [31, 11_659],
])("among %i nodes, an observation has at most %i bytes", (nodes, bytes) => {
  expect(maxObservationBytes(nodes)).toBe(bytes);
});

test("whom a body is for is told by its first message, without a look at anything else", () => {
  const body = Buffer.concat([uintBytes(192, 4), commit().bytes]);
  const { chainId, coordinator, configDigest } = place;
  expect(peekAddressee(body)).toEqual({ chainId: BigInt(chainId), coordinator, configDigest });
  expect(peekAddressee(body.subarray(0, 98))).toBeUndefined();
});
