/** The parts of a URL, in the order of the host's answer. */
export const PARTS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;
export type Part = (typeof PARTS)[number];

/** The parts of a pattern, in the same order. */
export const PATTERN_PARTS = [
  "protocol",
  "username",
  "password",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const satisfies readonly Part[];
