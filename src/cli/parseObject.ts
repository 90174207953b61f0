import { InvalidParameterError } from "../lib/invalidParameter.ts";

/** Parses the JSON object of an option; `undefined` without one. @throws InvalidParameterError for other text. */
export function parseObject(
  name: string,
  text: string | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
  } catch {
    // The message below says what is expected.
  }
  throw needsObject(name);
}

/** Says that an option takes a JSON object. */
export function needsObject(name: string): InvalidParameterError {
  return new InvalidParameterError([{ path: `/${name}`, message: `needs a JSON object: --${name} '{…}'` }]);
}
