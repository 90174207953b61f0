import { expect, test } from "vitest";
import { parseTraceparent, rootOf, tellRequest, tellStep } from "../../src/lib/spans.ts";

test("an id on chain begins with those of trace and span", () => {
  const id = `0x${"0123456789abcdef".repeat(4)}`;
  expect(rootOf(id)).toMatchObject({
    traceId: "0123456789abcdef0123456789abcdef",
    spanId: "0123456789abcdef",
  });
  // A VRF request id is a number, so leading zeros don't matter.
  expect(rootOf("0x12")).toEqual(rootOf(`0x${"12".padStart(64, "0")}`));
});

test("a caller's traceparent is read", () => {
  expect(parseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")).toEqual({
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    spanId: "00f067aa0ba902b7",
    traceFlags: 1,
    isRemote: true,
  });
});

test.each([
  "",
  "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
  "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
  `00-${"a".repeat(100_000)}`,
])("anything else is no traceparent: %.40s", (header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});

test("without an exporter nothing is told, and nothing fails", () => {
  const step = { name: "step", startMs: 0, failure: "failed" };
  expect([tellRequest("0x12", step), tellStep("0x12", step)]).toEqual([undefined, undefined]);
});
