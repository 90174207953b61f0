import type { RunLimits } from "../limits.ts";
import type { SecretGuard } from "./secretGuard.ts";

/** What a host call knows about the run that makes it. */
export interface HostCallContext {
  readonly limits: RunLimits;
  readonly caller: string;
  /** Says what the run's secrets forbid. Default: nothing. */
  readonly guard?: Pick<SecretGuard, "refuse" | "refuseImport">;
  /** Aborted when the run ends, whatever ended it, or when the source withdraws the call. */
  readonly signal: AbortSignal;
  /** What the run has used so far, shared by all its calls. A call adds what it uses. */
  readonly usage: HostUsage;
}

/** What a run has used of the host. */
export interface HostUsage {
  httpRequests: number;
  imports: number;
  /** Total length of the modules passed to the run so far, in bytes. */
  importedBytes: number;
  /** Advice for the source's author if the run fails; the last one counts. */
  hint?: string | undefined;
  /** What a call in flight waits for, worded like `npm:ethers to be downloaded`; the last one counts. */
  waitsFor?: string | undefined;
}

/**
 * Something that a source may ask the host for, e.g. `fetch`. Takes bytes and returns bytes or ASCII text, which
 * isn't copied while the child doesn't read. The call defines both encodings. The source wrote the input: parse it
 * as hostile. Throw {@link HostCallRefusal} to tell the source something; any other error reaches it as
 * `host call failed`.
 *
 * `import(…)` calls `import`: the input is JSON (UTF-8) of `{ specifier, type }`, where `type` is the import
 * attribute or `""`; the output is the text of one ES module that imports only `node:` modules.
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
