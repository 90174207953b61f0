import { sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import { createDamagedRequests } from "../../../src/requests/keep/damagedRequests.ts";
import type { OpenRequest } from "../../../src/requests/openRequest.ts";
import { createRequestBook, type RequestBook } from "../../../src/requests/requestBook.ts";
import { createRequestReader } from "../../../src/requests/read/requestReader.ts";
import { restoreRequests } from "../../../src/requests/takeover/recovery.ts";
import { createTracker } from "../../../src/requests/follow/tracker.ts";
import type { ChainClient } from "../../../src/evm/client.ts";
import { insertDapp } from "../../../src/store/dapps.ts";
import type { Store } from "../../../src/store/store.ts";
import { StaleRequestError } from "../../../src/store/storeErrors.ts";
import { DATABASES, useStore } from "../../support/databases.ts";
import { DESK_DAPP, DESK_NETWORK, makeRequest } from "../../support/pipelineWorld.ts";

describe.each(DATABASES)("%s", (_, createDatabase) => {
  let store: Store;
  let book: RequestBook;
  let requests: readonly OpenRequest[];
  const lines: object[] = [];
  const createBook = (): RequestBook => {
    lines.length = 0;
    const log = { error: (members: object) => lines.push(members) };
    return createRequestBook(store, { damaged: createDamagedRequests(log) });
  };
  useStore(createDatabase, (its) => void (store = its));
  beforeEach(async () => {
    await insertDapp(store.db, { id: DESK_DAPP, name: "test", facilities: [], createdAt: 1 });
    book = createBook();
    requests = Array.from({ length: 5 }, () => makeRequest("random", "0x")).toSorted((a, b) =>
      a.id < b.id ? -1 : 1,
    );
    for (const request of requests) await book.add(request);
  });

  /** Changes a request as someone at the database's prompt may. */
  const changeByHand = async ({ id }: OpenRequest): Promise<void> => {
    await sql`UPDATE requests SET state = 'submitted', version = version + 1 WHERE id = ${id}`.execute(
      store.db,
    );
  };
  const noted = ({ id }: OpenRequest): object[] => [{ id, network: DESK_NETWORK }];

  test("a row in work that was changed by hand costs one write, and then itself only", async () => {
    const [changed, ...others] = requests;
    await changeByHand(changed!);
    const submit = () => book.open(DESK_NETWORK).map((request) => ({ request, state: "submitted" as const }));
    await expect(book.change(submit)).rejects.toThrow(StaleRequestError);
    await book.change(submit);
    await book.change(() => book.open(DESK_NETWORK).map((request) => ({ request, why: "waits" })));
    expect(book.open(DESK_NETWORK).map(({ id, why }) => [id, why])).toEqual(
      others.map(({ id }) => [id, "waits"]),
    );
    expect(lines).toEqual(noted(changed!));
    expect(book.damaged.count(DESK_NETWORK)).toBe(1);
  });

  test("a start, and a look at what others have stored, go on without a damaged row", async () => {
    const [changed, ...others] = requests;
    await changeByHand(changed!);
    book = createBook();
    const restored = await restoreRequests({
      network: DESK_NETWORK,
      client: {} as ChainClient,
      store,
      book,
      tracker: createTracker(book, DESK_NETWORK),
      head: 7n,
      finalityDepth: 5,
    });
    expect(restored.open.map(({ id }) => id)).toEqual(others.map(({ id }) => id));
    const told: OpenRequest[] = [];
    const last = others.at(-1)!;
    const second = createRequestBook(store);
    const found = (await second.find(last.id))!;
    await second.change(() => [{ request: found, state: "submitted" }]);
    book.listen(last.id, (request) => told.push(request));
    await book.reread([changed!.id, last.id]);
    expect(told).toMatchObject([{ id: last.id, state: "submitted" }]);
    expect(lines).toEqual(noted(changed!));
  });

  test("a row that was mended is taken again", async () => {
    const [changed] = requests;
    await changeByHand(changed!);
    book = createBook();
    await book.reread([changed!.id]);
    expect([book.open(DESK_NETWORK), book.damaged.count(DESK_NETWORK)]).toEqual([[], 1]);
    await sql`UPDATE requests SET state = 'received', version = 1 WHERE id = ${changed!.id}`.execute(
      store.db,
    );
    await book.reread([changed!.id]);
    expect([book.open(DESK_NETWORK), book.damaged.count(DESK_NETWORK)]).toEqual([[changed], 0]);
  });

  test("a list leaves damaged rows out, and its pages lead to all others", async () => {
    await changeByHand(requests[1]!);
    await changeByHand(requests[3]!);
    const reader = createRequestReader({
      store,
      book,
      networks: new Map(),
      registry: { find: () => undefined },
      baseUrl: () => "",
    });
    const dapp = { id: DESK_DAPP, name: "test", facilities: [], createdAt: 1, keyId: "key_1" } as const;
    const pages: string[][] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await reader.listRequests(dapp, { limit: 2, ...(cursor !== undefined && { cursor }) });
      pages.push(page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    const [first, , third, , fifth] = requests.map(({ id }) => id);
    expect(pages).toEqual([[fifth], [third], [first]]);
    expect(lines).toHaveLength(2);
  });
});
