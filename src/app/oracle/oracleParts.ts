import { getAddress, type Hex } from "viem";
import { decodeFunctionsRequest } from "../../chainlink/functionsRequest.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { ChainClient } from "../../evm/client.ts";
import { MAX_RESPONSE_BYTES } from "../../domain/sourceLimit.ts";
import type { ContractsFile } from "../../networks/external/contractsFile.ts";
import { vrfOperatorsOf } from "../../networks/external/oracleIdentity.ts";
import { readGenesis } from "../../networks/external/externalNode.ts";
import { readFormerSet, readNodeSet } from "../../oracle/node/nodeSet.ts";
import type { OracleRequest } from "../../oracle/functions/oracleRequest.ts";
import type { OracleNode } from "../../oracle/node/oracleNode.ts";
import type { RoundJournal } from "../../oracle/node/roundJournal.ts";
import { signPersonal, type GatewayNetwork } from "../../oracle/secrets/gateway.ts";
import { createGatewayClient } from "../../oracle/secrets/gatewayClient.ts";
import { GatewayError } from "../../oracle/secrets/gatewayMessage.ts";
import { createSharedKeys } from "../../oracle/secrets/sharedKeys.ts";
import type { Oracle } from "../../oracle/oracle.ts";
import { saveEvidence } from "../../store/oracleEvidence.ts";
import { batchWrites } from "../../lib/batchWrites.ts";
import {
  appendRoundRecords,
  findNodeBinding,
  forgetRoundRecords,
  listRoundRecords,
  saveNodeBinding,
  type OracleRoundRecord,
} from "../../store/oracleRounds.ts";
import { findSetting, saveSetting } from "../../store/settings.ts";
import type { Store } from "../../store/store.ts";
import { openNodeVault, openVault } from "../network/openVault.ts";
import { deriveOracleKeys } from "../network/networkKeys.ts";
import {
  createNetworkOracle,
  createPartialOracle,
  type NetworkOracleOptions,
} from "../network/networkOracle.ts";
import { deriveNodeKeys, deriveVrfKeys, type NodeKeys, type OracleRole } from "./oracleRole.ts";
import { StartError } from "../startError.ts";

/** How long a node remembers what it said about a request: far longer than a request can wait or a reorg can reach back. */
const RECORDS_KEPT_MS = 7 * 86_400_000;

/** Creates the part of an oracle that a process runs; rejects while the chain can't tell who the nodes are. */
export type CreateOracle = (options: NetworkOracleOptions) => Promise<{
  readonly oracle: Oracle;
  /** What answers messages about secrets, if it holds any. */
  readonly gateway?: GatewayNetwork;
  /** Why nodes of several operators have no key for secrets yet. */
  readonly keyTrouble?: () => string | undefined;
}>;

export interface OracleOfRoleOptions {
  /** `undefined`: this process holds all keys. */
  readonly role: OracleRole | undefined;
  readonly network: string;
  readonly chainId: number;
  readonly masterKey: Uint8Array;
  /** The contracts file with its path, for messages; absent for a node that knows only its coordinator. */
  readonly contracts: { readonly file: ContractsFile; readonly path: string } | undefined;
  readonly store: Store;
  /** Hosts that are not public, and that sources may reach anyway. */
  readonly allowHosts: readonly string[];
  /** The configuration to whose nodes a node hands its share of the key for secrets on. */
  readonly handKeyOnTo: Hex | undefined;
}

/**
 * Finds a role's keys, and checks that the contracts are for them.
 *
 * @throws {StartError} when they are for others.
 */
export function oracleOfRole(options: OracleOfRoleOptions): CreateOracle {
  const { role, network, chainId, masterKey, contracts, store } = options;
  if (role?.role === "node") {
    const keys = deriveNodeKeys(masterKey, chainId);
    return async (served) => {
      await forgetOldRecords(store, served.client);
      const { functionsCoordinator } = served.contracts;
      const genesis = await readGenesis(served.client);
      await bindNode(store, { chainId, genesis, contracts: { functionsCoordinator } }, network);
      const readSet = () => readNodeSet(served.client, functionsCoordinator);
      const set = await readSet();
      const journalOf = (configDigest: Hex) => createJournal(store, network, configDigest);
      const { signer, saltOf } = keys;
      const secrets =
        contracts && openSharedSecrets({ ...options, ...served, keys, donId: contracts.file.donId });
      const oracle = createPartialOracle(served, (senderOf) => ({
        node: {
          chainId,
          set,
          readSet,
          signer,
          saltOf,
          journalOf,
          keepEvidence: (record) =>
            saveEvidence(store, {
              network,
              signer: record.signer,
              requestId: record.requestId,
              evidence: JSON.stringify(record),
            }),
          maxResponseBytes: MAX_RESPONSE_BYTES,
          transmitter: senderOf(keys.transmitter, "report"),
          ...secrets?.part,
        },
      }));
      if (secrets === undefined) return { oracle };
      const { gateway, keyTrouble, follow } = secrets;
      follow(oracle.node!);
      return { oracle, gateway, keyTrouble };
    };
  }
  if (contracts === undefined)
    throw new StartError(
      `networks.${network} names only a coordinator, which is enough only for an oracle node; name the contracts file`,
    );
  const keys = role === undefined ? deriveOracleKeys(masterKey, chainId) : deriveVrfKeys(masterKey, chainId);
  const keyHashes = vrfOperatorsOf(contracts.file.oracle).map(({ keyHash }) => keyHash);
  const { provingKey, vrfAccount } = "signers" in keys ? keys.vrf[0] : keys;
  const own = provingKey.keyHash;
  if (!keyHashes.includes(own))
    throw new StartError(
      `the contracts in ${contracts.path} are for another oracle (VRF key hash ${keyHashes.join(", ")}, and this data directory's is ${own}); use the data directory whose \`tyche oracle keys\` they were deployed with`,
    );
  if ("signers" in keys) {
    const { secretKeys } = contracts.file.oracle.functions;
    if (
      secretKeys !== undefined &&
      (["donPublicKey", "thresholdPublicKey"] as const).some(
        (name) => secretKeys[name] !== keys.secretKeys[name],
      )
    )
      throw new StartError(
        `the contracts in ${contracts.path} name other keys for secrets than this data directory's; put back what \`tyche network deploy\` wrote`,
      );
    return async (served) => {
      if (secretKeys === undefined) return { oracle: createNetworkOracle({ ...served, keys }) };
      const { openRequest, gateway } = openVault({
        ...options,
        ...served,
        keys: keys.secretKeys,
        signers: keys.signers,
      });
      return { oracle: createNetworkOracle({ ...served, keys, openSecrets: openRequest }), gateway };
    };
  }
  return async (served) => {
    const readSet = () => readNodeSet(served.client, served.contracts.functionsCoordinator);
    const set = await readSet();
    const oracle = createPartialOracle(served, (senderOf) => ({
      vrf: [{ key: provingKey, sender: senderOf(vrfAccount, "words") }],
      proofsFor: { set, readSet },
    }));
    return { oracle };
  };
}

/** Opens a node's part in the secrets of a network whose nodes belong to several operators. */
function openSharedSecrets(
  options: NetworkOracleOptions &
    Pick<OracleOfRoleOptions, "store" | "allowHosts" | "handKeyOnTo"> & {
      readonly keys: NodeKeys;
      readonly donId: string;
    },
) {
  const { network, chainId, contracts, store, keys, donId, client, handKeyOnTo, log, signal } = options;
  const { signer } = keys;
  const nameOf = (configDigest: Hex): string => `secrets of ${network} ${configDigest}`;
  let node: Pick<OracleNode, "findRequest"> | undefined;
  const requestOf = (requestId: Hex): OracleRequest => {
    const request = node?.findRequest(requestId);
    if (request === undefined) throw new GatewayError("the node does not see the request on chain");
    return request;
  };
  const sharedKeys = createSharedKeys({
    seed: keys.secretsSeed,
    chainId,
    coordinator: contracts.functionsCoordinator,
    address: signer.address,
    handKeyOnTo,
    readFormer: (former) => readFormerSet(client, contracts.functionsCoordinator, former),
    connect(set) {
      const clients = set.urls.map((oracleUrl, index) =>
        createGatewayClient({
          oracleUrl,
          donId,
          signers: [set.signers[index]!],
          receiver: set.signers[index]!,
          sign: (bytes) => signPersonal(bytes, signer),
        }),
      );
      return (index, method, payload, stop) => clients[index]!.ask(method, payload, stop);
    },
    records: {
      read: (configDigest) => findSetting(store.db, nameOf(configDigest)),
      save: (configDigest, record) => store.write((db) => saveSetting(db, nameOf(configDigest), record)),
    },
    assertSeen: (requestId) => void requestOf(requestId),
    async findNamed(requestId, digest) {
      const request = requestOf(requestId);
      return await vault.findNamed(decodeFunctionsRequest(request.data), request, digest);
    },
    findHeld: (owner, named) => vault.findHeld(owner, named),
    listNames: (after, limit) => vault.listNames(after, limit),
    keepRecalled: (recall) => vault.keepRecalled(recall),
    log,
    signal,
  });
  const vault = openNodeVault({ ...options, sharedKeys, signer });
  return {
    part: { openSecrets: vault.openRequest, onNodeSet: sharedKeys.join },
    gateway: vault.gateway,
    keyTrouble: sharedKeys.trouble,
    /** Gives shares for what this node sees on chain. */
    follow: (own: Pick<OracleNode, "findRequest">): void => void (node = own),
  };
}

/**
 * Deletes a node's old records, counting age by both its own clock and the chain's: a clock that is ahead must not erase what the node
 * said today.
 */
export async function forgetOldRecords(store: Store, client: Pick<ChainClient, "getHead">): Promise<void> {
  const head = await client.getHead("latest");
  if (head === undefined) return;
  const before = Math.min(Date.now(), 1_000 * Number(head.timestamp)) - RECORDS_KEPT_MS;
  await forgetRoundRecords(store.db, before);
}

/**
 * Binds a node's keys for a chain to one coordinator, permanently: the part of a report that the contract checks names neither the chain
 * nor the coordinator, so a report made for a second network could be used on the first.
 *
 * @throws {StartError} when they are bound to another one.
 */
export async function bindNode(
  store: Store,
  {
    chainId,
    genesis,
    contracts,
  }: {
    readonly chainId: number;
    readonly genesis: Hex;
    readonly contracts: Pick<StackAddresses, "functionsCoordinator">;
  },
  network: string,
): Promise<void> {
  const place = `${getAddress(contracts.functionsCoordinator)} on the chain with block 0 ${genesis}`;
  const bound = await findNodeBinding(store.db, chainId);
  if (bound === undefined) return saveNodeBinding(store, chainId, place);
  if (bound !== place)
    throw new StartError(
      `this node's key for chain ${chainId} signs for the coordinator ${bound}, but the coordinator of ${network} is ${place}: the contracts do not check which network a report was signed for, so a report signed for one could be used on the other; run a second node with its own data directory`,
    );
}

function createJournal(store: Store, network: string, configDigest: Hex): RoundJournal {
  // Under load, one body of messages advances dozens of rounds, each with its own record; this batches the writes.
  const append = batchWrites<OracleRoundRecord>((records) => appendRoundRecords(store, records));
  const keyOf = (requestId: Hex) => ({ network, configDigest, requestId });
  return {
    read: (requestId) => listRoundRecords(store.db, keyOf(requestId)),
    append: (requestId, record) => append({ ...keyOf(requestId), record }),
  };
}
