import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { createGuardedFetch } from "../../../sandbox/host/net/guardedFetch.ts";
import type { GuardedFetchOptions } from "../../../sandbox/host/net/guardedFetch.ts";
import { createRequestBudget } from "../../../sandbox/host/net/requestBudget.ts";
import { selfSigned } from "./selfSigned.ts";

const identity = selfSigned("secure.example");
const server = createServer(identity, (request, response) => {
  response.end(`${(request.socket as { servername?: string }).servername} ${request.headers.host}`);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
afterEach(() => {
  delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
});

function fetchSecure(url: string, options: GuardedFetchOptions) {
  const resolve = async () => [{ address: "127.0.0.1", family: 4 as const }];
  return createGuardedFetch({ allowHosts: ["*"], resolve, ...options }).fetch(
    { url },
    { budget: createRequestBudget() },
  );
}

test("speaks TLS with the URL's name, to the checked address", async () => {
  const outcome = await fetchSecure(`https://secure.example:${port}/`, { ca: [identity.cert] });
  const body = outcome.ok ? Buffer.from(outcome.response.body).toString() : outcome.failure.hint;
  expect(body).toBe(`secure.example secure.example:${port}`);
});

test("a certificate for another name is refused", async () => {
  const outcome = await fetchSecure(`https://other.example:${port}/`, { ca: [identity.cert] });
  expect(outcome).toMatchObject({ ok: false, failure: { kind: "network" } });
});

test("an unknown authority is refused, whatever the environment says", async () => {
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  const outcome = await fetchSecure(`https://secure.example:${port}/`, {});
  expect(outcome).toMatchObject({ ok: false, failure: { kind: "network" } });
});
