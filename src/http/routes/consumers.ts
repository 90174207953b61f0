import { getAddress, type Hex } from "viem";
import type { ParameterViolation } from "../../lib/invalidParameter.ts";
import { ConsumerResult } from "../../service/results.ts";
import type { HttpDeps } from "../context.ts";
import type { Operation } from "../operation.ts";
import { readParameters } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";
import type { Responder } from "../respond.ts";

/** `POST /api/vrfv2/addConsumer`: links a contract to the subscriptions of the key's dapp. */
export function consumerOperation(deps: HttpDeps, responder: Responder): Operation {
  return {
    id: "addConsumer",
    method: "post",
    path: "/api/vrfv2/addConsumer",
    tag: "Randomness",
    summary: "Add a consumer",
    description:
      "Links a consumer contract to the dapp's subscriptions on a network, for random numbers and functions alike, by a " +
      "transaction. The contract must exist there. Linking it again sends no second transaction: the answer has the hash of the " +
      "first. A dapp that is not the key's is 404.",
    request: "consumer",
    placement: "query",
    answer: ConsumerResult,
    isAsync: true,
    errors: ["too_many_consumers"],
    async handle(ctx) {
      const given = await readParameters(ctx, deps.limits);
      const { validate } = deps.schemas();
      const values = parseRequest(given, validate.consumer, ({ consumer }) => checkChecksum(consumer));
      await responder.run(ctx, { kind: "consumer", ...values, consumer: getAddress(lower(values.consumer)) });
    },
  };
}

/** EIP-55: an address in one case has no checksum; in mixed case it has, and a wrong one is a typing error. */
function checkChecksum(address: Hex): ParameterViolation[] {
  const digits = address.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return [];
  const right = getAddress(lower(address));
  if (right === address) return [];
  return [{ path: "/consumer", message: `has a wrong checksum (EIP-55): expected ${right}; got ${address}` }];
}

function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}
