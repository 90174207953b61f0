/** How much of what an address has the explorer's answers hold, and its pages speak of. */

/** Of the contracts that a contract created, how many newest ones are looked at: each takes a call. */
export const MAX_CREATED = 25;

/** Of an event's data that can't be decoded, the first bytes. */
export const MAX_DATA_BYTES = 256;
