import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/**
 * Says why a caller's request must not reach an IP address, or returns `null` for a public one.
 *
 * IPv4 is public unless a range of the IANA special-purpose registry (or a cloud's own) holds it. IPv6 is
 * refused unless it lies in 2000::/3, the only part allocated so far, which excludes mapped (::ffff:0:0/96),
 * NAT64 (64:ff9b::/96), link-local, unique-local and multicast forms at once; the tunnels and special blocks
 * inside 2000::/3 are listed. Addresses of this machine's own interfaces are refused too, public or not:
 * otherwise a service bound to all interfaces could be reached through its public address.
 *
 * @param address An address as the system writes it: dotted quad, or IPv6 without brackets. Anything else,
 * including zone ids, is refused.
 */
export function refusalOfAddress(address: string): string | null {
  // ipaddr.js parses octal, hex and short IPv4 forms; isIP accepts only the one spelling that connect() gets.
  if (isIP(address) === 0 || address.includes("%")) return "not an IP address";
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) {
    const range = REFUSED_IPV4.find(([cidr]) => parsed.match(cidr));
    if (range !== undefined) return range[1];
  } else {
    if (!parsed.match(GLOBAL_UNICAST)) return "outside 2000::/3, the public part of IPv6";
    const range = REFUSED_IPV6.find(([cidr]) => parsed.match(cidr));
    if (range !== undefined) return range[1];
    if (isIsatap(parsed)) return "ISATAP tunnel address";
  }
  return isOwnAddress(parsed.toNormalizedString()) ? "an address of this machine" : null;
}

type Range4 = readonly [cidr: [ipaddr.IPv4, number], reason: string];
type Range6 = readonly [cidr: [ipaddr.IPv6, number], reason: string];

// IANA IPv4 Special-Purpose Address Registry, complete, plus multicast, class E and one cloud address.
const REFUSED_IPV4: readonly Range4[] = (
  [
    ["0.0.0.0/8", "this network"],
    ["10.0.0.0/8", "private network"],
    ["100.64.0.0/10", "shared address space (carrier NAT, cloud metadata)"],
    ["127.0.0.0/8", "loopback"],
    ["168.63.129.16/32", "Azure's host service"],
    ["169.254.0.0/16", "link-local (cloud metadata)"],
    ["172.16.0.0/12", "private network"],
    ["192.0.0.0/24", "IETF protocol assignments (cloud metadata)"],
    ["192.0.2.0/24", "documentation"],
    ["192.31.196.0/24", "AS112"],
    ["192.52.193.0/24", "automatic multicast tunnelling"],
    ["192.88.99.0/24", "6to4 relay"],
    ["192.168.0.0/16", "private network"],
    ["192.175.48.0/24", "AS112"],
    ["198.18.0.0/15", "benchmarking"],
    ["198.51.100.0/24", "documentation"],
    ["203.0.113.0/24", "documentation"],
    ["224.0.0.0/4", "multicast"],
    ["240.0.0.0/4", "reserved or broadcast"],
  ] as const
).map(([cidr, reason]) => [ipaddr.IPv4.parseCIDR(cidr), reason]);

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

// The parts of 2000::/3 that are not public internet (IANA IPv6 Special-Purpose Address Registry).
const REFUSED_IPV6: readonly Range6[] = (
  [
    ["2001::/23", "IETF protocol assignments (Teredo, ORCHID, benchmarking)"],
    ["2001:db8::/32", "documentation"],
    ["2002::/16", "6to4 tunnel"],
    ["2620:4f:8000::/48", "AS112"],
    ["3ffe::/16", "6bone, withdrawn"],
    ["3fff::/20", "documentation"],
  ] as const
).map(([cidr, reason]) => [ipaddr.IPv6.parseCIDR(cidr), reason]);

/** RFC 5214 section 6.1: an interface id of [02]00:5efe followed by an IPv4 address. */
function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , high = 0, low = 0] = address.parts;
  return (high & 0xfdff) === 0 && low === 0x5efe;
}

const INTERFACES_MAX_AGE_MS = 10_000;
let ownAddresses: { readonly readAtMs: number; readonly addresses: ReadonlySet<string> } | undefined;

function isOwnAddress(normalized: string): boolean {
  const nowMs = performance.now();
  if (ownAddresses === undefined || nowMs - ownAddresses.readAtMs > INTERFACES_MAX_AGE_MS) {
    const addresses = Object.values(networkInterfaces())
      .flatMap((entries) => entries ?? [])
      .map((entry) => ipaddr.parse(entry.address.replace(/%.*$/, "")).toNormalizedString());
    ownAddresses = { readAtMs: nowMs, addresses: new Set(addresses) };
  }
  return ownAddresses.addresses.has(normalized);
}
