import type { NetworkView } from "../../api/types.ts";
import { RandomResult } from "../../api/results.ts";
import type { Hex } from "viem";
import { InvalidParameterError, type ParameterViolation } from "../../lib/invalidParameter.ts";
import { checkConfirmations, checkLabel, labelOf, readOnce } from "./drawParameters.ts";
import type { HttpDeps } from "../context.ts";
import type { RandomCommand } from "../../requests/service.ts";
import type { Checked } from "../../api/parameters/requestSchemas.ts";
import type { LiveSchemas } from "../liveSchemas.ts";
import type { Operation } from "../operation.ts";
import { readParameters, type GivenParameters, parseRequest } from "../parameters.ts";
import type { Responder } from "../responder.ts";

/** `POST /api/vrfv2/requestRandomNumber`: draws verifiable random numbers. */
export function randomOperation(deps: HttpDeps, responder: Responder): Operation {
  return {
    id: "requestRandomNumber",
    method: "post",
    path: "/api/vrfv2/requestRandomNumber",
    tag: "Randomness",
    summary: "Request random numbers",
    description:
      "Draws random numbers from the verifiable random function of a network. Parameters may be in the query or in the JSON " +
      "body; if one is in both, the values must be equal.",
    request: "random",
    placement: "body",
    example: { numWords: 3 },
    answer: RandomResult,
    isAsync: true,
    errors: ["label_taken"],
    async handle(ctx) {
      const given = await readParameters(ctx, deps.limits);
      await responder.run(ctx, parseRandomCommand(given, deps.schemas()));
    },
  };
}

/** Parses the parameters of a request for random numbers. Throws `invalid_parameter`. */
export function parseRandomCommand(
  given: GivenParameters,
  { networks, validate }: Pick<LiveSchemas, "networks" | "validate">,
): RandomCommand {
  const { keyHashes: listed } = given.values;
  if (typeof listed === "string") given.values["keyHashes"] = listed.split(",");
  if (given.values["beacon"] !== undefined)
    throw new InvalidParameterError([
      {
        path: "/beacon",
        message:
          "is not offered here: the coordinator contract makes random numbers of the proof alone; call a preset, such as range",
      },
    ]);
  readOnce(given);
  const { keyHash, keyHashes, label, once, ...values } = parseRequest(given, validate.random, (values) =>
    checkRange(values, networks.get(values.network)),
  );
  return {
    kind: "random",
    ...values,
    ...labelOf({ label, once }),
    ...(keyHash === undefined ? {} : { keyHash: lowerCase(keyHash) }),
    ...(keyHashes === undefined ? {} : { keyHashes: keyHashes.map(lowerCase) }),
  };
}

/** Checks the limits that differ between networks. */
function checkRange(
  { numWords, confirmations, keyHash, keyHashes: joined, label, once }: Checked<"random">,
  network: NetworkView | undefined,
): ParameterViolation[] {
  if (network === undefined) return [];
  const { maxWords, keyHashes } = network.vrf;
  const violations = [...checkLabel({ label, once }), ...checkConfirmations(confirmations, network)];
  if (numWords > maxWords) {
    violations.push({
      path: "/numWords",
      message: `must be at most ${maxWords} on ${network.name}; got ${numWords}`,
    });
  }
  const asked = [
    ...(keyHash === undefined ? [] : [["/keyHash", keyHash] as const]),
    ...(joined ?? []).map((one, i) => [`/keyHashes/${i}`, one] as const),
  ];
  for (const [path, one] of asked) {
    if (keyHashes.includes(lowerCase(one))) continue;
    const message = `is not registered on ${network.name}; registered: ${keyHashes.join(", ")}`;
    violations.push({ path, message });
  }
  if (keyHash !== undefined && joined !== undefined)
    violations.push({ path: "/keyHashes", message: "replaces keyHash; send one of the two" });
  if (joined !== undefined && new Set(joined.map(lowerCase)).size < joined.length)
    violations.push({ path: "/keyHashes", message: "must name each key hash once" });
  return violations;
}

function lowerCase(hash: string): Hex {
  return hash.toLowerCase() as Hex;
}
