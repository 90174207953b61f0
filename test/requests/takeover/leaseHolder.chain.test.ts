import { afterAll, beforeEach, expect, test } from "vitest";
import { openLeaseHolder, type LeaseHolderOptions } from "../../../src/requests/takeover/leaseHolder.ts";
import { findChain, saveChain } from "../../../src/store/chainRecords.ts";
import { findLease, giveLeaseBack, takeLease } from "../../../src/store/leases.ts";
import { createPostgresDialect } from "../../../src/store/postgresDialect.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { withPostgres } from "../../support/databases.ts";

const NETWORK = "sepolia";
const OTHERS = "the dispatching replica uses different contracts";

let store: Store;
withPostgres.beforeAll(async ({ postgres }) => {
  store = await openStore(createPostgresDialect(await postgres.createDatabase()));
});
beforeEach(async () => {
  await store.db.deleteFrom("leases").execute();
  await saveChain(store.db, NETWORK, "0xours", {});
});
afterAll(() => store?.close());

const takeAs = (holder: string) => takeLease(store.db, { network: NETWORK, holder, lastsMs: 600_000 });

/** Starts a replica with a different contracts file. It lacks everything that dispatching would need. */
function startStranger(): ReturnType<typeof openLeaseHolder> {
  return openLeaseHolder({
    network: {
      source: { profile: { name: NETWORK } },
      chain: { client: {}, identity: "0xtheirs", deployment: { contracts: {} } },
      onError() {},
    },
    store,
    replica: {
      id: "stranger",
      bus: { listen: () => () => {}, tell() {} },
      hold() {
        throw new Error("the stranger dispatches");
      },
      release() {},
    },
    log: { info() {}, warn() {} },
  } as unknown as LeaseHolderOptions);
}

test("other contracts than those that a replica dispatches with are refused", async () => {
  await takeAs("ours");
  await expect(startStranger()).rejects.toThrow(OTHERS);
});

test("a lease that is free for a moment is left to a replica that follows", async () => {
  await giveLeaseBack(store.db, (await takeAs("ours"))!);
  const started = startStranger();
  await takeAs("follower");
  await expect(started).rejects.toThrow(OTHERS);
  expect(await findLease(store.db, NETWORK)).toMatchObject({ holder: "follower", token: 2 });
  expect(await findChain(store.db, NETWORK)).toMatchObject({ identity: "0xours" });
});

test("where no replica is alive, other contracts begin", async () => {
  await giveLeaseBack(store.db, (await takeAs("ours"))!);
  await store.db.updateTable("leases").set({ expires_at: 1 }).execute();
  await expect(startStranger()).rejects.toThrow("the stranger dispatches");
});
