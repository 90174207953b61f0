import type { Hex } from "viem";
import { expect, test } from "vitest";
import { createEarlyMessages } from "../../../src/oracle/node/earlyMessages.ts";
import type { Sealed } from "../../../src/oracle/protocol/message.ts";

const idOf = (index: number): Hex => `0x${index.toString(16).padStart(64, "0")}`;
const reveal = (sender: number, mark: number, length = 8): Sealed => ({
  message: {
    kind: "reveal",
    sender,
    salt: idOf(mark),
    observation: { ok: true, bytes: new Uint8Array() },
  },
  bytes: new Uint8Array(length).fill(mark),
});

test("returns a request's messages once, at most two of a kind and sender", () => {
  const early = createEarlyMessages(4);
  for (const mark of [1, 1, 2, 3]) early.add(idOf(7), reveal(0, mark));
  early.add(idOf(7), reveal(3, 1));
  expect(early.take(idOf(7))).toHaveLength(3);
  expect(early.take(idOf(7))).toEqual([]);
});

test("a node that sends messages about requests that never come loses its own oldest, and nobody else's", () => {
  const early = createEarlyMessages(31);
  early.add(idOf(0), reveal(1, 1));
  for (let request = 0; request < 5_000; request += 1) early.add(idOf(request), reveal(0, 1, 4_096));
  expect(early.take(idOf(0)).map(({ message }) => message.sender)).toEqual([1]);
  expect(early.take(idOf(4_999))).toHaveLength(1);
});
