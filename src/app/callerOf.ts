import type { IncomingMessage } from "node:http";
import { addressGroup } from "../lib/addressGroup.ts";

/**
 * Returns the address that limits count for. A proxy appends the address that it saw; everything before that is the caller's own
 * claim.
 */
export function callerOf({ headers, socket }: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? headers["x-forwarded-for"] : undefined;
  const last = String(forwarded ?? "")
    .split(",")
    .at(-1)
    ?.trim();
  return addressGroup(last || (socket.remoteAddress ?? ""));
}
