import type { ParameterizedContext } from "koa";
import type { Logger } from "pino";
import type { Service } from "../requests/service.ts";
import type { Dapp } from "../dapps/dapp.ts";
import type { HttpLimits } from "../config/httpLimits.ts";
import type { Caller } from "../people/roles.ts";
import type { LiveSchemas } from "./liveSchemas.ts";

/** State that the layers of one request share. */
export interface RequestState {
  /** Identifies this HTTP request in the log and in `X-Request-Id`. */
  requestId: string;
  /** Set once the key is known. */
  dapp?: Dapp;
  /** Set for callers without a dapp's key, once they are recognized. */
  caller?: Caller;
  /** Whether the call would still be admitted: what lasts asks again. */
  isStillAdmitted?: () => Promise<boolean>;
  /** Contract that is linked, for the audit log. */
  consumer?: string;
  /** What an answer is about as it was before the call, for the audit log. */
  before?: object | undefined;
  /** Whether everything was as the call would have it. */
  isUnchanged?: boolean;
  /** Code of the error in the response. */
  errorCode?: string;
  /** On-chain id of the request whose result is returned. */
  requestIdOnChain?: string;
  /** Whether the `RateLimit` headers have been set. */
  isCounted?: boolean;
  /** Whether 100 has been sent to a caller that waits for it with its body. */
  isContinued?: boolean;
  /** Callbacks to run when the response's connection closes, whichever side closed it: see {@link onClose}. */
  closers: (() => void)[];
  /** Whether the connection has closed. */
  isClosed?: boolean;
}

export type HttpContext = ParameterizedContext<RequestState>;

/** Dependencies of every route. */
export interface HttpDeps {
  readonly service: Service;
  readonly limits: HttpLimits;
  readonly log: Logger;
  /** Returns the schemas for the current networks and presets. */
  readonly schemas: () => LiveSchemas;
  /** Aborts when the server is about to close: it no longer reports ready, but still accepts calls. */
  readonly leaving: AbortSignal;
  /** Aborts {@link HttpLimits.drainDelayMs} later, when the server closes: event streams end and new calls are refused. */
  readonly closing: AbortSignal;
  /** Aborts {@link HttpLimits.closeGraceMs} later: calls that are still waiting answer `still_pending`. */
  readonly closingHard: AbortSignal;
}

/** Calls `close` once, when the response has been sent or the caller has left; immediately if that has already happened. */
export function onClose(ctx: HttpContext, close: () => void): void {
  // One listener for all callbacks: Node warns of a leak above ten on one response, and Koa and the streams add their own.
  if (ctx.state.isClosed === true) close();
  else ctx.state.closers.push(close);
}

/**
 * Does work whose signal aborts once the caller has left: otherwise runs would hold their places while the caller starts others. Returns
 * `undefined` if that aborted the sandbox's run (`run_aborted`); any other error is thrown, so that defects are logged.
 */
export async function whileConnected<Result>(
  ctx: HttpContext,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const left = new AbortController();
  onClose(ctx, () => left.abort());
  try {
    return await work(left.signal);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "run_aborted") return undefined;
    throw error;
  }
}

/** Returns who makes a call that no dapp's key may make. */
export function getCaller(ctx: HttpContext): Caller {
  if (ctx.state.caller === undefined) throw new Error("the route admits keys of dapps");
  return ctx.state.caller;
}

/** Returns the dapp of an authenticated request. */
export function getDapp(ctx: HttpContext): Dapp {
  if (ctx.state.dapp === undefined) throw new Error("the route is not behind authentication");
  return ctx.state.dapp;
}

const strictUtf8 = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * Returns a header's value as its sender most likely meant it: as UTF-8, which curl and most programs send, if it is that. Node decodes
 * each byte as Latin-1, which is what browsers and `fetch` send.
 */
export function readHeaderText(value: string): string {
  try {
    return strictUtf8.decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}
