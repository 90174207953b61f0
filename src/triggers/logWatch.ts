import type { Fence } from "../store/leases.ts";
import { listLogTriggers, type StoredLogTrigger } from "../store/logTriggers.ts";
import type { ActOptions } from "./actOnRun.ts";
import type { ParseAction } from "./eventReferences.ts";
import { startLogActor, type LogActor } from "./logActor.ts";
import { startLogReading, type LogReading } from "./logReading.ts";
import type { ObservedChain } from "./observedChain.ts";

/** For triggers that another replica changed, and networks that come or go. */
const LOOK_INTERVAL_MS = 1_000;

/** Reads the logs of all networks that have triggers, and acts on them. */
export interface LogWatch {
  /** Begins. @param fence prevents this process from writing once another replica reads. */
  start(fence?: Pick<Fence, "assertHeld">): void;
  /** Looks for changed triggers at once. */
  wake(): void;
  stop(): Promise<void>;
}

export interface LogWatchOptions extends Omit<ActOptions, "now"> {
  readonly parseAction: ParseAction;
  /** Returns a network's chain while it serves. */
  readonly findChain: (network: string) => ObservedChain | undefined;
  readonly onError: (error: unknown) => void;
}

/** Creates the watch over the logs of all networks. */
export function createLogWatch(options: LogWatchOptions): LogWatch {
  let run: ReturnType<typeof startRun> | undefined;
  return {
    start(fence) {
      run ??= startRun(options, fence);
    },
    wake: () => run?.wake(),
    async stop() {
      const last = run;
      run = undefined;
      await last?.stop();
    },
  };
}

function startRun(options: LogWatchOptions, fence: Pick<Fence, "assertHeld"> | undefined) {
  const { store, onEvent, onError } = options;
  const readings = new Map<string, { readonly chain: ObservedChain; readonly reading: LogReading }>();
  const actor: LogActor = startLogActor(options, fence);
  let isStopped = false;
  let looking: Promise<void> = Promise.resolve();

  const stopReading = async (network: string): Promise<void> => {
    const last = readings.get(network);
    readings.delete(network);
    await last?.reading.stop();
  };
  const look = async (): Promise<void> => {
    if (isStopped) return;
    const wanted = new Map<string, StoredLogTrigger[]>();
    for (const trigger of await listLogTriggers(store.db))
      wanted.set(trigger.network, [...(wanted.get(trigger.network) ?? []), trigger]);
    for (const [network, { chain }] of readings) {
      const isSame = options.findChain(network)?.client === chain.client;
      if (!isSame || !wanted.has(network)) await stopReading(network);
    }
    for (const [network, triggers] of wanted) {
      const chain = options.findChain(network);
      if (chain === undefined) continue;
      let one = readings.get(network);
      if (one === undefined) {
        const reading = startLogReading({
          network,
          chain,
          store,
          fence,
          onDue: () => actor.wake(),
          onEvent,
          onError,
        });
        readings.set(network, (one = { chain, reading }));
      }
      one.reading.setTriggers(triggers);
    }
  };
  const wake = (): void => {
    looking = looking.then(look).catch(onError);
  };
  const timer = setInterval(wake, LOOK_INTERVAL_MS).unref();
  wake();

  return {
    wake,
    async stop(): Promise<void> {
      isStopped = true;
      clearInterval(timer);
      await looking;
      await Promise.all([...readings.keys()].map(stopReading));
      await actor.stop();
    },
  };
}
