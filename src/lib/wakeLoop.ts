/** Work that goes on until it is stopped. */
export interface WakeLoop {
  /** Has it look at once, or again if it is looking. */
  readonly wake: () => void;
  /** Ends it, once what is under way is over. `atOnce`: breaks that off, as far as it can be. */
  stop(options?: { readonly atOnce?: boolean }): Promise<void>;
}

/**
 * Looks for work now, at each {@link WakeLoop.wake}, and once in a while without one; no two looks at a time, and none is lost that is asked for
 * during another. Doesn't keep the process alive.
 *
 * @param look returns after how many ms to look again, at most `intervalMs`. If it rejects, it is repeated after `intervalMs`.
 */
export function startWakeLoop(
  look: () => Promise<number | void>,
  { intervalMs, onError }: { readonly intervalMs: number; readonly onError: (error: unknown) => void },
): WakeLoop {
  let state: "asleep" | "looking" | "asked again" | "stopped" = "asleep";
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();

  const lookOnce = async (): Promise<void> => {
    let pauseMs = intervalMs;
    try {
      pauseMs = Math.min(intervalMs, (await look()) ?? intervalMs);
    } catch (error) {
      onError(error);
    }
    if (state === "stopped") return;
    const isAsked = state === "asked again";
    state = "asleep";
    if (isAsked) return wake();
    timer = setTimeout(wake, Math.max(0, pauseMs));
    timer.unref();
  };
  function wake(): void {
    if (state === "looking") state = "asked again";
    if (state !== "asleep") return;
    clearTimeout(timer);
    state = "looking";
    looking = lookOnce();
  }

  wake();
  return {
    wake,
    async stop() {
      state = "stopped";
      clearTimeout(timer);
      await looking;
    },
  };
}
