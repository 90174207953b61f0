/** Maximum size of a source on the oracle network, in bytes of UTF-8. Its arguments come on top, see `MAX_REQUEST_BYTES`. */
export const MAX_SOURCE_BYTES = 30_720;
