import { createGuardedFetch, createRequestBudget, type SandboxPool } from "../../../sandbox/index.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { ChainClient } from "../../evm/client.ts";
import { createAuthority } from "../../oracle/secrets/authority.ts";
import { createGatewayNetwork, type GatewayNetwork } from "../../oracle/secrets/gateway.ts";
import { GatewayError } from "../../oracle/secrets/gatewayMessage.ts";
import { createHolder } from "../../oracle/secrets/holder.ts";
import type { ReportSigner } from "../../oracle/signer.ts";
import type { SharedKeys } from "../../oracle/secrets/sharedKeys.ts";
import { createVault, type Vault } from "../../oracle/secrets/vault.ts";
import { withOwnErrors } from "../../requests/accept/sandboxRuns.ts";
import type { SecretKeys } from "../../secrets/secretKeys.ts";
import {
  claimCiphertext,
  deleteExpiredSlots,
  deleteSlot,
  findSlot,
  listSlotNames,
  listSlots,
  saveSlot,
} from "../../store/secrets.ts";
import type { Store } from "../../store/store.ts";
import type { OracleSecrets } from "./connectSecrets.ts";

/** Limits for a document with secrets: they have at most some 10 kB, and a report waits for it. */
const DOCUMENT = { maxHttpResponseBytes: 65_536, maxHttpDurationMs: 3_000 };

interface VaultOptions {
  readonly network: string;
  readonly chainId: number;
  readonly client: Pick<ChainClient, "call" | "getHead">;
  readonly contracts: StackAddresses;
  readonly store: Store;
  /** Hosts that are not public, and from which documents may come anyway. */
  readonly allowHosts: readonly string[];
}

/** Opens the vault of a network whose nodes are all in this process. */
export function openVault(
  options: VaultOptions & {
    readonly keys: SecretKeys;
    readonly signers: readonly ReportSigner[];
    /** Runs sources with secrets for the service's dry runs. */
    readonly pool: SandboxPool;
  },
): OracleSecrets & Pick<Vault, "openRequest"> {
  const { keys, signers, pool } = options;
  const { vault, authority } = createNetworkVault({ ...options, openerFor: () => keys });
  const holder = createHolder({ vault, threshold: keys.threshold, runner: withOwnErrors(pool) });
  const gateway = createGatewayNetwork({ vault, holder, authority, signers });
  return { openRequest: vault.openRequest, holder, gateway };
}

/** Opens the vault of one node among those of several operators. */
export function openNodeVault(
  options: VaultOptions & { readonly sharedKeys: SharedKeys; readonly signer: ReportSigner },
): Pick<Vault, "openRequest" | "findNamed" | "findHeld" | "listNames" | "keepRecalled"> & {
  readonly gateway: GatewayNetwork;
} {
  const { sharedKeys, signer } = options;
  const { openerFor, parse, recall } = sharedKeys;
  const { vault, authority } = createNetworkVault({ ...options, openerFor, parse, recall });
  const refuse = async (): Promise<never> => {
    throw new GatewayError("the nodes open secrets only for requests on chain");
  };
  const holder = { keep: vault.keep, drop: vault.drop, describe: refuse, run: refuse };
  return {
    ...vault,
    gateway: createGatewayNetwork({ vault, holder, authority, signers: [signer], sharedKeys }),
  };
}

function createNetworkVault(
  options: VaultOptions & Pick<Parameters<typeof createVault>[0], "openerFor" | "parse" | "recall">,
) {
  const { network, chainId, client, contracts, store, allowHosts } = options;
  const router = contracts.functionsRouter.toLowerCase() as typeof contracts.functionsRouter;
  const guarded = createGuardedFetch({ allowHosts });
  const { subscriptionOwner } = contracts;
  const authority = createAuthority({ client, chainId, router, subscriptionOwner });
  const vault = createVault({
    ...options,
    router,
    authority,
    slots: {
      save: (slot) => store.write((db) => saveSlot(db, { ...slot, network })),
      claim: (u, owner) => store.write((db) => claimCiphertext(db, { network, u, owner })),
      find: (owner, slotId) => findSlot(store.db, { network, owner, slotId }),
      list: (owner) => listSlots(store.db, network, owner),
      listNames: (page) => listSlotNames(store.db, { network, ...page }),
      delete: (owner, slotIds) =>
        store.erase(() =>
          store.write(async (db) => {
            for (const slotId of slotIds) await deleteSlot(db, { network, owner, slotId });
          }),
        ),
      deleteExpired: (before) => store.writeSoon((db) => deleteExpiredSlots(db, network, before)),
    },
    async fetchText(url) {
      const outcome = await guarded.fetch({ url }, { budget: createRequestBudget(DOCUMENT) });
      if (!outcome.ok || outcome.response.status !== 200) throw new Error("no document");
      return new TextDecoder().decode(outcome.response.body);
    },
  });
  return { vault, authority };
}
