import type * as Crypto from "node:crypto";
import type * as Zlib from "node:zlib";

let crypto: typeof Crypto | undefined;
let zlib: typeof Zlib | undefined;

/** Node's large modules, loaded when a source first needs one: loading both took an eighth of a child's start. */
export const library = {
  get crypto(): typeof Crypto {
    return (crypto ??= process.getBuiltinModule("node:crypto"));
  },
  get zlib(): typeof Zlib {
    return (zlib ??= process.getBuiltinModule("node:zlib"));
  },
};
