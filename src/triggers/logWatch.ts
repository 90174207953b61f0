import { startWakeLoop, type WakeLoop } from "../lib/wakeLoop.ts";
import { listLogTriggers, type StoredLogTrigger } from "../store/logTriggers.ts";
import type { ActOptions } from "./actOnRun.ts";
import type { ParseAction } from "./eventReferences.ts";
import { startLogActor } from "./logActor.ts";
import { startLogReading, type LogReading } from "./logReading.ts";
import type { ObservedChain } from "./observedChain.ts";

/** For triggers that another replica changed, and networks that come or go. */
const LOOK_INTERVAL_MS = 1_000;

export interface LogWatchOptions extends Omit<ActOptions, "now"> {
  readonly parseAction: ParseAction;
  /** Returns a network's chain while it serves. */
  readonly findChain: (network: string) => ObservedChain | undefined;
  readonly onError: (error: unknown) => void;
}

/** Starts to read the logs of all networks that have triggers, and to act on them. */
export function startLogWatch(options: LogWatchOptions): WakeLoop {
  const { store, onEvent, onError } = options;
  const readings = new Map<string, { readonly chain: ObservedChain; readonly reading: LogReading }>();
  const actor = startLogActor(options);

  const stopReading = async (network: string): Promise<void> => {
    const last = readings.get(network);
    readings.delete(network);
    await last?.reading.stop();
  };
  const look = async (): Promise<void> => {
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
          onDue: () => actor.wake(),
          onEvent,
          onError,
        });
        readings.set(network, (one = { chain, reading }));
      }
      one.reading.setTriggers(triggers);
    }
  };
  const loop = startWakeLoop(look, { intervalMs: LOOK_INTERVAL_MS, onError });
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop();
      await Promise.all([...readings.keys()].map(stopReading));
      await actor.stop();
    },
  };
}
