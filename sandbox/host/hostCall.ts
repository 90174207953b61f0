import type { RunLimits } from "../run.ts";

/** What a host call knows about the run that makes it. */
export interface HostCallContext {
  readonly limits: RunLimits;
  readonly caller: string;
  /** Aborted when the run ends, whatever ended it, or when the source withdraws the call. */
  readonly signal: AbortSignal;
  /** Shared by all calls of the run: what it has used so far. The call counts what it spends. */
  readonly usage: HostUsage;
}

/** What a run has used of the host. */
export interface HostUsage {
  httpRequests: number;
  imports: number;
  /** Length of all modules handed to the run so far, in bytes. */
  importedBytes: number;
  /** What the person who wrote the source should know if the run fails; the last one counts. */
  hint?: string | undefined;
  /** What a call under way waits for, in words such as `npm:ethers to be downloaded`; the last one counts. */
  waitsFor?: string | undefined;
}

/**
 * Something a source may ask the host for, e.g. `fetch`. Bytes in, bytes or a text in ASCII out, which is not copied
 * while the child does not read; both are the call's own encoding, and
 * what comes in was written by the source: parse it as hostile. Throw {@link HostCallRefusal} to say something to
 * the source; any other error reaches it as `host call failed`.
 *
 * `import` is asked for by `import(…)`: in comes JSON (UTF-8) of `{ specifier, type }`, `type` being the import
 * attribute or `""`; out goes the text of one ES module that imports nothing but `node:` modules.
 */
export type HostCall = (request: Uint8Array, context: HostCallContext) => Promise<Uint8Array | string>;

/** An answer that the source sees as an error of that class with this message. */
export class HostCallRefusal extends Error {
  readonly errorName: "Error" | "TypeError";
  /** The error's `code` property; absent for none. */
  readonly code: string | undefined;

  constructor(message: string, errorName: "Error" | "TypeError" = "Error", code?: string) {
    super(message);
    this.errorName = errorName;
    this.code = code;
  }
}
