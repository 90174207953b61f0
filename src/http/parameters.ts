import { type ParameterViolation, InvalidParameterError } from "../lib/invalidParameter.ts";
import { readJsonBody } from "./body.ts";
import type { HttpContext } from "./context.ts";
import { describeValue } from "../lib/describeValue.ts";
import { pointerTo, type JsonValue } from "../lib/parseJson.ts";
import type { Validator } from "../lib/schemaCheck.ts";

/** A request's parameters before any validation. */
export interface GivenParameters {
  /** By name, from query and body alike; without a prototype, so that no name is special. */
  readonly values: Record<string, JsonValue>;
  readonly violations: readonly ParameterViolation[];
}

/**
 * Reads the parameters of a POST from its query and its JSON body. A parameter in both is fine if the values are equal (a
 * number equals its decimal text); otherwise it is a violation that names both, since neither place takes precedence.
 */
export async function readParameters(
  ctx: HttpContext,
  options: { readonly maxBodyBytes: number },
): Promise<GivenParameters> {
  const given = readQuery(ctx);
  const body = await readJsonBody(ctx, options.maxBodyBytes);
  if (body === undefined) return given;
  const violations = [...given.violations];
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    violations.push({ path: "", message: `the body must be a JSON object, got ${describeValue(body)}` });
    return { values: given.values, violations };
  }
  for (const [name, value] of Object.entries(body)) {
    const inQuery = given.values[name];
    if (inQuery !== undefined && !isSame(inQuery, value)) {
      violations.push({
        path: pointerTo(name),
        message: `is ${describeValue(inQuery)} in the query but ${describeValue(value)} in the body`,
      });
    }
    given.values[name] = value;
  }
  return { values: given.values, violations };
}

/** Reads the parameters of a GET, all from its query. */
export function readQuery(ctx: HttpContext): GivenParameters {
  const values: Record<string, JsonValue> = Object.create(null);
  const query = parseQuery(ctx.querystring);
  for (const [name, value] of query.values) values[name] = value;
  return { values, violations: query.violations };
}

function isSame(inQuery: JsonValue, inBody: JsonValue): boolean {
  if (typeof inBody === "number" || typeof inBody === "bigint") return inQuery === inBody.toString();
  return inQuery === inBody;
}

/**
 * Parses a query string (without `?`) as HTML forms encode it: `+` is a space, `&` separates pairs. A repeated
 * name is a violation, and so are bytes that are not UTF-8: neither is guessed at.
 */
function parseQuery(query: string) {
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

/**
 * Validates parameters against a schema and then with `check`, which covers what a schema can't express (bytes, checksums, a
 * network's ranges). Throws `invalid_parameter` with the violations from all three stages: reading, schema, check.
 */
export function parseRequest<T>(
  given: GivenParameters,
  validate: Validator<T>,
  check: (values: T) => readonly ParameterViolation[] = () => [],
): T {
  const checked = validate(given.values);
  const violations = [...given.violations, ...(checked.ok ? check(checked.values) : checked.violations)];
  if (violations.length > 0 || !checked.ok) throw new InvalidParameterError(violations);
  return checked.values;
}
