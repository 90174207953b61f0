import { PresetResult } from "../../api/results.ts";
import type { HttpDeps } from "../context.ts";
import type { Operation } from "../operation.ts";
import { readParameters, type GivenParameters } from "../parameters.ts";
import type { Responder } from "../responder.ts";
import { TycheError } from "../../lib/errors.ts";
import { InvalidParameterError, type ParameterViolation } from "../../lib/invalidParameter.ts";
import type { PresetCommand, Service } from "../../requests/service.ts";
import { checkConfirmations, checkLabel, labelOf, readOnce } from "./drawParameters.ts";
import type { Checked } from "../../api/parameters/requestSchemas.ts";
import type { LiveSchemas } from "../liveSchemas.ts";
import { pointerTo, type JsonValue } from "../../lib/parseJson.ts";
import { MAX_VIOLATIONS } from "../../lib/schemaCheck.ts";
import { didYouMean } from "../../lib/didYouMean.ts";
import { PRESET_REQUEST_PARAMETERS } from "../../domain/vocabulary.ts";

/** `POST /api/vrfv2/presets`: draws a random word and runs a preset's function with it. */
export function presetOperation(deps: HttpDeps, responder: Responder): Operation {
  return {
    id: "runPreset",
    method: "post",
    path: "/api/vrfv2/presets",
    tag: "Randomness",
    summary: "Run a preset",
    description:
      "Obtains a verifiable random number and feeds it into the preset's function, both on chain.\n\n" +
      "Parameters may be in the query or in the JSON body. If one is in both, the values must be equal: neither place has precedence. " +
      "Numbers are decimal strings; a JSON integer is accepted as the same value.\n\n" +
      "A function that fails on the oracle network is an answer: 200 with `success: false`, the reason in `err` and its `code`.",
    request: "preset",
    placement: "presets",
    answer: PresetResult,
    isAsync: true,
    errors: ["function_failed", "label_taken", "beacon_late", "beacon_missed"],
    async handle(ctx) {
      const given = await readParameters(ctx, deps.limits);
      const command = parsePresetRequest(given, { schemas: deps.schemas(), service: deps.service });
      await responder.run(ctx, command);
    },
  };
}

/**
 * Parses the parameters of a preset request: those of every preset by our schema, the rest by the preset's own. Lists the
 * violations of both at once. For a preset that isn't served, lists the reason and, unless the preset's folder is broken, the
 * parameters that no preset accepts.
 */
export function parsePresetRequest(
  given: GivenParameters,
  options: { readonly schemas: LiveSchemas; readonly service: Service },
): PresetCommand {
  const { schemas, service } = options;
  readOnce(given);
  const own: Record<string, JsonValue> = Object.assign(Object.create(null), given.values);
  const shared: Record<string, JsonValue> = Object.create(null);
  for (const name of PRESET_REQUEST_PARAMETERS) {
    if (own[name] !== undefined) shared[name] = own[name];
    delete own[name];
  }
  const checked = schemas.validate.preset(shared);
  const violations: ParameterViolation[] = [
    ...given.violations,
    ...(checked.ok ? checkRange(checked.values, schemas) : checked.violations),
  ];

  const unserved = findUnserved(shared["preset"], schemas, service);
  if (unserved !== undefined)
    throw new InvalidParameterError([
      ...violations.filter(({ path }) => path !== "/preset"),
      ...unserved.details,
      ...(unserved.precludesOthers ? [] : findUntaken(toPresetParams(own), schemas, service)),
    ]);
  // Defaults are filled in even if another member is invalid, so that the preset's own parameters are checked anyway.
  const presetName = known(shared["preset"], schemas.presets);
  const networkName = known(shared["network"], schemas.networks);
  if (presetName !== undefined) {
    try {
      const params = service.parsePresetParams(
        presetName,
        toPresetParams(own),
        networkName === undefined ? {} : { network: networkName },
      );
      if (violations.length === 0 && checked.ok) {
        const { network, confirmations, beacon } = checked.values;
        const chosen = {
          ...(confirmations === undefined ? {} : { confirmations }),
          ...(beacon === undefined ? {} : { beacon }),
          ...labelOf(checked.values),
        };
        return { kind: "preset", network, preset: presetName, params, ...chosen };
      }
    } catch (error) {
      violations.push(...violationsOf(error));
    }
  }
  throw new InvalidParameterError(violations);
}

/** Checks the limits that differ between networks. */
function checkRange(
  { network, confirmations, ...given }: Checked<"preset">,
  { networks }: LiveSchemas,
): readonly ParameterViolation[] {
  const view = networks.get(network);
  return [...checkLabel(given), ...(view === undefined ? [] : checkConfirmations(confirmations, view))];
}

/** Returns the service's explanation for a preset that it doesn't serve, which says more than that it is not listed. */
function findUnserved(
  preset: JsonValue | undefined,
  schemas: LiveSchemas,
  service: Service,
): InvalidParameterError | undefined {
  if (typeof preset !== "string" || schemas.presets.has(preset)) return undefined;
  try {
    service.parsePresetParams(preset, {}, {});
    return undefined;
  } catch (error) {
    if (error instanceof InvalidParameterError) return error;
    throw error;
  }
}

/** Finds parameters that are wrong whichever preset was meant: no preset has them, or none accepts such a value. Stops after {@link MAX_VIOLATIONS}. */
function findUntaken(
  params: Readonly<Record<string, unknown>>,
  schemas: LiveSchemas,
  service: Service,
): readonly ParameterViolation[] {
  const presets = [...schemas.presets.values()];
  const findIn = ([name, value]: readonly [name: string, value: unknown]): readonly ParameterViolation[] => {
    const pointer = pointerTo(name);
    const takers = presets.filter(({ parameters: { properties } }) =>
      Object.hasOwn({ ...(properties as object) }, name),
    );
    if (takers.length === 0)
      return [
        {
          path: pointer,
          message: `is not a parameter of any preset served here${didYouMean(name, PRESET_REQUEST_PARAMETERS)}`,
        },
      ];
    const refusals = takers.map((preset) => {
      try {
        service.parsePresetParams(preset.name, { [name]: value }, {});
        return [];
      } catch (error) {
        return violationsOf(error).filter(({ path }) => `${path}/`.startsWith(`${pointer}/`));
      }
    });
    return refusals.every((refusal) => refusal.length > 0) ? refusals[0]! : [];
  };
  const found: ParameterViolation[] = [];
  for (const [index, entry] of Object.entries(params).entries()) {
    if (found.length >= MAX_VIOLATIONS)
      return [...found, { path: "", message: `and ${Object.keys(params).length - index} more not checked` }];
    found.push(...findIn(entry));
  }
  return found;
}

function known(value: JsonValue | undefined, names: ReadonlyMap<string, unknown>): string | undefined {
  return typeof value === "string" && names.has(value) ? value : undefined;
}

/** Converts whole numbers above 2^53 to decimal strings, which presets accept as the same value. */
function toPresetParams(own: Record<string, JsonValue>): Record<string, unknown> {
  const params: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(own)) {
    const isInexact = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
    params[name] = typeof value === "bigint" || isInexact ? value.toString() : value;
  }
  return params;
}

function violationsOf(error: unknown): readonly ParameterViolation[] {
  if (error instanceof TycheError && error.code === "invalid_parameter" && Array.isArray(error.details)) {
    return error.details as ParameterViolation[];
  }
  throw error;
}
