import type * as Crypto from "node:crypto";
import type * as Http from "node:http";
import type * as Zlib from "node:zlib";

let crypto: typeof Crypto | undefined;
let http: typeof Http | undefined;
let zlib: typeof Zlib | undefined;

/** Node's large modules, loaded when a source first needs one: loading them took a sixth of a child's start. */
export const library = {
  get crypto(): typeof Crypto {
    return (crypto ??= process.getBuiltinModule("node:crypto"));
  },
  get http(): typeof Http {
    return (http ??= process.getBuiltinModule("node:http"));
  },
  get zlib(): typeof Zlib {
    return (zlib ??= process.getBuiltinModule("node:zlib"));
  },
};
