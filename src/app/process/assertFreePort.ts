import { once } from "node:events";
import { createServer } from "node:net";
import { listenError } from "./listenError.ts";

/**
 * Listens once on the address that the service is to have, so that a start that can't succeed stores nothing.
 *
 * @throws {StartError} that says what to change.
 */
export async function assertFreePort(at: { readonly host: string; readonly port: number }): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(at.port, at.host), "listening");
  } catch (error) {
    throw listenError(error, at);
  }
  server.close();
  await once(server, "close");
}
