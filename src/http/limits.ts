/** Limits that the HTTP layer enforces. An operator may change each; the defaults suit one machine. */
export interface HttpLimits {
  /** Largest body in bytes. A source of 30,720 bytes may take six times that in JSON escapes. */
  readonly maxBodyBytes: number;
  /** Largest request line plus headers in bytes. */
  readonly maxHeaderBytes: number;
  /** Time for the headers, and for the whole request, to arrive; stops slow-loris attacks. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How long an idle connection stays open for the next request; above the 60 s after which common proxies close theirs. */
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
  /**
   * Connections of one address (IPv6: one /64), as many as one key may have calls in flight. Loopback addresses and a trusted proxy are
   * limited by `maxConnections` alone.
   */
  readonly maxConnectionsPerAddress: number;
  /** How long a call waits for its result before it answers `still_pending`. */
  readonly waitTimeoutMs: number;
  /** Interval between the comments that keep an event stream alive through proxies. */
  readonly heartbeatMs: number;
  /** Calls per key in a window of `rateWindowSeconds`. */
  readonly rateLimit: number;
  readonly rateWindowSeconds: number;
  /** Concurrent calls per key, event streams included. */
  readonly maxConcurrent: number;
  /** Calls without a valid key per address (IPv6: per /64) in a window of `rateWindowSeconds`. */
  readonly anonymousRateLimit: number;
  /** Calls of pages, explorer and `/metrics` per address in a window of `rateWindowSeconds`. */
  readonly pageRateLimit: number;
  /**
   * On closing: how long calls are still accepted while `/readyz` already reports not ready. Must be longer than the load balancer takes
   * to notice; 0 without one.
   */
  readonly drainDelayMs: number;
  /** After that: how long calls in flight may take to finish before they answer `still_pending`. */
  readonly closeGraceMs: number;
}

export const DEFAULT_LIMITS: HttpLimits = {
  maxBodyBytes: 262_144,
  maxHeaderBytes: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 1_000,
  waitTimeoutMs: 120_000,
  heartbeatMs: 15_000,
  rateLimit: 100_000,
  rateWindowSeconds: 60,
  maxConcurrent: 1_000,
  anonymousRateLimit: 600,
  // A page that follows a request polls three times a second.
  pageRateLimit: 3_000,
  drainDelayMs: 0,
  closeGraceMs: 10_000,
};
