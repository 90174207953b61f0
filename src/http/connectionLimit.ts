import type { Server } from "node:http";
import type { Socket } from "node:net";
import { addressGroup } from "../lib/addressGroup.ts";

export interface ConnectionLimit {
  /** Connections of one address, or of one IPv6 /64. */
  readonly most: number;
  /** Whether an address has no limit of its own. Default: none. */
  readonly isExempt?: (address: string) => boolean;
  /** Answers a connection above the limit. Default: it is closed without an answer. */
  readonly refuse?: (socket: Socket) => void;
}

/** Limits the connections of each address to a server, so that one can't take the places of all others. */
export function limitConnections(
  server: Server,
  { most, isExempt = () => false, refuse }: ConnectionLimit,
): void {
  const counts = new Map<string, number>();
  server.on("connection", (socket) => {
    const { remoteAddress = "" } = socket;
    if (isExempt(remoteAddress)) return;
    const address = addressGroup(remoteAddress);
    const count = (counts.get(address) ?? 0) + 1;
    counts.set(address, count);
    socket.once("close", () => {
      const left = counts.get(address)! - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    });
    if (count <= most) return;
    refuse?.(socket);
    // Not half closed: a connection that waits for its peer would still take a place.
    socket.destroySoon();
  });
}
