import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bindNode, forgetOldRecords } from "../../../src/app/oracle/oracleParts.ts";
import type { StackAddresses } from "../../../src/chainlink/stackPlan.ts";
import { appendRoundRecords, listRoundRecords } from "../../../src/store/oracleRounds.ts";
import { createSqliteDialect } from "../../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { idOf } from "../../oracle/support/logs.ts";

const contracts = {
  functionsCoordinator: "0x00000000000000000000000000000000000000c0",
} as unknown as StackAddresses;
const file = { chainId: 31_337, genesis: idOf(1n), contracts };
let store: Store;

beforeEach(async () => {
  store = await openStore(createSqliteDialect(":memory:"));
});
afterEach(() => store.close());

test("a node's key is bound to the first network that it is used on", async () => {
  await bindNode(store, file, "first");
  await expect(bindNode(store, file, "first")).resolves.toBeUndefined();
  await expect(bindNode(store, { ...file, chainId: 5 }, "other chain")).resolves.toBeUndefined();
});

test("what a node said is forgotten after a week, by its own clock and by the chain's", async () => {
  const DAY_MS = 86_400_000;
  const key = { network: "first", configDigest: idOf(1n), requestId: idOf(2n) };
  const recordedAt = Date.now();
  await appendRoundRecords(store, [{ ...key, record: "observed" }]);
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const startAt = async (ownDays: number, chainDays: number): Promise<number> => {
      vi.setSystemTime(recordedAt + ownDays * DAY_MS);
      const timestamp = BigInt(Math.floor((recordedAt + chainDays * DAY_MS) / 1_000));
      const head = { number: 9n, hash: idOf(9n), parentHash: idOf(8n), timestamp };
      await forgetOldRecords(store, { getHead: async () => head });
      return (await listRoundRecords(store.db, key)).length;
    };
    expect([await startAt(6, 6), await startAt(3_650, 1), await startAt(1, 3_650)]).toEqual([1, 1, 1]);
    expect(await startAt(8, 8)).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("another coordinator, or another chain with the same id, is refused with the reason", async () => {
  await bindNode(store, file, "first");
  const other = {
    functionsCoordinator: "0x00000000000000000000000000000000000000c1",
  } as unknown as StackAddresses;
  const why = /a report signed for one could be used on the other/;
  await expect(bindNode(store, { ...file, contracts: other }, "second")).rejects.toThrow(why);
  await expect(bindNode(store, { ...file, genesis: idOf(2n) }, "second")).rejects.toThrow(why);
});
