import { InvalidParameterError } from "../lib/invalidParameter.ts";
import type { GivenParameters } from "./parameters.ts";
import type { ParameterViolation } from "../lib/invalidParameter.ts";
import type { Validator } from "../lib/schemaCheck.ts";

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
