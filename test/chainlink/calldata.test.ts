import { concat, encodeAbiParameters, encodeFunctionData, parseAbiParameters, size, type Hex } from "viem";
import { describe, expect, test } from "vitest";
import { decodeDelivery, decodeFulfilments, decodeTransmission } from "../../src/chainlink/calldata.ts";
import {
  batchVrfCoordinatorV2PlusAbi,
  functionsCoordinatorAbi,
  vrfCoordinatorV2PlusAbi,
} from "../../src/chainlink/contracts/abi.ts";
import { encodeDelivery } from "../../src/chainlink/presetReport.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { toWord } from "../../src/lib/uint256.ts";
import { withNegativeOffset } from "../support/delivery.ts";

const WORD = toWord(1n);

test.each([
  [31, 31],
  [32, undefined],
])("limit: of a transmission with %i signatures, %s are read", (signatures, read) => {
  const report = encodeAbiParameters(parseAbiParameters("bytes32[], bytes[], bytes[], bytes[], bytes[]"), [
    [WORD],
    ["0x01"],
    ["0x"],
    ["0x"],
    ["0x"],
  ]);
  const words = Array.from({ length: signatures }, () => WORD);
  const data = encodeFunctionData({
    abi: functionsCoordinatorAbi,
    functionName: "transmit",
    args: [[WORD, WORD, WORD], report, words, words, WORD],
  });
  expect(decodeTransmission(data)?.signatures.length).toBe(read);
});

describe("a delivery", () => {
  const REPORT = { report: Uint8Array.of(1, 2, 3), signatures: [] };
  const SELECTOR = encodeDelivery("0x", []).slice(0, 10) as Hex;
  const word = (value: number): Hex => toWord(BigInt.asUintN(256, BigInt(value)));
  /** A report and no signatures. */
  const tuple = (report: Uint8Array): Hex =>
    concat([word(64), word(96 + report.length), word(report.length), toHexText(report), word(0)]);

  test("is read as it was encoded", () => {
    const signature = {
      index: 2,
      r: new Uint8Array(32).fill(1),
      s: new Uint8Array(32).fill(2),
      recoveryId: 1,
    };
    const reports = [REPORT, { report: Uint8Array.of(4), signatures: [signature] }];
    expect(decodeDelivery(encodeDelivery("0xab", reports))).toEqual({ fulfilment: "0xab", reports });
  });

  test("is read where offsets are negative, as Solidity does", () => {
    const one = tuple(REPORT.report);
    const list = 96 + size(one);
    const data = concat([SELECTOR, word(64), word(list), word(0), one, word(1), word(96 - (list + 32))]);
    expect(decodeDelivery(data)).toEqual({ fulfilment: "0x", reports: [REPORT] });
  });

  test("has each report once, however often it is listed", () => {
    const offsets = Array.from({ length: 2_000 }, () => word(32 * 2_000));
    const data = concat([
      SELECTOR,
      word(64),
      word(96),
      word(0),
      word(2_000),
      ...offsets,
      tuple(REPORT.report),
    ]);
    expect(decodeDelivery(data)?.reports).toEqual([REPORT]);
  });

  test("is read where reports share their bytes, under signatures of their own", () => {
    const [count, length] = [20, 6_400];
    // Of each report, where bytes and signatures are from its own place.
    const tuplesAt = 32 * count;
    const bytesAt = tuplesAt + 64 * count;
    const signaturesAt = bytesAt + 32 + length;
    const places = Array.from({ length: count }, (_, i) => i);
    const data = concat([
      SELECTOR,
      ...[64, 96, 0, count].map(word),
      ...places.map((i) => word(tuplesAt + 64 * i)),
      ...places.flatMap((i) => [bytesAt, signaturesAt + 32 * i].map((at) => word(at - tuplesAt - 64 * i))),
      word(length),
      toHexText(new Uint8Array(length)),
      ...places.map(() => word(0)),
    ]);
    const shared = { report: new Uint8Array(length), signatures: [] };
    expect(decodeDelivery(data)?.reports).toEqual(places.map(() => shared));
  });

  test("is read where each report is listed with the signatures of all, of as many nodes as there can be", () => {
    const [count, length] = [8, 31 * 66];
    const places = Array.from({ length: count }, (_, i) => i);
    const pairs = places.flatMap((i) => places.map((j) => [i, j] as const));
    const tuplesAt = 32 * pairs.length;
    const reportsAt = tuplesAt + 64 * pairs.length;
    const signaturesAt = reportsAt + 64 * count;
    const ends = pairs.map(([i, j]) => [reportsAt + 64 * i, signaturesAt + (32 + length) * j] as const);
    const data = concat([
      SELECTOR,
      ...[64, 96, 0, pairs.length].map(word),
      ...pairs.map((_, i) => word(tuplesAt + 64 * i)),
      ...ends.flatMap((of, i) => of.map((at) => word(at - tuplesAt - 64 * i))),
      ...places.flatMap((i) => [word(32), word(i)]),
      ...places.flatMap(() => [word(length), toHexText(new Uint8Array(length))]),
    ]);
    const read = decodeDelivery(data)?.reports ?? [];
    expect(read.map(({ report, signatures }) => [report[31], signatures.length])).toEqual(
      pairs.map(([i]) => [i, 31]),
    );
  });

  test("whose reports overlap many times is none", () => {
    // Any word of the lengths begins a report, which has the rest of them and more.
    const [count, length] = [500, 20_000];
    const lengthsAt = 32 * count + 64 * count;
    const heads = Array.from({ length: count }, (_, i) => word(32 * count + 64 * i));
    const tuples = Array.from({ length: count }, (_, i) => {
      const toLength = lengthsAt + 32 * i - (32 * count + 64 * i);
      return concat([word(toLength), word(toLength)]);
    });
    const lengths = Array.from({ length: count }, () => word(length));
    const rest = toHexText(new Uint8Array(length));
    const parts = [word(64), word(96), word(0), word(count), ...heads, ...tuples, ...lengths, rest];
    expect(decodeDelivery(concat([SELECTOR, ...parts]))).toBeUndefined();
    expect(decodeDelivery(concat([SELECTOR, ...parts.with(3, word(2))]))).toBeDefined();
  });

  test("that ends too early, or names places outside, is none", () => {
    const whole = encodeDelivery("0x", [REPORT]);
    for (let end = SELECTOR.length; end < whole.length - 64; end += 64)
      expect(decodeDelivery(whole.slice(0, end) as Hex)).toBeUndefined();
    for (const offset of [-1, -1_000, 2 ** 40])
      expect(
        decodeDelivery(concat([SELECTOR, word(64), word(96), word(0), word(1), word(offset)])),
      ).toBeUndefined();
  });
});

describe("proofs of v2.5", () => {
  const proof = (c: bigint) =>
    ({
      pk: [1n, 2n],
      gamma: [3n, 4n],
      c,
      s: 6n,
      seed: 7n,
      uWitness: "0x0000000000000000000000000000000000000008",
      cGammaWitness: [9n, 10n],
      sHashWitness: [11n, 12n],
      zInv: 13n,
    }) as const;
  const commitment = {
    blockNum: 14n,
    subId: 15n,
    callbackGasLimit: 16,
    numWords: 17,
    sender: "0x0000000000000000000000000000000000000012",
    extraArgs: toHexText(new Uint8Array(36).fill(0x13)),
  } as const;
  const decoded = {
    proof: {
      publicKey: { x: 1n, y: 2n },
      gamma: { x: 3n, y: 4n },
      c: 5n,
      s: 6n,
      preSeed: 7n,
      uWitness: proof(5n).uWitness,
      cGammaWitness: { x: 9n, y: 10n },
      sHashWitness: { x: 11n, y: 12n },
      zInv: 13n,
    },
    commitment,
  };
  const direct = encodeFunctionData({
    abi: vrfCoordinatorV2PlusAbi,
    functionName: "fulfillRandomWords",
    args: [proof(5n), commitment, true],
  });
  const batchOf = (...commitments: readonly (Omit<typeof commitment, "extraArgs"> & { extraArgs: Hex })[]) =>
    encodeFunctionData({
      abi: batchVrfCoordinatorV2PlusAbi,
      functionName: "fulfillRandomWords",
      args: [commitments.map((_, i) => proof(5n + BigInt(i))), commitments],
    });

  test("are read as they were encoded", () => {
    expect(decodeFulfilments(direct)).toEqual([{ ...decoded, onlyPremium: true }]);
    expect(decodeFulfilments(batchOf(commitment))).toEqual([decoded]);
    expect(decodeFulfilments(encodeDelivery(batchOf(commitment), []))).toEqual([decoded]);
  });

  test("are read where an offset is negative, as Solidity does", () => {
    expect(decodeFulfilments(withNegativeOffset(direct))).toEqual([{ ...decoded, onlyPremium: true }]);
  });

  test("are read beside one with extra arguments that no request can have", () => {
    const tooLong = { ...commitment, extraArgs: toHexText(new Uint8Array(37)) };
    const found = decodeFulfilments(batchOf(tooLong, commitment));
    expect(found).toEqual([{ ...decoded, proof: { ...decoded.proof, c: 6n } }]);
  });

  test("that end too early are none", () => {
    for (const whole of [direct, batchOf(commitment)])
      for (let end = 10; end < whole.length - 64; end += 64)
        expect(decodeFulfilments(whole.slice(0, end) as Hex)).toEqual([]);
  });
});
