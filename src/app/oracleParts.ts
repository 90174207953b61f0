import type { Hex } from "viem";
import type { ContractsFile } from "../networks/external/contractsFile.ts";
import { readNodeSet } from "../oracle/node/nodeSet.ts";
import type { RoundJournal } from "../oracle/node/roundJournal.ts";
import type { Oracle } from "../oracle/oracle.ts";
import {
  appendRoundRecord,
  findNodeBinding,
  forgetRoundRecords,
  listRoundRecords,
  saveNodeBinding,
} from "../store/oracleRounds.ts";
import type { Store } from "../store/store.ts";
import { deriveOracleKeys } from "./networkKeys.ts";
import { createNetworkOracle, createPartialOracle, type NetworkOracleOptions } from "./networkOracle.ts";
import { deriveNodeKeys, deriveVrfKeys, type OracleRole } from "./oracleRole.ts";
import { StartError } from "./startError.ts";

/** How long a node remembers what it said of a request: far longer than a request may wait and a chain may be reorganised. */
const RECORDS_KEPT_MS = 7 * 86_400_000;

/** Creates the part of an oracle that a process runs; rejects while the chain can't tell who the nodes are. */
export type CreateOracle = (options: NetworkOracleOptions) => Promise<Oracle>;

/** Options of {@link oracleOfRole}. */
export interface OracleOfRoleOptions {
  /** `undefined`: all keys are this process's. */
  readonly role: OracleRole | undefined;
  readonly network: string;
  readonly masterKey: Uint8Array;
  readonly file: ContractsFile;
  /** Path of the contracts file, for messages. */
  readonly path: string;
  readonly store: Store;
}

/**
 * Finds the keys of a role, and whether the contracts are for them.
 *
 * @throws {StartError} when they are for others.
 */
export function oracleOfRole({
  role,
  network,
  masterKey,
  file,
  path,
  store,
}: OracleOfRoleOptions): CreateOracle {
  const refuse = (what: string, own: string): never => {
    throw new StartError(
      `the contracts in ${path} are for another oracle (${what}, and this data directory's is ${own}); use the data directory whose \`tyche oracle keys\` they were deployed with`,
    );
  };
  const { chainId, oracle } = file;
  const { keyHash } = oracle.vrf;
  if (role?.role === "node") {
    const keys = deriveNodeKeys(masterKey, chainId);
    const { signers } = oracle.functions;
    if (!signers.includes(keys.signer.address)) refuse(`signers ${signers.join(", ")}`, keys.signer.address);
    return async (options) => {
      await forgetRoundRecords(store.db, Date.now() - RECORDS_KEPT_MS);
      const set = await readNodeSet(options.client, file.contracts.functionsCoordinator);
      if (!set.signers.includes(keys.signer.address))
        throw new StartError(
          `${keys.signer.address} is no signer of the coordinator's present configuration`,
        );
      const journal = createJournal(store, network, set.configDigest);
      const { signer, saltOf } = keys;
      const { maxResponseBytes } = options;
      return createPartialOracle(options, (senderOf) => ({
        node: {
          chainId,
          set,
          signer,
          saltOf,
          journal,
          maxResponseBytes,
          transmitter: senderOf(keys.transmitter, "report"),
        },
      }));
    };
  }
  const keys = role === undefined ? deriveOracleKeys(masterKey, chainId) : deriveVrfKeys(masterKey, chainId);
  if (keys.provingKey.keyHash !== keyHash) refuse(`VRF key hash ${keyHash}`, keys.provingKey.keyHash);
  if ("signers" in keys) return async (options) => createNetworkOracle({ ...options, keys });
  return async (options) =>
    createPartialOracle(options, (senderOf) => ({
      vrf: { key: keys.provingKey, senders: [senderOf(keys.vrfAccount, "words")] },
    }));
}

/**
 * Binds a node's keys of a chain to one coordinator, for good: a report that they sign holds neither the chain nor the coordinator in
 * what the contract checks, so one made for a second network could be used on the first.
 *
 * @throws {StartError} when they are bound to another one.
 */
export async function bindNode(
  store: Store,
  { chainId, genesis, contracts }: Pick<ContractsFile, "chainId" | "genesis" | "contracts">,
  network: string,
): Promise<void> {
  const place = `${contracts.functionsCoordinator} on the chain with block 0 ${genesis}`;
  const bound = await findNodeBinding(store.db, chainId);
  if (bound === undefined) return saveNodeBinding(store, chainId, place);
  if (bound !== place)
    throw new StartError(
      `this node's key of chain ${chainId} signs for the coordinator ${bound}, and ${network} has the coordinator ${place}: the contracts do not check which network a report was signed for, so a key that signs for two lets reports of one be used on the other; run a second node, with a data directory of its own`,
    );
}

function createJournal(store: Store, network: string, configDigest: Hex): RoundJournal {
  const keyOf = (requestId: Hex) => ({ network, configDigest, requestId });
  return {
    read: (requestId) => listRoundRecords(store.db, keyOf(requestId)),
    append: (requestId, record) => appendRoundRecord(store, keyOf(requestId), record),
  };
}
