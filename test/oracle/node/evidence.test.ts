import type { Hex } from "viem";
import { expect, test } from "vitest";
import { configDigestOf, nodeConfigOf } from "../../../src/chainlink/nodeConfig.ts";
import { checkEvidence, describeEvidence } from "../../../src/oracle/node/evidence.ts";
import type { Message, Sealed } from "../../../src/oracle/protocol/message.ts";
import { createWire } from "../../../src/oracle/protocol/wire.ts";
import { createReportSigner } from "../../../src/oracle/signer.ts";

const keys = [1, 2, 3, 4, 5, 6, 7, 8].map((key) => createReportSigner(new Uint8Array(32).fill(key)));
const addresses = keys.map(({ address }) => address);
const chainId = 31_337;
const coordinator = `0x${"11".repeat(20)}` as const;
const config = nodeConfigOf({ signers: addresses.slice(0, 4), transmitters: addresses.slice(4) });
const configDigest = configDigestOf(config, { chainId, coordinator, count: 3n });
const { signers, transmitters, faulty } = config;
const set = { configDigest, count: 3n, blockNumber: 9n, faulty, signers, transmitters, urls: [], config };
const wire = createWire({ chainId, coordinator, configDigest, signers });
const hash = (digit: string): Hex => `0x${digit.repeat(64)}`;
const requestId = hash("a");
const seal = <Of extends Message>(message: Of, request = requestId): Sealed<Of> =>
  wire.seal(request, message, keys[message.sender]!);
const commit = (digit: string, sender = 2, request = requestId) =>
  seal({ kind: "commit", sender, commitment: hash(digit) }, request);
const reveal = (text: string, sender: number) =>
  seal({ kind: "reveal", sender, salt: hash("c"), observation: { ok: true, bytes: Buffer.from(text) } });
const recordOf = (first: Sealed, second: Sealed) =>
  describeEvidence({ first, second }, { chainId, coordinator, set, requestId });

test("two commitments, or two proposals of other nodes' reveals, prove who signed them, after JSON too", () => {
  const record = JSON.parse(JSON.stringify(recordOf(commit("1"), commit("2")))) as unknown;
  const proven = { signer: addresses[2], requestId, coordinator, configDigest };
  expect(checkEvidence(record)).toEqual({ ...proven, what: "observations" });
  const reveals = [0, 1, 2, 3].map((sender) => reveal("seen", sender));
  const propose = (from: number) =>
    seal({ kind: "proposal", sender: 2, rank: 5, reveals: reveals.slice(from, from + 3) });
  expect(checkEvidence(recordOf(propose(0), propose(1)))).toEqual({
    ...proven,
    what: "proposals for stage 5",
  });
});

const whole = recordOf(commit("1"), commit("2"));
const changed = (hex: Hex): Hex => `${hex.slice(0, -2) as Hex}ff`;
test.each<[string, unknown, RegExp]>([
  ["a message that an honest node says twice", recordOf(commit("1"), commit("1")), /an honest node may sign/],
  ["messages of two nodes", recordOf(commit("1"), commit("2", 1)), /an honest node may sign/],
  ["messages of two requests", recordOf(commit("1"), commit("2", 2, hash("b"))), /not of the request/],
  ["messages of another request", { ...whole, requestId: hash("b") }, /not of the request/],
  ["somebody else's name", { ...whole, signer: addresses[0] }, /not signed by/],
  ["a signature that was changed", { ...whole, second: changed(whole.second) }, /signature/],
  ["another coordinator", { ...whole, coordinator: `0x${"12".repeat(20)}` }, /another chain, coordinator/],
  [
    "a list of signers that was changed",
    { ...whole, configuration: { ...whole.configuration, signers: addresses.slice(1, 5) } },
    /another chain, coordinator/,
  ],
  ["a message that is cut off", { ...whole, first: "0x0101" }, /too short/],
  ["a member of another type", { ...whole, first: 7 }, /no usable first/],
  ["no configuration", { ...whole, configuration: undefined }, /lacks its configuration/],
  ["anything else", "evidence", /no JSON object/],
])("%s proves nothing", (_, record, why) => {
  expect(() => checkEvidence(record)).toThrow(why);
});
