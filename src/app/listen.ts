import { startHttp } from "../http/server.ts";
import type { HttpServer } from "../http/server.ts";
import { messageOf } from "../lib/errors.ts";
import { StartError } from "./startError.ts";

/**
 * Starts the HTTP server. Throws {@link StartError}, saying what to change, if the address is unavailable.
 */
export async function listen(options: Parameters<typeof startHttp>[0]): Promise<HttpServer> {
  try {
    return await startHttp(options);
  } catch (cause) {
    const { code } = cause as { code?: string };
    const where = `${options.host}:${options.port}`;
    if (code === "EADDRINUSE")
      throw new StartError(
        `port ${options.port} on ${options.host} is in use; set PORT to another one, or to 0 for a free one`,
        cause,
      );
    if (code === "EACCES")
      throw new StartError(`listening on ${where} is not permitted; set PORT to one above 1023`, cause);
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new StartError(`this machine has no address ${options.host}; set HOST to one that it has`, cause);
    throw new StartError(`listening on ${where} failed: ${messageOf(cause)}`, cause);
  }
}
