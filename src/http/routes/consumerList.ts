import { ConsumerList } from "../../api/operator.ts";
import type { ConsumerList as Consumers, Hex, NetworkView } from "../../api/types.ts";
import type { Dapp, RequestRecord, Service } from "../../requests/service.ts";
import { getDapp, type HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { Operation } from "../operation.ts";
import type { OperatorPart } from "../operatorPart.ts";
import { readQuery } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";

/** How many links are searched for the transaction of each contract. */
const LINKS_READ = 100;

/** `GET /api/vrfv2/consumers`: the contracts that are linked to the subscriptions of the key's dapp. */
export function ownConsumersOperation({ service, schemas }: HttpDeps, part: OperatorPart): Operation {
  return {
    id: "listOwnConsumers",
    method: "get",
    path: "/api/vrfv2/consumers",
    tag: "Randomness",
    summary: "List your consumers",
    description:
      "The contracts that are linked to the dapp's subscriptions, as the chains have them: at most 99 on each network.",
    request: "consumers",
    placement: "query",
    answer: ConsumerList,
    isAsync: false,
    errors: [],
    async handle(ctx) {
      const { network } = parseRequest(readQuery(ctx), schemas().validate.consumers);
      const { linked } = await listConsumers(getDapp(ctx), { service, part });
      const wanted = linked.filter((one) => network === undefined || one.network === network);
      sendJson(ctx, 200, { data: { linked: wanted } });
    },
  };
}

/**
 * Lists a dapp's contracts as they are linked on the chains. An unreachable chain doesn't hide the others'
 * contracts.
 */
export async function listConsumers(
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
  const ownOf = (network: string): Hex | undefined =>
    service.networks().find(({ name }: NetworkView) => name === network)?.contracts.presetConsumer;
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
