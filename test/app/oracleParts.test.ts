import { afterEach, beforeEach, expect, test } from "vitest";
import { bindNode } from "../../src/app/oracleParts.ts";
import type { StackAddresses } from "../../src/chainlink/stackPlan.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { idOf } from "../oracle/support/logs.ts";

const contracts = {
  functionsCoordinator: "0x00000000000000000000000000000000000000c0",
} as unknown as StackAddresses;
const file = { chainId: 31_337, genesis: idOf(1n), contracts };
let store: Store;

beforeEach(async () => {
  store = await openStore(createSqliteDialect(":memory:"));
});
afterEach(() => store.close());

test("default: a node's key is bound to the first network that it is used on", async () => {
  await bindNode(store, file, "first");
  await expect(bindNode(store, file, "first")).resolves.toBeUndefined();
  await expect(bindNode(store, { ...file, chainId: 5 }, "other chain")).resolves.toBeUndefined();
});

test("error: another coordinator, or another chain with the same id, is refused with the reason", async () => {
  await bindNode(store, file, "first");
  const other = {
    functionsCoordinator: "0x00000000000000000000000000000000000000c1",
  } as unknown as StackAddresses;
  const why = /a key that signs for two lets reports of one be used on the other/;
  await expect(bindNode(store, { ...file, contracts: other }, "second")).rejects.toThrow(why);
  await expect(bindNode(store, { ...file, genesis: idOf(2n) }, "second")).rejects.toThrow(why);
});
