import { findObject } from "../lib/isObject.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";

/** Parses the JSON object of an option; `undefined` without one. @throws InvalidParameterError for other text. */
export function parseObject(
  name: string,
  text: string | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  const value = findObject(text);
  if (value === undefined) throw needsObject(name);
  return value;
}

/** Says that an option takes a JSON object. */
export function needsObject(name: string): InvalidParameterError {
  return new InvalidParameterError([{ path: `/${name}`, message: `needs a JSON object: --${name} '{…}'` }]);
}
