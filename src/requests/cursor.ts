import { InvalidParameterError } from "../lib/invalidParameter.ts";

/** Refuses a cursor that no page gave: it is the id of an earlier page's last item. Throws `invalid_parameter`. */
export function assertCursor(cursor: string | undefined, prefix: "req" | "dry"): void {
  if (cursor === undefined) return;
  if (cursor.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(cursor.slice(prefix.length + 1)))
    return;
  throw new InvalidParameterError([
    { path: "/cursor", message: "must be the nextCursor of an earlier page" },
  ]);
}
