import * as fc from "fast-check";
import { encodePacked, keccak256, toHex, type Hex } from "viem";
import { describe, expect, test } from "vitest";
import { encodeArgs } from "../../src/chainlink/functionsRequest.ts";
import {
  MAX_ARGUMENT_BYTES,
  MAX_BATCH_BYTES,
  MAX_PRESETS_PER_BATCH,
  BEACON_BYTES,
  PresetBatchError,
  beaconWord,
  decodePresetBatch,
  encodePresetBatch,
  pendingRecord,
  presetRequestId,
  readyRecord,
  wordsOfBatch,
} from "../../src/chainlink/presetBatch.ts";

const itemOf = (bytes: number) => ({ sourceId: 1, args: new Uint8Array(bytes) });
const itemsOf = (count: number) => Array.from({ length: count }, () => itemOf(0));

describe("encodePresetBatch", () => {
  test("each item with its source and the length of its arguments", () => {
    const items = [
      { sourceId: 1, args: new Uint8Array() },
      { sourceId: 513, args: encodeArgs(["1", "10"]) },
    ];
    expect(encodePresetBatch(items)).toBe("0x000100020106826131623130");
  });

  test("from 255 bytes on, the length takes two more", () => {
    expect(encodePresetBatch([itemOf(254)]).slice(0, 8)).toBe("0x0001fe");
    expect(encodePresetBatch([itemOf(255)]).slice(0, 12)).toBe("0x0001ff00ff");
  });

  test("decoding gives back what was encoded", () => {
    const item = fc.record({
      sourceId: fc.integer({ min: 1, max: 0xffff }),
      args: fc.uint8Array({ maxLength: 600 }),
    });
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 20 }), (items) => {
        expect(decodePresetBatch(encodePresetBatch(items))).toEqual({ items, beacon: undefined });
      }),
    );
  });

  test("takes 100 items, and 24,575 bytes", () => {
    expect(decodePresetBatch(encodePresetBatch(itemsOf(MAX_PRESETS_PER_BATCH))).items).toHaveLength(100);
    expect(encodePresetBatch([itemOf(MAX_ARGUMENT_BYTES)]).length).toBe(2 + 2 * MAX_BATCH_BYTES);
  });

  test("a round of drand is one more entry, of source 0", () => {
    const beacon = { round: 1_000n, chainHash: `0x${"52".repeat(32)}` as const };
    const packed = encodePresetBatch([itemOf(0)], beacon);
    expect(packed).toBe(`0x00010000002800000000000003e8${"52".repeat(32)}`);
    expect((packed.length - 2) / 2).toBe(3 + BEACON_BYTES);
    expect(decodePresetBatch(packed)).toEqual({ items: [itemOf(0)], beacon });
    const most = { round: 2n ** 64n - 1n, chainHash: beacon.chainHash };
    expect(decodePresetBatch(encodePresetBatch(itemsOf(100), most))).toEqual({
      items: itemsOf(100),
      beacon: most,
    });
    expect(() => encodePresetBatch([itemOf(MAX_ARGUMENT_BYTES)], beacon)).toThrow(PresetBatchError);
  });

  test.each([
    ["no items", []],
    ["101 items", itemsOf(101)],
    ["source 0", [{ sourceId: 0, args: new Uint8Array() }]],
    ["source 65,536", [{ sourceId: 65_536, args: new Uint8Array() }]],
    ["too many bytes of one item", [itemOf(MAX_ARGUMENT_BYTES + 1)]],
    ["too many bytes of all", [itemOf(20_000), itemOf(5_000)]],
  ])("refuses %s", (_, items) => {
    expect(() => encodePresetBatch(items)).toThrow(PresetBatchError);
  });
});

describe("decodePresetBatch", () => {
  test.each([
    ["nothing", "0x"],
    ["part of a source", "0x00"],
    ["no length", "0x0001"],
    ["half a long length", "0x0001ff00"],
    ["too few arguments", "0x000102aa"],
    ["too few arguments of a long length", "0x0001ff0002aa"],
    ["a byte more", "0x00010000"],
    ["101 items", `0x${"000100".repeat(101)}`],
    ["101 items and a round", `0x${"000100".repeat(101)}000028${"00".repeat(40)}`],
    ["nothing but a round", `0x000028${"00".repeat(40)}`],
  ] as const)("refuses %s", (_, batch) => {
    expect(() => decodePresetBatch(batch)).toThrow(PresetBatchError);
  });

  test("source 0 is a round only at the end, and of 40 bytes", () => {
    const round = { sourceId: 0, args: new Uint8Array(40) };
    expect(decodePresetBatch(`0x000028${"00".repeat(40)}000100`)).toEqual({
      items: [round, itemOf(0)],
      beacon: undefined,
    });
    expect(decodePresetBatch(`0x000100000027${"00".repeat(39)}`).beacon).toBeUndefined();
  });

  test("takes any bytes or refuses them with its own error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        let end: unknown;
        try {
          end = decodePresetBatch(`0x${Buffer.from(bytes).toString("hex")}`).items.length;
        } catch (error) {
          end = error;
        }
        expect(typeof end === "number" ? end > 0 : end instanceof PresetBatchError).toBe(true);
      }),
    );
  });
});

test("words, request ids and records are hashes; the two lowest bits of a record tell its kind", () => {
  const pair = (a: bigint, b: bigint) => keccak256(encodePacked(["uint256", "uint256"], [a, b]));
  const tagged = (hash: Hex, kind: bigint) => toHex((BigInt(hash) & ~3n) | kind, { size: 32 });
  const id: Hex = `0x${"11".repeat(32)}`;
  expect(wordsOfBatch(7n, 2)).toEqual([BigInt(pair(7n, 0n)), BigInt(pair(7n, 1n))]);
  expect(presetRequestId(id, 3)).toBe(pair(BigInt(id), 3n));
  const pending = tagged(keccak256("0x000100"), 1n);
  expect(pendingRecord("0x000100")).toBe(pending);
  expect(readyRecord("0x000100", 7n)).toBe(tagged(pair(BigInt(pending), 7n), 2n));
});

test("a beacon's word is a hash of tag, own word, signature and request id", () => {
  const requestId: Hex = `0x${"11".repeat(32)}`;
  const signature = new Uint8Array(48).fill(7);
  const tag = keccak256(toHex("tyche.BeaconWord.v1"));
  const types = ["bytes32", "uint256", "bytes", "bytes32"] as const;
  const word = BigInt(keccak256(encodePacked(types, [tag, 5n, toHex(signature), requestId])));
  expect(beaconWord(5n, { signature, requestId })).toBe(word);
  // Two requests that wait for one round.
  expect(beaconWord(5n, { signature, requestId: `0x${"12".repeat(32)}` })).not.toBe(word);
});
