/** Maximum size of a function's result that our oracle reports on any network, in bytes. Chainlink's own takes 256. */
export const MAX_RESPONSE_BYTES = 1_024;

/** Maximum size of a source on the oracle network, in bytes of UTF-8. Its arguments come on top, see `MAX_REQUEST_BYTES`. */
export const MAX_SOURCE_BYTES = 30_720;
