import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Asks a private API, whose URL is the first argument, with the secret API_KEY. */
export const PRIVATE_SOURCE = `const { data } = await Functions.makeHttpRequest({ url: args[0], timeout: 9000, headers: { Authorization: "Bearer " + secrets.API_KEY } });
return Functions.encodeString(data.ok ? "let in" : "kept out")`;

/** Starts a private API: it wants a bearer token. */
export async function startPrivateApi(
  token: string,
): Promise<{ readonly host: string; readonly url: string; close(): void }> {
  const api = createServer(({ headers }, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ok: headers.authorization === `Bearer ${token}` }));
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(api.address() as AddressInfo).port}`;
  return { host, url: `http://${host}`, close: () => void api.close() };
}
