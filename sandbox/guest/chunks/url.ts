import type { Internals } from "../internals.ts";
import { createFormEncoding } from "../url/form.ts";
import { createUrlPattern } from "../url/pattern.ts";
import { createSearchParams } from "../url/searchParams.ts";
import { createUrl } from "../url/url.ts";

/** URL Standard: `URL`, `URLSearchParams`, and `URLPattern`; the host parses. */
export default function urlChunk(internals: Internals): Readonly<Record<string, unknown>> {
  const searchParams = createSearchParams(createFormEncoding(internals));
  const { URLSearchParams } = searchParams;
  const URL = createUrl(internals.native, searchParams);
  internals.cloneRules.add({ has: (value) => value instanceof URL || value instanceof URLSearchParams });
  return {
    URL,
    URLSearchParams,
    URLPattern: createUrlPattern(internals.native),
  };
}
