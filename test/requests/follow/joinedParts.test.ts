import { expect, test } from "vitest";
import { describeMissing } from "../../../src/requests/follow/joinedParts.ts";

const requestWith = (came: readonly boolean[]) => ({
  progress: {
    parts: came.map((hasCome, index) => ({
      id: `0x${index}` as const,
      keyHash: `0xk${index}` as `0x${string}`,
      ...(hasCome ? { block: 7, transactionHash: "0xt" as const } : {}),
    })),
  },
});

test.each([
  [[true, false], "1 of 2 words have come; the word of key hash 0xk1 (operator 0xo) is missing"],
  [
    [false, true, false, false],
    "1 of 4 words have come; the words of key hashes 0xk0, 0xk2, and 0xk3 (operator 0xo) are missing",
  ],
])("what is missing of %j is told with whose it is", (came, sentence) => {
  const last = `0xk${came.length - 1}`;
  const describe = describeMissing(requestWith(came), (key) => (key === last ? "0xo" : undefined));
  expect(describe).toBe(sentence);
});

test("nothing is missing where all have come", () => {
  expect(describeMissing(requestWith([true, true]), undefined)).toBeUndefined();
});
