import type { Socket } from "node:net";
import type { Dispatcher } from "undici";
import { guardedConnect } from "./guardedConnector.ts";
import { hostOf, portOf } from "./hostPolicy.ts";
import type { HostPolicy } from "./hostPolicy.ts";
import { createPublicResolver, systemResolver } from "./resolver.ts";
import type { ResolvedAddress, Resolver } from "./resolver.ts";

/** How connections are made; the address that each one reaches is checked. */
export interface ClientSettings {
  readonly policy: HostPolicy;
  readonly resolve: Resolver | undefined;
  readonly ca: readonly string[] | undefined;
}

/** Sends requests to one origin. */
export interface OriginClient {
  readonly dispatcher: Dispatcher;
  /** Ends a request, whether or not its response was read to the end. */
  readonly release: () => Promise<void>;
}

/** Returns the client for a request to a URL. @param signal Ends the request. */
export type Clients = (url: URL, signal: AbortSignal) => Promise<OriginClient>;

/** Largest response head, in bytes; Node's own parser defaults to 16 KiB, but some APIs send more. */
const MAX_RESPONSE_HEAD_BYTES = 64 * 1_024;
/** Connections to one origin that requests share; as many as browsers open. */
const SHARED_CONNECTIONS = 6;

const publicResolver = createPublicResolver();

/**
 * Creates clients that give every request connections of its own, closed when it ends: nothing passes from
 * one request to another.
 */
export function createOneOffClients(settings: ClientSettings): Clients {
  return async (url, signal) => {
    const undici = await loadUndici();
    const connect = connectTo(url, settings, signal);
    const dispatcher = new undici.Client(url.origin, { ...OPTIONS, connect });
    return { dispatcher, release: () => dispatcher.destroy() };
  };
}

/**
 * Creates clients whose requests to one origin share a few keep-alive connections and one name lookup.
 * @param signal Closes the connections; until then a name keeps its first addresses.
 */
export function createSharedClients(settings: ClientSettings, signal: AbortSignal): Clients {
  const clients = new Map<string, Promise<OriginClient>>();

  async function open(url: URL): Promise<OriginClient> {
    const undici = await loadUndici();
    signal.throwIfAborted();
    const connect = connectTo(url, { ...settings, resolve: onceOnly(resolverOf(url, settings)) }, signal);
    const dispatcher = new undici.Pool(url.origin, { ...OPTIONS, connections: SHARED_CONNECTIONS, connect });
    signal.addEventListener("abort", () => void dispatcher.destroy(), { once: true });
    return { dispatcher, release: () => Promise.resolve() };
  }

  return (url) => {
    const client = clients.get(url.origin) ?? open(url);
    clients.set(url.origin, client);
    return client;
  };
}

/** Loaded on the first request: undici takes about 100 ms, and most sources never fetch. */
const loadUndici = () => import("undici");

const OPTIONS = {
  maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
  // One clock for the whole request: the signal.
  headersTimeout: 0,
  bodyTimeout: 0,
} as const;

type Connect = (
  options: unknown,
  callback: (...outcome: [error: null, socket: Socket] | [error: Error, socket: null]) => void,
) => void;

function connectTo(url: URL, settings: ClientSettings, signal: AbortSignal): Connect {
  const target = { host: hostOf(url), port: portOf(url), tls: url.protocol === "https:" };
  const { policy, ca } = settings;
  const resolve = resolverOf(url, settings);
  return (_options, callback) => {
    guardedConnect(target, { policy, resolve, ca, signal }).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error as Error, null),
    );
  };
}

function resolverOf(url: URL, { policy, resolve }: ClientSettings): Resolver {
  return resolve ?? (policy.isAllowed(hostOf(url), portOf(url)) ? systemResolver : publicResolver);
}

/** Looks a name up only once, unless that fails. */
function onceOnly(resolve: Resolver): Resolver {
  let known: Promise<readonly ResolvedAddress[]> | undefined;
  return (hostname, signal) => {
    known ??= resolve(hostname, signal);
    known.catch(() => (known = undefined));
    return known;
  };
}
