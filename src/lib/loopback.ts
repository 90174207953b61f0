import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Whether an address is in 127.0.0.0/8 or is ::1, mapped into IPv6 or not. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.process(address).range() === "loopback";
}

/** Whether an address is 0.0.0.0 or `::`, on which a server listens at every address of its machine. */
export function isUnspecifiedAddress(address: string): boolean {
  return isIP(address) !== 0 && ["0.0.0.0", "::"].includes(ipaddr.process(address).toString());
}

/** Whether a Host header names this machine by `localhost` or a loopback address; with any port, as a tunnel may change it. */
export function isLoopbackHost(host: string): boolean {
  const name = hostNameOf(host);
  return name === "localhost" || isLoopbackAddress(name.replace(/^\[(.*)\]$/, "$1"));
}

/** Returns the name in a Host header in lower case, IPv6 in brackets, without its port; empty if the header is malformed. */
export function hostNameOf(host: string): string {
  return /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(host.toLowerCase())?.[1] ?? "";
}
