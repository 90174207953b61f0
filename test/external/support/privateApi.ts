import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Asks a private API, whose URL is the first argument, with the secret API_KEY. */
export const PRIVATE_SOURCE = `const { data } = await Functions.makeHttpRequest({ url: args[0], timeout: 9000, headers: { Authorization: "Bearer " + secrets.API_KEY } });
return Functions.encodeString(data.ok ? "let in" : "kept out")`;

/** Starts a private API: it wants a bearer token, but for documents, by path. */
export async function startPrivateApi(token: string): Promise<{
  readonly host: string;
  readonly url: string;
  readonly documents: Map<string, string>;
  close(): void;
}> {
  const documents = new Map<string, string>();
  const api = createServer(({ url, headers }, response) => {
    response.setHeader("content-type", "application/json");
    const isLetIn = headers.authorization === `Bearer ${token}`;
    response.end(documents.get(url!) ?? JSON.stringify({ ok: isLetIn }));
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(api.address() as AddressInfo).port}`;
  return { host, url: `http://${host}`, documents, close: () => void api.close() };
}
