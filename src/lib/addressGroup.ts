import ipaddr from "ipaddr.js";

/**
 * Returns what limits count as one caller: an IPv4 address, also where IPv6 carries it, or the /64 of an IPv6 address, all of which
 * one caller may have. Anything else is `unknown`. Never throws.
 */
export function addressGroup(address: string): string {
  // The zone of a link-local address is the name of this machine's own interface.
  const bare = address.split("%", 1)[0]!;
  if (!ipaddr.isValid(bare)) return "unknown";
  const parsed = ipaddr.process(bare);
  return parsed.kind() === "ipv4" ? parsed.toString() : parsed.toByteArray().slice(0, 8).join(".");
}
