import type { Logger } from "pino";

type Close = () => Promise<void> | void;

/** What a process has opened; all of it ends in reverse order. */
export interface Closers {
  /** Has `close` called at the end. */
  add(close: Close): void;
  /** Returns a part, which is closed at the end. */
  own<Part extends { readonly close: Close }>(part: Part): Part;
  /** Closes everything that is open by now, one after another; what fails is logged. */
  closeAll(): Promise<void>;
}

/** Creates an empty list of what to close. */
export function createClosers(log: Logger): Closers {
  const closes: Close[] = [];
  return {
    add: (close) => void closes.push(close),
    own(part) {
      closes.push(() => part.close());
      return part;
    },
    async closeAll() {
      for (const close of closes.splice(0).toReversed())
        await Promise.try(close).catch((error: unknown) => log.error({ err: error }, "closing failed"));
    },
  };
}
