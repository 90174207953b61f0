import { once } from "node:events";
import { createServer } from "node:http";
import { afterEach, expect, test } from "vitest";
import { createIdentityProvider, ProviderRefusedError } from "../../src/people/identityProvider.ts";
import { findFreePorts } from "../support/freePorts.ts";

const ORIGIN = "http://localhost:3000";

const server = createServer();
afterEach(() => server.close());

test("a provider that was away when it was first asked for is asked again", async () => {
  const [port] = await findFreePorts(1);
  const issuer = `http://127.0.0.1:${port}`;
  const provider = createIdentityProvider({
    issuer,
    clientId: "tyche",
    clientSecret: undefined,
    title: "Acme",
    redirectUri: `${ORIGIN}/sign-in/provider`,
  });
  await expect(provider.begin(ORIGIN)).rejects.toThrow(ProviderRefusedError);

  server.on("request", (_, response) => {
    const metadata = { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
    response.setHeader("content-type", "application/json").end(JSON.stringify(metadata));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  await expect(provider.begin("http://127.0.0.1:3000")).rejects.toThrow(`open the application at ${ORIGIN}`);
  const [first, second] = await Promise.all([provider.begin(ORIGIN), provider.begin(ORIGIN)]);
  expect(first.secret).not.toBe(second.secret);
  const { searchParams, pathname } = new URL(first.url);
  expect(pathname).toBe("/auth");
  expect(Object.fromEntries(searchParams)).toMatchObject({
    client_id: "tyche",
    code_challenge_method: "S256",
    redirect_uri: `${ORIGIN}/sign-in/provider`,
    response_type: "code",
    scope: "openid profile email",
  });
  for (const name of ["state", "nonce", "code_challenge"])
    expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/);
  expect(first.url).not.toContain(first.secret);
});
