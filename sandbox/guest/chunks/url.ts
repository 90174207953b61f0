import { withCode } from "../convert.ts";
import type { Internals } from "../internals.ts";
import { createFormEncoding } from "../url/form.ts";
import { createUrlPattern } from "../url/pattern.ts";
import { createSearchParams } from "../url/searchParams.ts";
import { createUrl } from "../url/url.ts";

/** URL Standard: `URL`, `URLSearchParams`, and `URLPattern`; the host parses. */
export default function urlChunk(internals: Internals): Readonly<Record<string, unknown>> {
  const searchParams = createSearchParams(createFormEncoding(internals));
  const { URLSearchParams } = searchParams;
  const blobs = new Map<string, unknown>();
  const URL = createUrl(internals.native, searchParams, {
    create: (blob) => {
      const { isBlob } = internals.load("file") as { isBlob: (value: unknown) => boolean };
      if (!isBlob(blob))
        throw withCode(
          new TypeError(
            "Failed to execute 'createObjectURL' on 'URL': The \"blob\" argument must be an instance of Blob",
          ),
          "ERR_INVALID_ARG_TYPE",
        );
      const url = `blob:null/${internals.native("uuid", {}) as string}`;
      blobs.set(url, blob);
      return url;
    },
    revoke: (url) => void blobs.delete(url),
  });
  internals.cloneRules.add({ has: (value) => value instanceof URL || value instanceof URLSearchParams });
  return {
    URL,
    URLSearchParams,
    /** The blob behind a URL, whose fragment doesn't count. */
    findBlob: (url: string) => blobs.get(url.replace(/#.*/s, "")),
    URLPattern: createUrlPattern(internals.native),
  };
}
