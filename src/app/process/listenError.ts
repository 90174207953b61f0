import { once } from "node:events";
import { createServer } from "node:net";
import { messageOf } from "../../lib/errors.ts";
import { StartError } from "../startError.ts";

/** Says what to change after listening on an address has failed. */
export function listenError(
  cause: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): StartError {
  const { code } = cause as { code?: string };
  if (code === "EADDRINUSE")
    return new StartError(
      `port ${port} on ${host} is in use; set PORT to another one, or to 0 for a free one`,
      cause,
    );
  const where = `${host}:${port}`;
  if (code === "EACCES")
    return new StartError(`listening on ${where} is not permitted; set PORT to one above 1023`, cause);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return new StartError(`this machine has no address ${host}; set HOST to one that it has`, cause);
  return new StartError(`listening on ${where} failed: ${messageOf(cause)}`, cause);
}

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
