import type { ParameterizedContext } from "koa";
import type { Logger } from "pino";
import type { Dapp, Service } from "../requests/service.ts";
import type { HttpLimits } from "./limits.ts";
import type { LiveSchemas } from "./liveSchemas.ts";

/** What the layers of one request share. */
export interface RequestState {
  /** Names this HTTP request in the log and in `X-Request-Id`. */
  requestId: string;
  /** Set once the key is known. */
  dapp?: Dapp;
  /** Code of the error that is answered. */
  errorCode?: string;
  /** Id on chain of the request whose result is answered. */
  requestIdOnChain?: string;
  /** Whether `RateLimit` headers are set already. */
  isCounted?: boolean;
  /** Run when the connection of the answer closes, whoever closed it: see {@link onClose}. */
  closers: (() => void)[];
  /** Whether that has happened. */
  isClosed?: boolean;
}

export type HttpContext = ParameterizedContext<RequestState>;

/** What every route needs. */
export interface HttpDeps {
  readonly service: Service;
  readonly limits: HttpLimits;
  readonly log: Logger;
  /** The schemas for the networks and presets of this moment. */
  readonly schemas: () => LiveSchemas;
  /** Aborts when the server is about to close: it is not ready any more, but takes calls. */
  readonly leaving: AbortSignal;
  /** Aborts {@link HttpLimits.drainDelayMs} later, when the server closes: event streams end, new calls are refused. */
  readonly closing: AbortSignal;
  /** Aborts {@link HttpLimits.closeGraceMs} later: calls that still wait answer `still_pending`. */
  readonly closingHard: AbortSignal;
}

/** Has `close` called once when the answer has been sent or its caller has left: at once where that has happened already. */
export function onClose(ctx: HttpContext, close: () => void): void {
  // One listener for all: past ten on one response Node warns of a leak, and Koa and the streams add theirs.
  if (ctx.state.isClosed === true) close();
  else ctx.state.closers.push(close);
}

/** Returns the dapp of an authenticated request. */
export function getDapp(ctx: HttpContext): Dapp {
  if (ctx.state.dapp === undefined) throw new Error("the route is not behind authentication");
  return ctx.state.dapp;
}
