import type { Static } from "typebox";
import { DAY_MS } from "../lib/time.ts";
import { integer, section } from "./schemaParts.ts";

/** Limits that the HTTP layer enforces; the defaults suit one machine. */
export const HttpLimitsChoice = section(
  {
    // Above the 60 s after which common proxies close theirs; Google's load balancers keep theirs for 600 s.
    keepAliveTimeoutMs: integer("Time that an idle connection is kept.", [0, DAY_MS], 65_000),
    maxConnections: integer("Concurrent connections.", [1, 1_000_000], 10_000),
    // As many as one key may have calls in flight.
    maxConnectionsPerAddress: integer(
      "Concurrent connections of one address (IPv6: of one /64); not applied to loopback addresses, nor with `trustProxy`.",
      [1, 1_000_000],
      1_000,
    ),
    waitTimeoutMs: integer(
      "Time that a call waits for its result before it answers `still_pending`.",
      [100, DAY_MS],
      120_000,
    ),
    rateLimit: integer("Calls of one API key in a minute.", [1, 1e9], 100_000),
    maxConcurrent: integer("Concurrent calls of one API key.", [1, 1e6], 1_000),
    anonymousRateLimit: integer("Calls without a valid key from one address in a minute.", [1, 1e9], 600),
    // A page that follows a request polls three times a second.
    pageRateLimit: integer(
      "Calls of pages, explorer and `/metrics` from one address in a minute.",
      [1, 1e9],
      3_000,
    ),
    // Must be longer than the load balancer takes to notice; 0 without one.
    drainDelayMs: integer(
      "When stopping: time during which calls are still accepted while `/readyz` already answers 503, so that a load balancer notices.",
      [0, 10_000],
      0,
    ),
    closeGraceMs: integer(
      "When stopping, after that: time for calls in progress to finish.",
      [0, DAY_MS],
      10_000,
    ),
  },
  "Limits of the HTTP layer.",
);

/** Limits that no operator needs to set. */
const FIXED_LIMITS = {
  /** Largest body: a source of 30,720 bytes may take six times that in JSON escapes. */
  maxBodyBytes: 262_144,
  /** Largest request line plus headers. */
  maxHeaderBytes: 16_384,
  /** Time for the headers to arrive; stops slow-loris attacks, as does the next. */
  headersTimeoutMs: 10_000,
  /** Time for a whole request to arrive. */
  requestTimeoutMs: 30_000,
  /** Interval of the comments that keep an event stream alive. */
  heartbeatMs: 15_000,
  /** Length of the window in which calls are counted. */
  rateWindowSeconds: 60,
};
export type HttpLimits = Readonly<Static<typeof HttpLimitsChoice> & typeof FIXED_LIMITS>;

export const DEFAULT_LIMITS = {
  ...FIXED_LIMITS,
  ...Object.fromEntries(
    Object.entries(HttpLimitsChoice.properties).map(([name, limit]) => [
      name,
      (limit as { default?: unknown }).default,
    ]),
  ),
} as HttpLimits;
