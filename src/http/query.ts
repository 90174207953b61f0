import type { ParameterViolation } from "../lib/invalidParameter.ts";
import { pointerTo } from "../lib/parseJson.ts";

export interface ParsedQuery {
  readonly values: ReadonlyMap<string, string>;
  readonly violations: readonly ParameterViolation[];
}

/**
 * Parses a query string (without `?`) as HTML forms encode it: `+` is a space, `&` separates pairs. A repeated
 * name is a violation, and so are bytes that are not UTF-8: neither is guessed at.
 */
export function parseQuery(query: string): ParsedQuery {
  const values = new Map<string, string>();
  const violations: ParameterViolation[] = [];
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const name = decode(rawName);
    const value = decode(equals < 0 ? "" : pair.slice(equals + 1));
    if (name === undefined || value === undefined) {
      violations.push({
        path: pointerTo(name ?? rawName),
        message: "is not percent-encoded UTF-8 in the query",
      });
    } else if (values.has(name)) {
      violations.push({ path: pointerTo(name), message: "appears more than once in the query" });
    } else {
      values.set(name, value);
    }
  }
  return { values, violations };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
