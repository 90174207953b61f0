import { setTimeout as sleep } from "node:timers/promises";
import { STRUCK } from "./fault.ts";
import type { World } from "./world.ts";

const INTERVAL_MS = 200;

/** What `/readyz` reported about the struck network while it was watched. */
export interface SeenReadiness {
  readonly wasUnready: boolean;
  /** All reasons and warnings, joined. */
  readonly said: string;
  /** The slowest answer in ms; 0 if there was none. */
  readonly slowestMs: number;
}

/** Polls `/readyz` until it is stopped. */
export function watchReadiness(world: World): { seen(): SeenReadiness; stop(): Promise<SeenReadiness> } {
  const stopping = new AbortController();
  let wasUnready = false;
  let slowestMs = 0;
  const said = new Set<string>();
  const look = async (): Promise<void> => {
    const began = performance.now();
    const response = await fetch(`${world.service().url}/readyz`, { signal: stopping.signal });
    const { networks } = (await response.json()) as {
      networks: Record<string, { ready: boolean; why?: string; warnings?: readonly string[] }>;
    };
    slowestMs = Math.max(slowestMs, performance.now() - began);
    const struck = networks[STRUCK];
    if (struck?.ready === false) wasUnready = true;
    for (const sentence of [struck?.why ?? "", ...(struck?.warnings ?? [])]) said.add(sentence);
  };
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      // The service itself may be struck.
      await look().catch(() => {});
      await sleep(INTERVAL_MS);
    }
  })();
  const seen = (): SeenReadiness => ({
    wasUnready,
    said: [...said].filter((sentence) => sentence !== "").join("; "),
    slowestMs,
  });
  return {
    seen,
    async stop() {
      stopping.abort();
      await watching;
      return seen();
    },
  };
}
