import { useSyncExternalStore } from "react";
import { ConnectionError } from "../../client/index.ts";

let isLost = false;
const listeners = new Set<() => void>();

/** Records how the last exchange with the service ended: with a response of any kind, or with none. */
export function noteExchange(error?: unknown): void {
  const next = error instanceof ConnectionError;
  if (next === isLost) return;
  isLost = next;
  for (const listener of listeners) listener();
}

/** Whether the service is currently unreachable. */
export function useIsLost(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isLost,
  );
}
