import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { TycheError } from "../lib/errors.ts";
import type { StoredLogTrigger } from "../store/logTriggers.ts";
import type { FunctionCommand, PresetCommand, RandomCommand } from "../requests/service.ts";
import type { Dapp } from "../dapps/dapp.ts";
import { MAX_VALUE_CHARACTERS } from "./logSelection.ts";

/** What a trigger may request. */
export type TriggerCommand = PresetCommand | RandomCommand | FunctionCommand;

/** Parses an action as the endpoint that it names would. Throws `invalid_parameter`; paths begin with `/action`. */
export type ParseAction = (action: StoredLogTrigger["action"], network: string) => TriggerCommand;

/** Checks what would refuse a command whenever it is submitted. Throws as {@link ParseAction} does, and `forbidden`. */
export type CheckCommand = (dapp: Dapp, command: TriggerCommand) => Promise<void>;

/** Most characters of a log's values in one request, as many as a call's body has bytes: an action may refer to a long value thousands of times. */
const MAX_FILLED = 262_144;

/**
 * Puts a log's values in place of the references to them, `{"event": "name"}`. Throws `invalid_parameter` for a value that the log lacks, and
 * for values of more than 262,144 characters in all.
 */
export function fillReferences(
  action: StoredLogTrigger["action"],
  values: Readonly<Record<string, string>>,
): StoredLogTrigger["action"] {
  let left = MAX_FILLED;
  return replace(action, "/action", (name, path) => {
    if (!Object.hasOwn(values, name))
      throw new InvalidParameterError([
        {
          path,
          message: `the log has no value ${JSON.stringify(name)}: it can't be decoded, or has more than ${MAX_VALUE_CHARACTERS} characters`,
        },
      ]);
    const value = values[name]!;
    left -= value.length;
    if (left >= 0) return value;
    const message = `with ${JSON.stringify(name)}, the log's values in the action have more than ${MAX_FILLED} characters`;
    throw new InvalidParameterError([{ path, message }]);
  }) as StoredLogTrigger["action"];
}

/**
 * Checks an action before there is a log: all but the parameters whose values will come from one. Throws `invalid_parameter`.
 *
 * @param names names of the values that the logs have; `undefined` if they are unknown.
 * @returns what is left to check for a dapp, as far as it doesn't depend on those values.
 */
export function checkAction(
  parse: ParseAction,
  {
    action,
    network,
    names,
  }: {
    readonly action: StoredLogTrigger["action"];
    readonly network: string;
    readonly names: readonly string[] | undefined;
  },
): (check: CheckCommand, dapp: Dapp) => Promise<void> {
  const references: string[] = [];
  const filled = replace(action, "/action", (name, path) => {
    if (names !== undefined && !names.includes(name)) {
      const message = `the event has no ${JSON.stringify(name)}; it has ${names.join(", ")}`;
      throw new InvalidParameterError([{ path, message }]);
    }
    references.push(path);
    return "1";
  }) as StoredLogTrigger["action"];
  /** Throws an error without what it says of values that will come from a log. */
  const throwRest = (error: unknown): void => {
    if (!(error instanceof TycheError) || error.code !== "invalid_parameter" || references.length === 0)
      throw error;
    const violations = (error as InvalidParameterError).details.filter(
      ({ path }) =>
        !references.some((one) => path === one || path.startsWith(`${one}/`) || one.startsWith(`${path}/`)),
    );
    if (violations.length > 0) throw new InvalidParameterError(violations);
  };
  try {
    const command = parse(filled, network);
    return (check, dapp) => check(dapp, command).catch(throwRest);
  } catch (error) {
    throwRest(error);
    return async () => {};
  }
}

function replace(value: unknown, path: string, read: (name: string, path: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one, i) => replace(one, `${path}/${i}`, read));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length === 1 && first![0] === "event" && typeof first![1] === "string")
    return read(first![1], path);
  return Object.fromEntries(entries.map(([name, one]) => [name, replace(one, `${path}/${name}`, read)]));
}
