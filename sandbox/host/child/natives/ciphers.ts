import type * as crypto from "node:crypto";
import { library } from "./library.ts";
import type { Native } from "./native.ts";

/** Ciphers that a run may have open at once. */
const MAX_CIPHERS = 1_024;

/** What both directions of an authenticated cipher have. */
type Cipher = crypto.CipherGCM & crypto.DecipherGCM;

/** Creates the ciphers of one run, which convert each piece as it comes. */
export function createCiphers(): Readonly<Record<string, Native>> {
  const open = new Map<number, { readonly cipher: Cipher; readonly tagBytes: number }>();
  let next = 1;
  return {
    /** `{name, isDecrypting, keyBytes, tagBytes}` and the key and initialization vector → the cipher's number. */
    cipherOpen: ({ name, isDecrypting, keyBytes, tagBytes }, body) => {
      if (open.size >= MAX_CIPHERS) throw new TypeError(`more than ${MAX_CIPHERS} ciphers are open`);
      const create = isDecrypting === true ? library.crypto.createDecipheriv : library.crypto.createCipheriv;
      const iv = body.subarray(Number(keyBytes));
      const cipher = create(
        String(name) as crypto.CipherGCMTypes,
        body.subarray(0, Number(keyBytes)),
        (iv.length === 0 ? null : iv) as Uint8Array,
        tagBytes === undefined ? undefined : { authTagLength: Number(tagBytes) },
      ) as Cipher;
      open.set(next, { cipher, tagBytes: isDecrypting === true ? 0 : Number(tagBytes ?? 0) });
      return String(next++);
    },
    /**
     * `{id, action}` and bytes → the output. The last output of an authenticated cipher is between the length of its tag, one byte, and the tag.
     */
    cipher: ({ id, action, on }, bytes) => {
      const known = open.get(Number(id));
      if (known === undefined) throw new TypeError("the cipher has ended");
      const { cipher, tagBytes } = known;
      switch (action) {
        case "update":
          return cipher.update(bytes);
        case "padding":
          cipher.setAutoPadding(on === true);
          break;
        case "aad":
          cipher.setAAD(bytes);
          break;
        case "tag":
          cipher.setAuthTag(bytes);
          break;
        case "final": {
          open.delete(Number(id));
          const last = cipher.final();
          return tagBytes === 0 ? last : Buffer.concat([Buffer.from([tagBytes]), last, cipher.getAuthTag()]);
        }
        default:
          throw new TypeError("unknown action of a cipher");
      }
      return new Uint8Array(0);
    },
  };
}
