import { createGuardedFetch, createRequestBudget } from "../../../sandbox/index.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { ChainClient } from "../../evm/client.ts";
import { createAuthority } from "../../oracle/secrets/authority.ts";
import { createVault, type Vault } from "../../oracle/secrets/vault.ts";
import type { SecretKeys } from "../../secrets/secretKeys.ts";
import { deleteExpiredSlots, findSlot, listSlots, saveSlot } from "../../store/secrets.ts";
import type { Store } from "../../store/store.ts";

/** Limits for a document with secrets: they have at most some 10 kB, and a report waits for it. */
const DOCUMENT = { maxResponseBytes: 65_536, timeoutMs: 3_000 };

/** Opens the vault of a network whose nodes are all in this process. */
export function openVault(options: {
  readonly network: string;
  readonly chainId: number;
  readonly keys: SecretKeys;
  readonly client: Pick<ChainClient, "call">;
  readonly contracts: StackAddresses;
  readonly store: Store;
  /** Hosts that are not public, and from which documents may come anyway. */
  readonly allowHosts: readonly string[];
}): Vault {
  const { network, chainId, keys, client, contracts, store, allowHosts } = options;
  const router = contracts.functionsRouter.toLowerCase() as typeof contracts.functionsRouter;
  const guarded = createGuardedFetch({ allowHosts });
  return createVault({
    keys,
    chainId,
    router,
    authority: createAuthority({ client, router, subscriptionOwner: contracts.subscriptionOwner }),
    slots: {
      save: (slot) => store.write((db) => saveSlot(db, { ...slot, network })),
      find: (owner, slotId) => findSlot(store.db, { network, owner, slotId }),
      list: (owner) => listSlots(store.db, network, owner),
      deleteExpired: (before) => store.writeSoon((db) => deleteExpiredSlots(db, network, before)),
    },
    async fetchText(url) {
      const outcome = await guarded.fetch({ url }, { budget: createRequestBudget(DOCUMENT) });
      if (!outcome.ok || outcome.response.status !== 200) throw new Error("no document");
      return new TextDecoder().decode(outcome.response.body);
    },
  });
}
