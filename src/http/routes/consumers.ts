import { ADDRESS } from "../../api/common.ts";
import { ConsumerList } from "../../api/operator.ts";
import { ConsumerResult } from "../../api/results.ts";
import type { ConsumerList as Consumers } from "../../api/types.ts";
import type { RequestRecord, Service } from "../../requests/service.ts";
import type { Dapp } from "../../dapps/dapp.ts";
import { getAddress, type Hex } from "viem";
import { InvalidParameterError, type ParameterViolation } from "../../lib/invalidParameter.ts";
import { getDapp, type HttpContext, type HttpDeps } from "../context.ts";
import { describeValue } from "../../lib/describeValue.ts";
import { createOperations, readParam, type Operation } from "../operation.ts";
import type { OperatorPart } from "../operatorPart.ts";
import { readParameters, readQuery, parseRequest } from "../parameters.ts";
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
  const address = readParam(ctx, "address");
  if (!ADDRESS.test(address)) {
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

/** How many links are searched for the transaction of each contract. */
const LINKS_READ = 100;

/** `GET /api/vrfv2/consumers`: the contracts that are linked to the subscriptions of the key's dapp. */
export function ownConsumersOperation(deps: HttpDeps, part: OperatorPart): Operation {
  return createOperations(deps, { tag: "Randomness" })({
    id: "listConsumers",
    path: "/api/vrfv2/consumers",
    summary: "List consumers",
    description:
      "The contracts that are linked to the dapp's subscriptions, as the chains have them: at most 99 on each network.",
    request: "consumers",
    answer: ConsumerList,
    async run({ dapp, values: { network } }) {
      const { linked } = await findConsumers(dapp, { service: deps.service, part });
      return { linked: linked.filter((one) => network === undefined || one.network === network) };
    },
  });
}

/**
 * Lists a dapp's contracts as they are linked on the chains. An unreachable chain doesn't hide the others'
 * contracts.
 */
export async function findConsumers(
  dapp: Dapp,
  { service, part }: { readonly service: Service; readonly part: OperatorPart },
): Promise<Consumers> {
  const [{ networks }, onChain, links] = await Promise.all([
    part.readConfigVars(dapp.id),
    part.readChainConsumers(dapp.id),
    service.listRequests(dapp, { limit: LINKS_READ, kind: "consumer", state: "fulfilled" }),
  ]);
  const findLink = (network: string, address: string) => {
    const own = links.items.filter(
      (one) => one.network === network && (one.params as { consumer?: string }).consumer === address,
    );
    // Linking a linked contract again finds the same transaction: the first of these requests has its date.
    return own.findLast((one) => hashOf(one) === hashOf(own[0]));
  };
  const ownOf = (network: string): Hex | undefined => service.findNetwork(network)?.contracts.presetConsumer;
  const linked = networks.flatMap(({ network, consumers }) => {
    const found = onChain.get(network);
    const addresses = new Set([...consumers, ...(found?.keys() ?? [])] as Hex[]);
    addresses.delete(ownOf(network) ?? "0x");
    return [...addresses].map((address) => {
      const state = found?.get(address);
      const link = findLink(network, address);
      const hash = hashOf(link);
      return {
        network,
        address,
        onChain:
          found === undefined
            ? null
            : { vrf: state?.isOnVrf === true, functions: state?.isOnFunctions === true },
        ...(link === undefined ? {} : { linkedAt: link.updatedAt }),
        ...(hash === undefined ? {} : { transactionHash: hash }),
      };
    });
  });
  return { linked };
}

function hashOf(link: RequestRecord | undefined): Hex | undefined {
  return (link?.outcome as { readonly transactionHash?: Hex } | null | undefined)?.transactionHash;
}
