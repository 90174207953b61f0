import { expect, test } from "vitest";
import {
  OpenLimitError,
  OverloadedError,
  createOpenLimits,
} from "../../../src/requests/accept/requestLimits.ts";

/** Takes places until every dapp is refused; returns how many each got. */
function fill(dapps: readonly string[], network: string, limit: number): Record<string, number> {
  const open: { readonly network: string; readonly dappId: string }[] = [];
  const book = {
    openCount: (network?: string, dappId?: string) =>
      open.filter(
        (one) =>
          (network === undefined || one.network === network) &&
          (dappId === undefined || one.dappId === dappId),
      ).length,
  };
  const shares = createOpenLimits(book, limit);
  for (const dappId of dapps) {
    for (;;) {
      try {
        const givePlaceBack = shares.take({ network, dappId });
        open.push({ network, dappId });
        givePlaceBack();
      } catch (error) {
        if (!(error instanceof OpenLimitError)) throw error;
        break;
      }
    }
  }
  // Other networks are unaffected.
  expect(() => shares.take({ network: "other", dappId: dapps[0]! })).not.toThrow();
  return Object.fromEntries(dapps.map((dappId) => [dappId, book.openCount(network, dappId)]));
}

test("one dapp alone takes half of a network's places, and who comes later finds some", () => {
  expect(fill(["a", "b", "c"], "sepolia", 1_000)).toEqual({ a: 500, b: 250, c: 125 });
});

test("a network without places is overloaded for everybody, and says so without blame", () => {
  const book = { openCount: (_network?: string, dappId?: string) => (dappId === undefined ? 10 : 0) };
  expect(() => createOpenLimits(book, 10).take({ network: "fuji", dappId: "a" })).toThrow(OverloadedError);
});

test("calls that come together count before they are stored, and give back what they don't use", () => {
  const shares = createOpenLimits({ openCount: () => 0 }, 100);
  const place = (): (() => void) => shares.take({ network: "fuji", dappId: "a" });
  const taken = Array.from({ length: 50 }, place);
  expect(place).toThrow(OpenLimitError);
  taken[0]!();
  expect(place).not.toThrow();
});
