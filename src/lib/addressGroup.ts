import ipaddr from "ipaddr.js";

/**
 * Returns the key under which limits count a caller: an IPv4 address, including one mapped into IPv6, or the /64 of an IPv6 address, all
 * of which one caller may control. `unknown` for anything else. Never throws.
 */
export function addressGroup(address: string): string {
  // The zone of a link-local address names an interface of this machine.
  const bare = address.split("%", 1)[0]!;
  if (!ipaddr.isValid(bare)) return "unknown";
  const parsed = ipaddr.process(bare);
  return parsed.kind() === "ipv4" ? parsed.toString() : parsed.toByteArray().slice(0, 8).join(".");
}
