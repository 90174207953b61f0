/** A source contains something that a pure one may not; the message names it. */
export class Impure extends Error {}
