import { ContractRequestList } from "../../api/explorer.ts";
import type { ContractRequestView } from "../../api/types.ts";
import type { Explorer } from "../../explorer/explorer.ts";
import type { HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";
import type { OperatorPart } from "../operatorPart.ts";
import { parseBefore, UnreadableChainError } from "./explorer.ts";

/** `GET /api/contractRequests`: requests that the contracts of the key's dapp made on chain themselves. */
export function contractRequestsOperation(
  deps: HttpDeps,
  { explorer, readConfigVars }: Pick<OperatorPart, "readConfigVars"> & { readonly explorer: ContractReader },
): Operation {
  const { service } = deps;
  return createOperations(deps, { tag: "Requests" })({
    id: "listContractRequests",
    path: "/api/contractRequests",
    summary: "List requests of your own contracts",
    description:
      "The requests that consumer contracts made themselves on the dapp's subscriptions, newest first, page by page, each with its outcome. " +
      "They exist only on chain: `GET /api/requests` and `GET /api/usage` don't include them. A page may be empty although older pages " +
      "are not: `searched` has the blocks that the page covers.",
    request: "contractRequests",
    answer: ContractRequestList,
    errors: ["chain_unavailable"],
    async run({ dapp, values: { network, before } }) {
      const cursor = parseBefore(before);
      const { networks } = await readConfigVars(dapp.id);
      const { vrfSubscriptionId: vrf, functionsSubscriptionId: functions } =
        networks.find((one) => one.network === network) ?? {};
      if (vrf === undefined || functions === undefined)
        return { network, items: [], searched: null, older: null };
      const ids = { vrf: BigInt(vrf), functions: BigInt(functions) };
      const [list, spent] = await Promise.all([
        explorer.findContractRequests(network, ids, cursor),
        service.findSpentBudget(dapp, network),
      ]);
      if (list === undefined) {
        const view = service.findNetwork(network);
        throw new UnreadableChainError(view?.title ?? network, view?.statusDetail ?? "it is starting");
      }
      return spent === undefined ? list : { ...list, items: list.items.map(addReason(spent)) };
    },
  });
}

/** Adds to what a waiting request waits for that the budget is used up. */
function addReason(spent: string) {
  return (item: ContractRequestView): ContractRequestView =>
    item.state === "waiting"
      ? { ...item, waitsFor: item.waitsFor === undefined ? spent : `${item.waitsFor}; ${spent}` }
      : item;
}

type ContractReader = Pick<Explorer, "findContractRequests">;
