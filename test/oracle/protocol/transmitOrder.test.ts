import { expect, test } from "vitest";
import { transmitOrder } from "../../../src/oracle/protocol/transmitOrder.ts";
import { idOf } from "../support/logs.ts";

test("it is a permutation that follows from the request id", () => {
  for (const nodes of [4, 7, 31]) {
    const order = transmitOrder(idOf(5n), nodes);
    expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: nodes }, (_, index) => index));
    expect(transmitOrder(idOf(5n), nodes)).toEqual(order);
  }
});

test("each node is first for about as many requests as any other", () => {
  const firsts = [0, 0, 0, 0];
  for (let id = 0n; id < 4_000n; id += 1n) firsts[transmitOrder(idOf(id), 4)[0]!]! += 1;
  // Five standard deviations; the requests are fixed, so the outcome doesn't depend on chance.
  for (const count of firsts) expect(Math.abs(count - 1_000)).toBeLessThan(137);
});
