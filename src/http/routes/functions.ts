import { FunctionResult, SimulateResult } from "../../api/results.ts";
import type { ParameterViolation } from "../../lib/invalidParameter.ts";
import { whileConnected, type HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";
import type { FunctionCommand } from "../../requests/service.ts";
import { checkLabel, labelOf, readOnce } from "./drawParameters.ts";
import type { LiveSchemas } from "../liveSchemas.ts";
import { readParameters, type GivenParameters, parseRequest } from "../parameters.ts";
import { readIdempotencyKey } from "../waitPreference.ts";
import type { Responder } from "../responder.ts";
import { MAX_SOURCE_BYTES } from "../../domain/sourceLimit.ts";

const FUNCTION_EXAMPLE = {
  source: "return Functions.encodeUint256(BigInt(args[0]) * 2n);",
  args: ["21"],
  returnType: "uint256",
};

/** `POST /api/oracleFunctions/runFunction`: runs a caller's source on the oracle network. */
export function functionOperation(deps: HttpDeps, responder: Responder): Operation {
  return {
    id: "runFunction",
    method: "post",
    path: "/api/oracleFunctions/runFunction",
    tag: "Functions",
    summary: "Run a function",
    description:
      "Runs a source on the function facility of a network. A dry run comes first: a source that fails there is answered with " +
      "422 `function_failed`, and no transaction is sent. A source that fails on the oracle network after that is an answer: " +
      "200 with `success: false`, the reason in `err` and its `code`.",
    request: "function",
    placement: "body",
    example: FUNCTION_EXAMPLE,
    answer: FunctionResult,
    isAsync: true,
    errors: ["function_failed", "label_taken", "beacon_late", "beacon_missed"],
    async handle(ctx) {
      const given = await readParameters(ctx, deps.limits);
      await responder.run(ctx, parseFunctionCommand(given, deps.schemas()));
    },
  };
}

/** Parses the parameters of a function request. Throws `invalid_parameter`. */
export function parseFunctionCommand(
  given: GivenParameters,
  { validate }: Pick<LiveSchemas, "validate">,
): FunctionCommand {
  readOnce(given);
  const { label, once, ...values } = parseRequest(given, validate.function, ({ source, ...own }) => [
    ...checkSource(source),
    ...checkLabel(own),
  ]);
  return { kind: "function", ...values, ...labelOf({ label, once }) };
}

/** `POST /api/oracleFunctions/simulate`: a dry run only. */
export function simulateOperation(deps: HttpDeps): Operation {
  return createOperations(deps, { tag: "Functions" })({
    id: "simulateFunction",
    method: "post",
    path: "/api/oracleFunctions/simulate",
    summary: "Dry-run a function",
    description:
      "Runs a source in the sandbox as the oracle nodes would, and reports what it wrote with `console`, where it threw, and the " +
      "time and memory it took. Sends nothing to a chain. A source that fails is an answer: 200 with `success: false`.",
    request: "simulate",
    example: FUNCTION_EXAMPLE,
    answer: SimulateResult,
    check: ({ source }) => checkSource(source),
    run({ ctx, dapp, values }) {
      // One that is malformed is refused, although nothing can be done twice here.
      readIdempotencyKey(ctx);
      return whileConnected(ctx, (signal) => deps.service.simulate(dapp, values, { signal }));
    },
  });
}

function checkSource(source: string): ParameterViolation[] {
  const bytes = Buffer.byteLength(source);
  if (bytes <= MAX_SOURCE_BYTES) return [];
  return [{ path: "/source", message: `must be at most ${MAX_SOURCE_BYTES} bytes of UTF-8; got ${bytes}` }];
}
