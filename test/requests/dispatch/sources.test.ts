import { expect, test } from "vitest";
import { findSourceId } from "../../../src/requests/dispatch/sources.ts";

test("where the node shows no contract, the chain is to blame, and the call can be repeated", async () => {
  const client = { call: async () => "0x" as const };
  const found = findSourceId(client, `0x${"1".repeat(40)}`, { hash: `0x${"2".repeat(64)}` });
  await expect(found).rejects.toMatchObject({ code: "chain_unavailable", retryable: true });
});
