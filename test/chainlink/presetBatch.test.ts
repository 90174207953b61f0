import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeArgs } from "../../src/chainlink/functionsRequest.ts";
import {
  MAX_BATCH_BYTES,
  PresetBatchError,
  decodePresetBatch,
  encodePresetBatch,
} from "../../src/chainlink/presetBatch.ts";

describe("encodePresetBatch", () => {
  test("default: five bytes of subscription, then each item with its length", () => {
    const items = [
      { sourceId: 1, args: new Uint8Array() },
      { sourceId: 513, args: encodeArgs(["1", "10"]) },
    ];
    expect(encodePresetBatch({ functionsSubId: 7n, items })).toBe("0x0000000007000100020106826131623130");
  });

  test("behaviour: from 255 bytes on, the length takes two more", () => {
    const of = (length: number) =>
      encodePresetBatch({ functionsSubId: 0n, items: [{ sourceId: 1, args: new Uint8Array(length) }] });
    expect(of(254).slice(0, 18)).toBe("0x00000000000001fe");
    expect(of(255).slice(0, 22)).toBe("0x00000000000001ff00ff");
  });

  test("behaviour: decoding gives back what was encoded", () => {
    const item = fc.record({
      sourceId: fc.integer({ min: 1, max: 0xffff }),
      args: fc.uint8Array({ maxLength: 600 }),
    });
    fc.assert(
      fc.property(
        fc.bigInt(0n, (1n << 40n) - 1n),
        fc.array(item, { minLength: 1, maxLength: 20 }),
        (functionsSubId, items) => {
          expect(decodePresetBatch(encodePresetBatch({ functionsSubId, items }))).toEqual({
            functionsSubId,
            items,
          });
        },
      ),
    );
  });

  test.each([
    ["no items", { functionsSubId: 1n, items: [] }],
    ["source 0", { functionsSubId: 1n, items: [{ sourceId: 0, args: new Uint8Array() }] }],
    ["source 65,536", { functionsSubId: 1n, items: [{ sourceId: 65_536, args: new Uint8Array() }] }],
    [
      "a subscription of 41 bits",
      { functionsSubId: 1n << 40n, items: [{ sourceId: 1, args: new Uint8Array() }] },
    ],
    [
      "too many bytes",
      { functionsSubId: 1n, items: [{ sourceId: 1, args: new Uint8Array(MAX_BATCH_BYTES - 9) }] },
    ],
  ])("error: refuses %s", (_, batch) => {
    expect(() => encodePresetBatch(batch)).toThrow(PresetBatchError);
  });
});

test.each([
  "0x",
  "0x0000000001",
  "0x00000000010001",
  "0x00000000010001ff00",
  "0x0000000001000102aa",
] as const)("error: decodePresetBatch refuses %s", (batch) => {
  expect(() => decodePresetBatch(batch)).toThrow(PresetBatchError);
});
