import { NetworkView, PresetView } from "../../api/catalogue.ts";
import { listOf } from "../../api/common.ts";
import { FundedAccount, ServiceInfo } from "../../api/operator.ts";
import { FUNDED_ACCOUNTS } from "../../dapps/faucet.ts";
import { version } from "../../lib/version.ts";
import type { HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";

/** What the service offers: presets, networks, accounts with coin on embedded chains, and its version. */
export function catalogueOperations(deps: HttpDeps): readonly Operation[] {
  const operation = createOperations(deps, { tag: "Catalogue", access: "anybody" });
  return [
    operation({
      id: "listPresets",
      path: "/api/presets",
      summary: "List presets",
      description: "The presets that are installed, with the JSON Schemas of their parameters.",
      answer: listOf(PresetView),
      run: () => ({ items: deps.service.presets() }),
    }),
    operation({
      id: "listNetworks",
      path: "/api/networks",
      summary: "List networks",
      description:
        "The networks served, with their limits, contract addresses and status, and the oracle's nodes where several operators run them.",
      answer: listOf(NetworkView),
      run: async () => ({ items: await deps.service.networksWithNodes() }),
    }),
    operation({
      id: "listFundedAccounts",
      path: "/api/faucet/accounts",
      summary: "List funded accounts",
      description:
        "Accounts that hold coin on every embedded chain from its first block on. Their keys are public.",
      answer: listOf(FundedAccount),
      run: () => ({ items: [...FUNDED_ACCOUNTS] }),
    }),
    operation({
      id: "getInfo",
      path: "/api/info",
      summary: "Read the version",
      description: "Version of the service.",
      answer: ServiceInfo,
      run: () => ({ version }),
    }),
  ];
}
