import type { Socket } from "node:net";
import type { Dispatcher } from "undici";
import { FetchFailureError } from "./fetchFailure.ts";
import { guardedConnect } from "./guardedConnector.ts";
import { hostOf, portOf, type HostPolicy } from "./hostPolicy.ts";
import { createPublicResolver, systemResolver, type ResolvedAddress, type Resolver } from "./resolver.ts";

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

export interface RequestLimits {
  /** Ends the request. */
  readonly signal: AbortSignal;
  /** Size of the answer's body on the wire, in bytes. */
  readonly maxBodyBytes: number;
}

/** Returns the client for a request to a URL. */
export type Clients = (url: URL, limits: RequestLimits) => Promise<OriginClient>;

/** Largest response head, in bytes; Node's own parser defaults to 16 KiB, but some APIs send more. */
const MAX_RESPONSE_HEAD_BYTES = 64 * 1_024;
/**
 * Bytes that a server may send for a request in addition to the body: heads, informational answers, trailers. Without a limit, 152 flooded
 * connections kept a core busy and delayed each call of the API by 200 ms.
 */
const MAX_BYTES_AROUND_BODY = 1_048_576;
/** A byte of a body takes six on the wire in a chunk of its own: `1`, CR, LF, the byte, CR, LF. */
const MAX_CHUNKING = 6;
/** Connections to one origin that requests share; as many as browsers open. */
const SHARED_CONNECTIONS = 6;

const publicResolver = createPublicResolver();

/**
 * Creates clients that give every request connections of its own, closed when it ends: nothing passes from
 * one request to another.
 */
export function createOneOffClients(settings: ClientSettings): Clients {
  return async (url, limits) => {
    const undici = await loadUndici();
    const connect = connectTo(url, settings, limits);
    const dispatcher = new undici.Client(url.origin, { ...OPTIONS, connect });
    return { dispatcher, release: () => dispatcher.destroy() };
  };
}

/**
 * Creates clients whose requests to one origin share a few keep-alive connections and one name lookup; the limits of the first one hold for all.
 * @param signal Closes the connections; until then a name keeps its first addresses.
 */
export function createSharedClients(settings: ClientSettings, signal: AbortSignal): Clients {
  const clients = new Map<string, Promise<OriginClient>>();

  async function open(url: URL, { maxBodyBytes }: RequestLimits): Promise<OriginClient> {
    const undici = await loadUndici();
    signal.throwIfAborted();
    const resolve = onceOnly(resolverOf(url, settings));
    const connect = connectTo(url, { ...settings, resolve }, { signal, maxBodyBytes });
    const dispatcher = new undici.Pool(url.origin, { ...OPTIONS, connections: SHARED_CONNECTIONS, connect });
    signal.addEventListener("abort", () => void dispatcher.destroy(), { once: true });
    return { dispatcher, release: () => Promise.resolve() };
  }

  return (url, limits) => {
    const client = clients.get(url.origin) ?? open(url, limits);
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

function connectTo(url: URL, settings: ClientSettings, { signal, maxBodyBytes }: RequestLimits): Connect {
  const target = { host: hostOf(url), port: portOf(url), tls: url.protocol === "https:" };
  const { policy, ca } = settings;
  const resolve = resolverOf(url, settings);
  return (_options, callback) => {
    guardedConnect(target, { policy, resolve, ca, signal }).then(
      (socket) => {
        limitAnswers(socket, MAX_BYTES_AROUND_BODY + MAX_CHUNKING * maxBodyBytes);
        callback(null, socket);
      },
      (error: unknown) => callback(error as Error, null),
    );
  };
}

/** Closes a connection on which more comes than this since something was last sent: requests follow each other. */
function limitAnswers(socket: Socket, maxBytes: number): void {
  let [sent, received, before] = [0, 0, 0];
  socket.on("readable", () => {
    if (socket.bytesWritten !== sent) [sent, before] = [socket.bytesWritten, received];
    received = socket.bytesRead;
    if (received - before <= maxBytes) return;
    const hint = "The server sent more than a response of the allowed size takes.";
    socket.destroy(new FetchFailureError("network", "fetch failed", hint));
  });
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
