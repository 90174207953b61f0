import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How long a caller may take nothing of a response; as long as it may take to send a request. */
const STALLED_MS = 30_000;

/**
 * Closes the connection of a response that its caller has stopped reading, which would otherwise keep memory and a place for as long as the
 * caller likes. One that reads slowly, or waits for a response, is not affected.
 *
 * @param afterMs how long nothing may have been taken. Default 30,000.
 */
export function closeIfStalled(response: ServerResponse, afterMs = STALLED_MS): void {
  // Node's own timer: sending something restarts it, and it doesn't fire while the peer takes anything.
  response.setTimeout(afterMs);
  // With a listener, Node leaves it to it to close the connection.
  response.on("timeout", (socket: Socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
}
