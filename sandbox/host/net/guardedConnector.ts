import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { messageOf } from "../sandboxError.ts";
import { FetchFailureError } from "./fetchFailure.ts";
import type { HostPolicy } from "./hostPolicy.ts";
import type { ResolvedAddress, Resolver } from "./resolver.ts";

export interface GuardedConnectOptions {
  readonly policy: HostPolicy;
  readonly resolve: Resolver;
  /** Extra certificate authorities (PEM) for https, besides the built-in ones. */
  readonly ca?: readonly string[] | undefined;
  /** Aborts name lookup and connecting. */
  readonly signal: AbortSignal;
}

/**
 * Opens a connection that is checked in three places: a literal address before it is used, every answer of a name
 * lookup before connecting to any of them, and the address that the socket actually reached. The socket is pinned
 * to the checked answers, so a name that changes between check and use (rebinding) gains nothing.
 *
 * @param target Host without brackets, port, and whether to use TLS.
 * @throws {FetchFailureError} `refused` by the policy, `network` if the name lookup or the connection fails.
 */
export async function guardedConnect(
  target: { readonly host: string; readonly port: number; readonly tls: boolean },
  options: GuardedConnectOptions,
): Promise<Socket> {
  const { host, port } = target;
  const answers = await resolveChecked(host, port, options);
  options.signal.throwIfAborted();
  const socket = openSocket(target, answers, options);
  await connected(socket, target.tls ? "secureConnect" : "connect", options.signal);
  const reached = socket.remoteAddress;
  try {
    if (reached === undefined || !answers.some(({ address }) => address === reached)) {
      throw new FetchFailureError(
        "refused",
        "fetch failed",
        `${host} led to an address that was not checked.`,
      );
    }
    options.policy.assertAddresses(host, port, [reached]);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return socket;
}

async function resolveChecked(
  host: string,
  port: number,
  { policy, resolve, signal }: GuardedConnectOptions,
): Promise<readonly ResolvedAddress[]> {
  const version = isIP(host);
  const answers =
    version === 0
      ? await abortable(resolve(host, signal), signal).catch((error: unknown) => {
          signal.throwIfAborted();
          throw new FetchFailureError(
            "network",
            "fetch failed",
            `The name ${host} could not be resolved: ${messageOf(error)}.`,
          );
        })
      : [{ address: host, family: version === 6 ? (6 as const) : (4 as const) }];
  if (answers.length === 0)
    throw new FetchFailureError("network", "fetch failed", `The name ${host} has no address.`);
  policy.assertAddresses(
    host,
    port,
    answers.map(({ address }) => address),
  );
  return answers;
}

/** Time to try one of several addresses before the next, in ms; Node's 250 is short for another continent. */
const ATTEMPT_TIMEOUT_MS = 1_000;

function openSocket(
  { host, port, tls }: { readonly host: string; readonly port: number; readonly tls: boolean },
  answers: readonly ResolvedAddress[],
  { ca }: GuardedConnectOptions,
): Socket {
  const pinned: LookupFunction = (_hostname, { all }, callback) => {
    const first = answers[0];
    if (all === true || first === undefined) callback(null, [...answers]);
    else callback(null, first.address, first.family);
  };
  const common = {
    host,
    port,
    lookup: pinned,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_TIMEOUT_MS,
    noDelay: true,
  };
  if (!tls) return connectTcp(common);
  return connectTls({
    ...common,
    ALPNProtocols: ["http/1.1"],
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED in the service's environment doesn't weaken it.
    rejectUnauthorized: true,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca: [...ca] }),
  });
}

function connected(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      socket.destroy();
      reject(signal.reason as Error);
    };
    const onError = (error: Error): void => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      reject(error);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("error", onError);
    socket.once(event, () => {
      signal.removeEventListener("abort", onAbort);
      socket.removeListener("error", onError);
      resolve();
    });
  });
}

/** Settles with the promise, or rejects as soon as the signal aborts. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
