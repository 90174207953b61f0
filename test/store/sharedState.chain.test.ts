import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createPostgresDialect } from "../../src/store/postgresDialect.ts";
import { createSharedCalls } from "../../src/store/sharedCalls.ts";
import { openSharedState, type SharedState } from "../../src/store/sharedState.ts";
import { openStore } from "../../src/store/store.ts";
import { startPostgres, withClient, type PostgresServer } from "../support/postgres.ts";

const TOKEN = "operator-token-of-these-tests-0123456789";
const CALL = { policy: "key", who: "key_1", quota: 10, windowSeconds: 60 };

let server: PostgresServer;
let url: string;
let warnings: string[];
const open: SharedState[] = [];

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
  await (await openStore(createPostgresDialect(url))).close();
});
afterAll(() => server?.remove());
beforeEach(() => {
  warnings = [];
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  await run("TRUNCATE replicas, call_counts, sign_in_codes");
});

const run = (text: string): Promise<unknown[]> =>
  withClient(url, async (client) => (await client.query<object>(text)).rows);

const openReplica = async (operatorToken = TOKEN): Promise<SharedState> => {
  const state = await openSharedState(url, {
    operatorToken,
    key: new Uint8Array(32),
    onWarning: (message) => warnings.push(message),
    answerTimeoutMs: 60_000,
  });
  open.push(state);
  return state;
};
const openTwo = async (): Promise<readonly [SharedState, SharedState]> => [
  await openReplica(),
  await openReplica(),
];

test("replicas take calls off one quota, each call its own place in it", async () => {
  const [first, second] = await openTwo();
  const taken = await Promise.all(
    Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? first : second).calls.take(CALL)),
  );
  expect(taken.map(({ consumed }) => consumed).toSorted((a, b) => a - b)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
  ]);
  for (const { resetMs } of taken) expect(resetMs).toBeGreaterThan(0);
  expect((await second.calls.take({ ...CALL, who: "key_2" })).consumed).toBe(1);
  expect((await second.calls.take({ ...CALL, policy: "address" })).consumed).toBe(1);
});

test("calls that come together cost one statement", async () => {
  const statements: string[] = [];
  const calls = createSharedCalls(
    {
      async query<Row extends object>(text: string, [ids, points]: readonly unknown[]) {
        statements.push(text);
        const rows = (ids as string[]).map((id, index) => ({
          id,
          points: String((points as number[])[index]),
          reset_ms: "1000",
          granted: null,
        }));
        return rows as unknown as Row[];
      },
    },
    "replica_1",
  );
  const taken = await Promise.all(Array.from({ length: 5 }, () => calls.take(CALL)));
  expect(taken.map(({ consumed }) => consumed)).toEqual([1, 2, 3, 4, 5]);
  expect(statements).toHaveLength(1);
});

test("past the quota a replica refuses by itself, and the next window begins anew", async () => {
  const [first, second] = await openTwo();
  const one = { ...CALL, quota: 1 };
  await first.calls.take(one);
  expect((await second.calls.take(one)).consumed).toBe(2);
  expect((await second.calls.take(one)).consumed).toBe(2);
  expect(await run("SELECT points::int FROM call_counts")).toEqual([{ points: 2 }]);
  await run("UPDATE call_counts SET ends_at = 0");
  expect(await first.calls.take(one)).toMatchObject({ consumed: 1 });
});

test("calls under way share the places of a key, and an ended one gives its place back to every replica", async () => {
  const [first, second] = await openTwo();
  const begun = await Promise.all([
    first.calls.begin(CALL, 2),
    second.calls.begin(CALL, 2),
    second.calls.begin(CALL, 2),
  ]);
  expect(begun.map(({ hasPlace }) => hasPlace).filter(Boolean)).toHaveLength(2);
  expect((await first.calls.begin(CALL, 2)).hasPlace).toBe(false);
  for (const one of begun) one.end();
  for (const one of begun) one.end();
  await vi.waitFor(
    async () => expect(await run("SELECT under_way FROM call_counts")).toEqual([{ under_way: {} }]),
    { timeout: 60_000 },
  );
  const again = await Promise.all([first.calls.begin(CALL, 2), second.calls.begin(CALL, 2)]);
  expect(again.map(({ hasPlace }) => hasPlace)).toEqual([true, true]);
});

test("refused calls take no place away", async () => {
  const [first, second] = await openTwo();
  const held = await first.calls.begin(CALL, 1);
  await Promise.all([1, 2, 3].map(() => second.calls.begin(CALL, 1)));
  held.end();
  expect((await first.calls.begin(CALL, 1)).hasPlace).toBe(true);
});

test("the calls of a replica that has died count no more", async () => {
  const [first, second] = await openTwo();
  await first.calls.begin(CALL, 1);
  expect((await second.calls.begin(CALL, 1)).hasPlace).toBe(false);
  await first.close();
  expect((await second.calls.begin(CALL, 1)).hasPlace).toBe(true);
  await run("INSERT INTO replicas VALUES ('gone', '', 1)");
  await run(`UPDATE call_counts SET under_way = '{"gone": 1}'`);
  expect((await second.calls.begin(CALL, 2)).hasPlace).toBe(true);
});

test("a sign-in code works once, through any replica, while the one that made it lives", async () => {
  const [first, second] = await openTwo();
  await first.codes.add("code");
  await first.codes.add("later");
  const used = await Promise.all([first.codes.use("code"), second.codes.use("code")]);
  expect(used.filter(Boolean)).toHaveLength(1);
  await first.close();
  expect(await second.codes.use("later")).toBe(false);
});

test("another operator token is said, and is not stored", async () => {
  await openTwo();
  expect(warnings).toEqual([]);
  await openReplica("another-operator-token-0123456789012345");
  expect(warnings).toEqual([expect.stringContaining("another operator token")]);
  const stored = JSON.stringify(await run("SELECT * FROM replicas"));
  expect(stored).not.toContain(TOKEN);
});

test("without the database calls are refused in a sentence, and counted again once it is back", async () => {
  const { calls } = await openReplica();
  await calls.begin(CALL, 2);
  await server.stop();
  await expect(calls.begin(CALL, 2)).rejects.toMatchObject({
    code: "overloaded",
    retryable: true,
    message: expect.stringContaining("does not answer") as string,
  });
  await server.restart();
  await vi.waitFor(async () => expect((await calls.begin(CALL, 2)).hasPlace).toBe(true), {
    timeout: 60_000,
  });
  // Its first call is still in flight, although the server has forgotten it.
  expect((await calls.begin(CALL, 2)).hasPlace).toBe(false);
});
