import { expect, test } from "vitest";
import { RpcError } from "../../src/lib/nodeAnswers.ts";

test("shows a node's text on one line, without characters that color, hide or reorder it", () => {
  const { message } = new RpcError("eth_call", "no\nsuch\u001b[2J \u202e\u200bstate");
  expect(message).toBe("eth_call: no such [2J state");
});

test("cuts a node's text after 2,000 characters", () => {
  expect(new RpcError("eth_call", "a".repeat(2_000)).message).toBe(`eth_call: ${"a".repeat(2_000)}`);
  expect(new RpcError("eth_call", "a".repeat(1_000_000)).message).toBe(`eth_call: ${"a".repeat(2_000)}…`);
});
