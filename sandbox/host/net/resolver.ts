import { lookup, Resolver as DnsResolver } from "node:dns/promises";
import { messageOf } from "../sandboxError.ts";

/** One answer of a name lookup. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * Resolves a host name to all its addresses; rejects if it has none. Aborting the signal may end it early; nobody waits for it by
 * then.
 */
export type Resolver = (hostname: string, signal: AbortSignal) => Promise<readonly ResolvedAddress[]>;

/** Timeout of one query to one name server, in ms, and how often all of them are tried. */
const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

/**
 * Creates a resolver that asks the name servers for A and AAAA records, without the hosts file or search domains: it is for public
 * names.
 *
 * It avoids `dns.lookup`: libuv runs two of those at a time in the whole process, each until its name servers answer. Measured: behind
 * two names whose servers stay silent, every other lookup waited 9.9 s; behind eight, 39.9 s, which is longer than a request may take.
 * These queries (2 ms under the same load) wait for nobody and end with the request.
 *
 * @param servers Name servers as `address` or `address:port`. Default: the system's.
 */
export function createPublicResolver(servers?: readonly string[]): Resolver {
  return async (hostname, signal) => {
    const resolver = new DnsResolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const [four, six] = await Promise.allSettled([
        resolver.resolve4(hostname),
        resolver.resolve6(hostname),
      ]);
      const answers = [...addressesOf(four, 4), ...addressesOf(six, 6)];
      if (answers.length === 0)
        throw new Error(messageOf(four.status === "rejected" ? four.reason : "no address"));
      return answers;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}

/** The system's own resolver, including the hosts file: for hosts that the operator allows by name. */
export const systemResolver: Resolver = async (hostname) => {
  const answers = await lookup(hostname, { all: true, order: "verbatim" });
  return answers.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

function addressesOf(
  result: PromiseSettledResult<readonly string[]>,
  family: 4 | 6,
): readonly ResolvedAddress[] {
  return result.status === "fulfilled" ? result.value.map((address) => ({ address, family })) : [];
}
