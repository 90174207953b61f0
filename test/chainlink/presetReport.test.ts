import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeFunctionData, encodePacked, keccak256, type Hex } from "viem";
import { decodeDelivery, decodeFulfilments } from "../../src/chainlink/calldata.ts";
import { presetConsumerAbi } from "../../src/chainlink/contracts/abi.ts";
import {
  MAX_RESULT_BYTES,
  PresetReportError,
  batchReportDigest,
  decodeBatchReport,
  decodeResults,
  encodeBatchReport,
  encodeDelivery,
  encodeResults,
} from "../../src/chainlink/presetReport.ts";
import { toHexText } from "../../src/lib/hex.ts";

const ID: Hex = `0x${"11".repeat(32)}`;
const READY: Hex = `0x${"22".repeat(32)}`;
const PLACE = {
  chainId: 31_337,
  presetConsumer: `0x${"33".repeat(20)}`,
  configDigest: `0x${"44".repeat(32)}`,
} as const;

const result = fc.record({ ok: fc.boolean(), bytes: fc.uint8Array({ maxLength: 300 }) });
const word = fc.uint8Array({ minLength: 32, maxLength: 32 });
const batchResults = fc.record({
  vrfRequestId: word.map(toHexText),
  ready: word.map(toHexText),
  results: fc.uint8Array({ maxLength: 300 }),
});

describe("results", () => {
  test("two bytes of length, whose highest bit marks an error, then the bytes", () => {
    const results = [
      { ok: true, bytes: Uint8Array.of(1, 2) },
      { ok: false, bytes: new TextEncoder().encode("no") },
      { ok: true, bytes: new Uint8Array() },
    ];
    expect(toHexText(encodeResults(results))).toBe("0x0002010280026e6f0000");
  });

  test("decoding gives back what was encoded", () => {
    fc.assert(
      fc.property(fc.array(result, { maxLength: 20 }), (results) => {
        expect(decodeResults(encodeResults(results))).toEqual(results);
      }),
    );
    const longest = [{ ok: false, bytes: new Uint8Array(MAX_RESULT_BYTES) }];
    expect(decodeResults(encodeResults(longest))).toEqual(longest);
  });

  test.each(["00", "0001", "8002aa", "000000"])("refuses %s", (hex) => {
    expect(() => decodeResults(Buffer.from(hex, "hex"))).toThrow(PresetReportError);
  });

  test("limit: has as many as a batch, and a round's signature", () => {
    expect(decodeResults(new Uint8Array(2 * 101))).toHaveLength(101);
    expect(() => decodeResults(new Uint8Array(2 * 102))).toThrow(PresetReportError);
  });
});

describe("reports", () => {
  test("request, record, three bytes of length, results", () => {
    const report = encodeBatchReport([{ vrfRequestId: ID, ready: READY, results: Uint8Array.of(0, 1, 5) }]);
    expect(toHexText(report)).toBe(`${ID}${READY.slice(2)}000003000105`);
  });

  test("decoding gives back what was encoded", () => {
    fc.assert(
      fc.property(fc.array(batchResults, { maxLength: 10 }), (batches) => {
        expect(decodeBatchReport(encodeBatchReport(batches))).toEqual(batches);
      }),
    );
  });

  test("refuses a report that is cut anywhere within a batch, or names more bytes than it has", () => {
    const whole = encodeBatchReport([{ vrfRequestId: ID, ready: READY, results: Uint8Array.of(0, 1, 5) }]);
    for (let length = 1; length < whole.length; length += 1)
      expect(() => decodeBatchReport(whole.subarray(0, length))).toThrow(PresetReportError);
    const long = whole.slice();
    long[64] = 0xff;
    expect(() => decodeBatchReport(long)).toThrow(PresetReportError);
  });
});

test("the digest binds tag, chain, contract, configuration and report", () => {
  const report = Uint8Array.of(1, 2, 3);
  const { chainId, presetConsumer, configDigest } = PLACE;
  const tag = keccak256(Buffer.from("tyche.PresetReport.v1"));
  const packed = encodePacked(
    ["bytes32", "uint256", "uint256", "bytes32", "bytes32"],
    [tag, BigInt(chainId), BigInt(presetConsumer), configDigest, keccak256(report)],
  );
  expect(toHexText(batchReportDigest(report, PLACE))).toBe(keccak256(packed));
});

describe("deliveries", () => {
  const [one, two] = [5, 2].map((index) => ({
    index,
    r: new Uint8Array(32).fill(index),
    s: new Uint8Array(32).fill(index + 1),
    recoveryId: index % 2,
  }));
  const report = Uint8Array.of(1, 2, 3);

  test("decoding gives back what was encoded, signatures in the order of the nodes", () => {
    const data = encodeDelivery("0x1234", [{ report, signatures: [one!, two!] }]);
    expect(decodeDelivery(data)).toEqual({
      fulfilment: "0x1234",
      reports: [{ report, signatures: [two, one] }],
    });
  });

  test("other calls and malformed ones are none", () => {
    const data = encodeDelivery("0x", [{ report, signatures: [one!] }]);
    const submission = encodeFunctionData({
      abi: presetConsumerAbi,
      functionName: "submit",
      args: [[], [], [], []],
    });
    for (const other of ["0x", data.slice(0, 10), data.slice(0, 100), submission] as Hex[])
      expect(decodeDelivery(other)).toBeUndefined();
  });

  test("limit: a report with more signatures than there can be nodes is left out", () => {
    const signedBy = (nodes: number) => ({
      report,
      signatures: Array.from({ length: nodes }, (_, index) => ({ ...one!, index })),
    });
    const most = signedBy(31);
    expect(decodeDelivery(encodeDelivery("0x", [signedBy(32), most]))?.reports).toEqual([most]);
  });

  test("a delivery in a delivery carries no proofs", () => {
    expect(decodeFulfilments(encodeDelivery(encodeDelivery("0x", []), []))).toEqual([]);
  });
});
