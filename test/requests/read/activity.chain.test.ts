import { beforeEach, describe, expect, test } from "vitest";
import { firstId } from "../../../src/domain/id.ts";
import { createActivity } from "../../../src/requests/read/activity.ts";
import { createRequestBook } from "../../../src/requests/requestBook.ts";
import { insertDapp } from "../../../src/store/dapps.ts";
import type { Store } from "../../../src/store/store.ts";
import { DATABASES, useStore } from "../../support/databases.ts";
import { DESK_DAPP, makeRequest } from "../../support/pipelineWorld.ts";

const HOUR_MS = 3_600_000;
/** Half past some hour. */
const NOW = 1_900_000_800_000 - (1_900_000_800_000 % HOUR_MS) + HOUR_MS / 2;

describe.each(DATABASES)("on %s", (_name, create) => {
  let store: Store;
  useStore(create, (opened) => {
    store = opened;
  });
  beforeEach(() => insertDapp(store.db, { id: DESK_DAPP, name: "test", facilities: [], createdAt: 1 }));

  test("requests are counted by the hour of their acceptance, and those that failed apart", async () => {
    const book = createRequestBook(store);
    const accept = async (hoursAgo: number) => {
      const request = { ...makeRequest("random", "0x"), id: firstId("req", NOW - hoursAgo * HOUR_MS) };
      await book.add(request);
      return request;
    };
    await accept(24);
    const failing = await accept(2);
    await accept(1.9);
    await accept(0);
    const error = { code: "timeout", message: "no proof" } as const;
    await book.change(() => [{ request: failing, state: "failed", error }]);

    let now = NOW;
    const activity = createActivity(store, () => now);
    const hours = await activity();
    expect(hours).toHaveLength(24);
    expect(hours.at(-1)).toEqual({ from: NOW - HOUR_MS / 2, requests: 1, failed: 0 });
    expect(hours.at(-3)).toEqual({ from: NOW - 2.5 * HOUR_MS, requests: 2, failed: 1 });
    expect(hours.reduce((sum, { requests }) => sum + requests, 0)).toBe(3);

    await accept(-0.1);
    expect((await activity()).at(-1)).toMatchObject({ requests: 1 });
    now += 10_000;
    expect((await activity()).at(-1)).toMatchObject({ requests: 2 });
  });
});
