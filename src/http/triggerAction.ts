import { TycheError } from "../lib/errors.ts";
import { InvalidParameterError, type ParameterViolation } from "../lib/invalidParameter.ts";
import { describeValue } from "../lib/describeValue.ts";
import type { JsonValue } from "../lib/parseJson.ts";
import type { Service } from "../requests/service.ts";
import type { Dapp } from "../dapps/dapp.ts";
import type { TriggerCommand } from "../triggers/eventReferences.ts";
import type { HttpDeps } from "./context.ts";
import { parsePresetRequest } from "./routes/presets.ts";
import { parseFunctionCommand } from "./routes/functions.ts";
import { parseRandomCommand } from "./routes/random.ts";

/**
 * Parses what a trigger is to request, with the checks of the endpoint that requests it: `{"preset": …, …}`, `{"random": {…}}` or
 * `{"function": {…}}`. Throws `invalid_parameter`; paths begin with `/action`.
 */
export function parseTriggerAction(
  action: Readonly<Record<string, unknown>>,
  network: string,
  deps: Pick<HttpDeps, "schemas" | "service">,
): TriggerCommand {
  const given = action as Readonly<Record<string, JsonValue>>;
  const kinds = ["preset", "random", "function"].filter((kind) => given[kind] !== undefined);
  const [kind, ...others] = kinds;
  if (kind === undefined || others.length > 0)
    throw new InvalidParameterError([
      { path: "/action", message: "must have exactly one of preset, random and function" },
    ]);
  if (kind === "preset") {
    const values = { ...withoutNetwork(given, ""), network };
    return within("", () =>
      parsePresetRequest({ values, violations: [] }, { schemas: deps.schemas(), service: deps.service }),
    );
  }
  const own = given[kind];
  const [beside] = Object.keys(given).filter((name) => name !== kind);
  const message =
    typeof own !== "object" || own === null || Array.isArray(own)
      ? `must be an object with the parameters of the endpoint, got ${describeValue(own)}`
      : beside === undefined
        ? undefined
        : `${beside} is unknown beside it; its parameters go inside`;
  if (message !== undefined) throw new InvalidParameterError([{ path: `/action/${kind}`, message }]);
  const values = { ...withoutNetwork(own as Readonly<Record<string, JsonValue>>, `/${kind}`), network };
  const parse = kind === "random" ? parseRandomCommand : parseFunctionCommand;
  return within(`/${kind}`, () => parse({ values, violations: [] }, deps.schemas()));
}

function withoutNetwork(values: Readonly<Record<string, JsonValue>>, place: string) {
  if (values["network"] !== undefined)
    throw new InvalidParameterError([
      { path: `/action${place}/network`, message: "belongs beside action: give network there" },
    ]);
  return values;
}

/** Checks what would refuse a trigger's requests, see `Service.check`; paths are those of {@link parseTriggerAction}. */
export async function checkTriggerCommand(
  dapp: Dapp,
  command: TriggerCommand,
  service: Pick<Service, "check">,
): Promise<void> {
  const place = command.kind === "preset" ? "" : `/${command.kind}`;
  await service.check(dapp, command).catch((error: unknown) => {
    throw placed(error, place);
  });
}

function within<T>(place: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw placed(error, place);
  }
}

/** Says in an error where in the body the parameters are. */
function placed(error: unknown, place: string): unknown {
  if (!(error instanceof TycheError) || error.code !== "invalid_parameter" || !Array.isArray(error.details))
    return error;
  const violations = error.details as readonly ParameterViolation[];
  return new InvalidParameterError(
    violations.map(({ path, message }) => ({ path: `/action${place}${path}`, message })),
  );
}
