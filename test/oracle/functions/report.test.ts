import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  parseAbiParameters,
  recoverAddress,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import * as fc from "fast-check";
import { functionsCoordinatorAbi } from "../../../src/chainlink/contracts/abi.ts";
import { toHexText } from "../../../src/lib/hex.ts";
import {
  encodeReport,
  encodeTransmission,
  reportDigest,
  encodeContext,
  type ReportItem,
} from "../../../src/oracle/functions/report.ts";
import { createReportSigner, SignerKeyError } from "../../../src/oracle/signer.ts";

const secrets = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));
const signers = secrets.map(createReportSigner);
const configDigest = `0x0001${"cd".repeat(30)}` as const;

const item: fc.Arbitrary<ReportItem> = fc.record({
  requestId: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHexText),
  observation: fc.record({ ok: fc.boolean(), bytes: fc.uint8Array({ maxLength: 300 }) }),
  commitment: fc.uint8Array({ minLength: 352, maxLength: 352 }),
  beaconSignature: fc.option(fc.uint8Array({ minLength: 48, maxLength: 48 }), { nil: undefined }),
});

function viemReport(items: readonly ReportItem[]): Hex {
  return encodeAbiParameters(parseAbiParameters("bytes32[], bytes[], bytes[], bytes[], bytes[]"), [
    items.map(({ requestId }) => requestId),
    items.map(({ observation }) => (observation.ok ? toHexText(observation.bytes) : "0x")),
    items.map(({ observation }) => (observation.ok ? "0x" : toHexText(observation.bytes))),
    items.map(({ commitment }) => toHexText(commitment)),
    items.map(({ beaconSignature }) => (beaconSignature === undefined ? "0x" : toHexText(beaconSignature))),
  ]);
}

test("the report's bytes are those of viem's ABI encoder", () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 16 }), (items) => {
      expect(toHexText(encodeReport(items))).toBe(viemReport(items));
    }),
    { numRuns: 50, seed: 7 },
  );
});

test("the transmission's bytes are those of viem's encoder, and its signatures are the signers'", async () => {
  const [items] = fc.sample(fc.array(item, { minLength: 3, maxLength: 3 }), { numRuns: 1, seed: 8 });
  const report = encodeReport(items!);
  const context = encodeContext({ configDigest, epoch: 7 });
  const words = [0, 1, 2].map((index) => toHexText(context.subarray(index * 32, (index + 1) * 32))) as [
    Hex,
    Hex,
    Hex,
  ];
  expect(words).toEqual([configDigest, `0x${"00".repeat(30)}0701`, `0x${"00".repeat(32)}`]);
  const digest = reportDigest(report, context);
  expect(toHexText(digest)).toBe(keccak256(concatHex([keccak256(report), toHexText(context)])));
  const signatures = signers.map((signer) => signer.sign(digest));
  const expected = encodeFunctionData({
    abi: functionsCoordinatorAbi,
    functionName: "transmit",
    args: [
      words,
      toHexText(report),
      signatures.map(({ r }) => toHexText(r)),
      signatures.map(({ s }) => toHexText(s)),
      `0x${signatures.map(({ recoveryId }) => `0${recoveryId}`).join("")}${"00".repeat(29)}`,
    ],
  });
  expect(encodeTransmission(items!, { configDigest, epoch: 7 }, signers)).toBe(expected);
  for (const [index, { r, s, recoveryId }] of signatures.entries()) {
    const signature = { r: toHexText(r), s: toHexText(s), yParity: recoveryId };
    expect(await recoverAddress({ hash: toHexText(digest), signature })).toBe(signers[index]!.address);
  }
});

test("a signer's address is that of its key", () => {
  expect(signers.map(({ address }) => address)).toEqual(
    secrets.map((secret) => privateKeyToAccount(toHexText(secret)).address),
  );
});

test.each([
  ["zero", new Uint8Array(32)],
  ["too short", new Uint8Array(31).fill(1)],
  ["above the group order", new Uint8Array(32).fill(255)],
])("a signer's key that is %s", (_, secret) => {
  expect(() => createReportSigner(secret)).toThrow(SignerKeyError);
});
