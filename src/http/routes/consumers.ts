import { ConsumerResult } from "../../api/results.ts";
import { getAddress, type Hex } from "viem";
import { InvalidParameterError, type ParameterViolation } from "../../lib/invalidParameter.ts";
import { getDapp, type HttpContext, type HttpDeps } from "../context.ts";
import { describeValue } from "../../lib/describeValue.ts";
import type { Operation } from "../operation.ts";
import { readParameters, readQuery } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";
import type { Responder } from "../responder.ts";

/** `POST /api/vrfv2/addConsumer`: links a contract to the subscriptions of the key's dapp. */
export function consumerOperation(deps: HttpDeps, responder: Responder): Operation {
  return {
    id: "addConsumer",
    method: "post",
    path: "/api/vrfv2/addConsumer",
    tag: "Randomness",
    summary: "Add a consumer",
    description:
      "Links a consumer contract to the dapp's subscriptions on a network, for both random numbers and functions, with a transaction. " +
      "The contract must exist there. If it is already linked, no second transaction is sent: the answer has the hash of the first. " +
      "A dapp can have at most 99 contracts linked on a network. A dapp other than the key's gets 404.",
    request: "consumer",
    placement: "query",
    answer: ConsumerResult,
    isAsync: true,
    errors: ["too_many_consumers"],
    async handle(ctx) {
      const given = await readParameters(ctx, deps.limits);
      const { validate } = deps.schemas();
      const values = parseRequest(given, validate.consumer, ({ consumer }) => checkChecksum(consumer));
      const { dappId = getDapp(ctx).id, network } = values;
      const consumer = getAddress(lower(values.consumer));
      ctx.state.consumer = consumer;
      await responder.run(ctx, { kind: "consumer", dappId, network, consumer });
    },
  };
}

/** `DELETE /api/vrfv2/consumers/{address}`: removes a contract from the subscriptions of the key's dapp. */
export function unlinkOperation(deps: HttpDeps, responder: Responder): Operation {
  return {
    id: "removeConsumer",
    method: "delete",
    path: "/api/vrfv2/consumers/:address",
    tag: "Randomness",
    summary: "Remove a consumer",
    description:
      "Removes a consumer contract from the dapp's subscriptions on a network with a transaction. The chain's own list decides whether " +
      "it is linked; if not, the call gets 404. The oracle contracts remove a consumer only while the dapp's subscriptions have no open " +
      "requests; the call waits half a minute for that, then ends with `request_failed`.",
    request: "unlink",
    placement: "query",
    answer: ConsumerResult,
    isAsync: true,
    errors: [],
    async handle(ctx) {
      const { network } = parseRequest(readQuery(ctx), deps.schemas().validate.unlink);
      await responder.run(ctx, { kind: "unlink", network, consumer: readAddress(ctx) });
    },
  };
}

/** Reads the address in the path. Throws {@link InvalidParameterError}. */
function readAddress(ctx: HttpContext): Hex {
  const { address = "" } = ctx["params"] as Readonly<Record<string, string>>;
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) {
    const message = `must be an address: 0x and 40 hex digits; got ${describeValue(address)}`;
    throw new InvalidParameterError([{ path: "/address", message }]);
  }
  const violations = checkChecksum(address as Hex).map((violation) => ({ ...violation, path: "/address" }));
  if (violations.length > 0) throw new InvalidParameterError(violations);
  return getAddress(lower(address as Hex));
}

/**
 * Checks an EIP-55 checksum: an address in a single case has none; in mixed case, a wrong checksum means a
 * typo.
 */
export function checkChecksum(address: Hex, path = "/consumer"): ParameterViolation[] {
  const digits = address.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return [];
  const right = getAddress(lower(address));
  if (right === address) return [];
  return [{ path, message: `has a wrong checksum (EIP-55): expected ${right}; got ${address}` }];
}

function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}
