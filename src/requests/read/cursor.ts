import { InvalidParameterError } from "../../lib/invalidParameter.ts";

/** Asserts that a cursor has the form of an item's id: a page's cursor is the id of its last item. Throws `invalid_parameter`. */
export function assertCursor(cursor: string | undefined, prefix: "req" | "dry"): void {
  if (cursor === undefined) return;
  if (cursor.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(cursor.slice(prefix.length + 1)))
    return;
  throw new InvalidParameterError([
    { path: "/cursor", message: "must be the nextCursor of an earlier page" },
  ]);
}
