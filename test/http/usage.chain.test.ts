import { expect, test } from "vitest";
import { startHarness } from "./harness.ts";

test("answers with the usage as JSON", async () => {
  const { call } = await startHarness();
  const { status, data } = await call("GET", "/api/usage?from=2026-11-01&to=2026-11-30&network=fuji");
  expect(status).toBe(200);
  expect(data).toMatchObject({
    from: "2026-11-01",
    to: "2026-11-30",
    items: [{ network: "fuji", requests: { preset: 2 }, linkJuels: "2000000000000000001" }],
  });
});

test.each([
  ["?format=csv", {}],
  ["", { Accept: "text/csv" }],
])("usage as CSV by %j and %j", async (query, headers) => {
  const { call } = await startHarness();
  const reply = await call("GET", `/api/usage${query}`, { headers });
  expect(reply.headers.get("Content-Type")).toContain("text/csv");
  expect(reply.headers.get("Content-Disposition")).toContain('filename="usage-2026-11-01-2026-11-30.csv"');
  expect(reply.text.split("\r\n")[1]).toBe(
    "2026-11-01,sepolia,2,1,0,0,0,2,1,4,5,2,300000,2000000000000000001,0,5000000000000000000,0",
  );
});

test("what is no day or no network is refused, and a key is needed", async () => {
  const { call } = await startHarness();
  const reply = await call("GET", "/api/usage?from=yesterday&network=x&format=xml");
  expect(reply.status).toBe(400);
  expect((reply.data["details"] as { path: string }[]).map(({ path }) => path).sort()).toEqual([
    "/format",
    "/from",
    "/network",
  ]);
  expect((await call("GET", "/api/usage", { key: null })).status).toBe(401);
});
