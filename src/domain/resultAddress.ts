import type { Hex } from "viem";

/** What the address of a page about a result names. */
export type ResultAddress =
  | {
      readonly hash: Hex;
      readonly origin: string;
      /** Absent at explorers of a single chain. */
      readonly network?: string;
    }
  | {
      /** Id of a request of the service at `origin`, which knows its transaction. */
      readonly id: string;
      readonly origin: string;
    };

/** Parses the address of a transaction in an explorer (`…/tx/0x…`), or of a shared result (`…/r/req_…`); `undefined` for any other text. */
export function findResultAddress(text: string): ResultAddress | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  const { origin, pathname } = url;
  const [, network, hash] =
    /(?:^\/explorer\/([a-z][a-z0-9_]{0,31}))?\/tx\/(0x[0-9a-f]{64})(?:\/|$)/i.exec(pathname) ?? [];
  if (hash !== undefined)
    return { hash: hash.toLowerCase() as Hex, origin, ...(network === undefined ? {} : { network }) };
  const [, id] = /^\/r\/(req_[0-9a-z]+)\/?$/.exec(pathname) ?? [];
  return id === undefined ? undefined : { id, origin };
}

/** Takes from what a service says of a shared result only which request of which transaction it is: `undefined` if it doesn't say. */
export function findShared({
  network,
  outcome,
}: SharedAnswer): { readonly network: string; readonly hash: Hex; readonly requestId: Hex } | undefined {
  const address = findResultAddress(outcome.url);
  if (address === undefined || !("hash" in address) || !/^0x[0-9a-f]{64}$/i.test(outcome.requestId))
    return undefined;
  return { network, hash: address.hash, requestId: outcome.requestId as Hex };
}

interface SharedAnswer {
  readonly network: string;
  readonly outcome: { readonly url: string; readonly requestId: string };
}
