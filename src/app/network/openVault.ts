import { createGuardedFetch, createRequestBudget, type SandboxPool } from "../../../sandbox/index.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { ChainClient } from "../../evm/client.ts";
import { createAuthority } from "../../oracle/secrets/authority.ts";
import type { OpenSecrets } from "../../oracle/execute.ts";
import { createGatewayNetwork, type GatewayNetwork } from "../../oracle/secrets/gateway.ts";
import { createHolder, type Holder } from "../../oracle/secrets/holder.ts";
import type { ReportSigner } from "../../oracle/signer.ts";
import { createVault } from "../../oracle/secrets/vault.ts";
import { withOwnErrors } from "../../requests/accept/sandboxRuns.ts";
import type { SecretKeys } from "../../secrets/secretKeys.ts";
import { deleteExpiredSlots, deleteSlot, findSlot, listSlots, saveSlot } from "../../store/secrets.ts";
import type { Store } from "../../store/store.ts";

/** Limits for a document with secrets: they have at most some 10 kB, and a report waits for it. */
const DOCUMENT = { maxResponseBytes: 65_536, timeoutMs: 3_000 };

/** The vault of a network whose nodes are all in this process. */
export interface NetworkVault {
  readonly openRequest: OpenSecrets;
  readonly holder: Holder;
  readonly gateway: GatewayNetwork;
}

/** Opens the vault of a network whose nodes are all in this process. */
export function openVault(options: {
  readonly network: string;
  readonly chainId: number;
  readonly keys: SecretKeys;
  readonly client: Pick<ChainClient, "call">;
  readonly contracts: StackAddresses;
  readonly signers: readonly ReportSigner[];
  readonly store: Store;
  /** Runs sources with secrets for the service's dry runs. */
  readonly pool: SandboxPool;
  /** Hosts that are not public, and from which documents may come anyway. */
  readonly allowHosts: readonly string[];
}): NetworkVault {
  const { network, chainId, keys, client, contracts, store, allowHosts, signers } = options;
  const router = contracts.functionsRouter.toLowerCase() as typeof contracts.functionsRouter;
  const guarded = createGuardedFetch({ allowHosts });
  const authority = createAuthority({ client, router, subscriptionOwner: contracts.subscriptionOwner });
  const vault = createVault({
    keys,
    chainId,
    router,
    authority,
    slots: {
      save: (slot) => store.write((db) => saveSlot(db, { ...slot, network })),
      find: (owner, slotId) => findSlot(store.db, { network, owner, slotId }),
      list: (owner) => listSlots(store.db, network, owner),
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
  const holder = createHolder({ vault, runner: withOwnErrors(options.pool) });
  const gateway = createGatewayNetwork({ vault, holder, authority, signers });
  return { openRequest: vault.openRequest, holder, gateway };
}
