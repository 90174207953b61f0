import { setTimeout as sleep } from "node:timers/promises";
import type { TycheProcess } from "../support/tyche.ts";
import { BYSTANDER, STRUCK } from "./fault.ts";

/** Calls that continue while something is broken. */
export interface Load {
  /** Ids of the accepted requests, by idempotency key. */
  readonly accepted: ReadonlyMap<string, string>;
  /** Answers that blame the caller for the fault, a sentence each. */
  readonly breaches: readonly string[];
  /** Returns the number of requests accepted on a network so far. */
  count(network: string): number;
  /** Stops the load; resolves when no call is in flight. */
  stop(): Promise<void>;
}

const CALLERS = 4;
const DEFAULT_PAUSE_MS = 25;
const RETRY_MS = 100;
const CALL_TIMEOUT_MS = 20_000;

/** Starts a bounded load: four callers, two networks, three kinds of request. A call without an answer is repeated with its key. */
export function startLoad(
  service: () => TycheProcess,
  name: string,
  /** Pause between a caller's calls. Default 25. */
  pauseMs = DEFAULT_PAUSE_MS,
): Load {
  const accepted = new Map<string, string>();
  const breaches: string[] = [];
  const counts = new Map<string, number>();
  let isOver = false;

  const call = async (key: string, network: string, n: number): Promise<void> => {
    const [target, body] = requestOf(n, network);
    while (!isOver) {
      try {
        const { status, data, headers } = await service().call("POST", target, {
          headers: { "idempotency-key": key, prefer: "respond-async, wait=0" },
          signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
          ...(body === undefined ? {} : { body }),
        });
        // If it was accepted and the answer got lost, it may have ended by the time the call is repeated.
        const id = headers.get("tyche-request-id");
        if ((status === 200 || status === 202) && id !== null) {
          accepted.set(key, id);
          counts.set(network, (counts.get(network) ?? 0) + 1);
          return;
        }
        // The service may report trouble, but must not blame the caller for it.
        if (status < 500 && status !== 429) {
          breaches.push(`${key} was answered ${status}: ${data.err}`);
          return;
        }
      } catch {
        // The service is down, or doesn't respond.
      }
      await sleep(RETRY_MS);
    }
  };
  const caller = async (number: number): Promise<void> => {
    for (let n = 0; !isOver; n += 1) {
      const network = number % 2 === 0 ? STRUCK : BYSTANDER;
      await call(`${name}-${number}-${n}`, network, n);
      await sleep(pauseMs);
    }
  };
  const callers = Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)));
  return {
    accepted,
    breaches,
    count: (network) => counts.get(network) ?? 0,
    async stop() {
      isOver = true;
      await callers;
    },
  };
}

function requestOf(n: number, network: string): readonly [target: string, body: object | undefined] {
  if (n % 3 === 0)
    return [`/api/vrfv2/presets?network=${network}`, { preset: "range", min: "1", max: "1000000" }];
  if (n % 3 === 1) return [`/api/vrfv2/requestRandomNumber?network=${network}&numWords=2`, undefined];
  const source = "return Functions.encodeString(args[0])";
  return ["/api/oracleFunctions/runFunction", { network, source, args: [String(n)] }];
}
