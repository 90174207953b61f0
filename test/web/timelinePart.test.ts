import { expect, test } from "vitest";
import type { RequestRecord } from "../../src/requests/service.ts";
import { timelinePart } from "../../src/web/pages/timelinePart.ts";

/** The states shown: those passed, and behind a bar those ahead. */
function statesOf(kind: RequestRecord["kind"], states: readonly RequestRecord["state"][]): string {
  const timeline = states.map((state, i) => ({ seq: i + 1, state, at: 1_000 * i }));
  const request = { kind, timeline, state: states.at(-1)!, network: "fuji" } as unknown as RequestRecord;
  const shown = String(timelinePart(request)).matchAll(/<li class="([^"]*)"[^>]*><b>(\w+)<\/b>/g);
  const steps = [...shown].map(([, name, state]) => ({ state, isAhead: name === "ahead" }));
  const list = (isAhead: boolean): string =>
    steps
      .filter((step) => step.isAhead === isAhead)
      .map(({ state }) => state)
      .join(" ");
  return `${list(false)} | ${list(true)}`;
}

test.each([
  ["preset", ["received", "submitted"], "received submitted | randomness executing fulfilled"],
  ["preset", ["checking"], "checking | received submitted randomness executing fulfilled"],
  ["function", ["received", "submitted", "executing"], "received submitted executing | fulfilled"],
  ["random", ["received", "submitted", "randomness"], "received submitted randomness | fulfilled"],
  ["preset", ["received", "failed"], "received failed | "],
] as const)("default: %s at %j shows %s", (kind, states, expected) => {
  expect(statesOf(kind, states)).toBe(expected);
});
