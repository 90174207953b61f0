import { existsSync } from "node:fs";
import { isAddress, type Hex } from "viem";
import { createSandboxNetwork, createSandboxPool, DEVELOPER_NETWORK } from "../sandbox/index.ts";
import { createChainClient } from "./chain/client.ts";
import { MAX_RESPONSE_BYTES, NETWORK_NAMES, NETWORKS } from "./chain/networks.ts";
import type { NetworkName } from "./chain/networks.ts";
import { openDappTools } from "./dappTools.ts";
import { TycheError } from "./lib/errors.ts";
import type { OracleContracts } from "./verify/contracts.ts";
import type { Verification } from "./verify/verification.ts";
import { verifyTransaction } from "./verify/verifyTransaction.ts";

/** Names of the networks. */
export { NETWORK_NAMES } from "./chain/networks.ts";

/** Options of {@link verifyWithTool}. */
export interface VerifyToolOptions {
  readonly network: NetworkName;
  /** Transaction hash, 32 bytes. */
  readonly tx: Hex;
  readonly requestId?: Hex;
  /** A node to ask. Default: the one that the data directory knows. */
  readonly rpcUrl?: string;
  /** Addresses of the contracts as somebody published them. Default: of the data directory, with a given node none. */
  readonly contracts?: unknown;
  readonly dataDir: string;
  /** Whether blocks are hashed again. Default true. */
  readonly hasEthereumBlocks?: boolean;
}

/** Checks a transaction's results with a sandbox of its own, without any service. */
export async function verifyWithTool(options: VerifyToolOptions): Promise<Verification> {
  const { network, tx, requestId, hasEthereumBlocks } = options;
  const known = options.rpcUrl === undefined ? await findKnown(options.dataDir, network) : undefined;
  const given = options.contracts === undefined ? undefined : parseContracts(options.contracts);
  const client = createChainClient(options.rpcUrl ?? known!.rpcUrl);
  const sandboxNetwork = createSandboxNetwork(DEVELOPER_NETWORK);
  const pool = createSandboxPool({ concurrency: 1, hostCalls: sandboxNetwork.hostCalls });
  try {
    return await verifyTransaction(tx.toLowerCase() as Hex, {
      client,
      network,
      chainId: NETWORKS[network].chainId,
      contracts: given ?? known?.contracts ?? {},
      isEmbedded: known === undefined ? undefined : true,
      run: pool.run,
      caller: "verify",
      maxResponseBytes: MAX_RESPONSE_BYTES.embedded,
      ...(requestId === undefined ? {} : { requestId: requestId.toLowerCase() as Hex }),
      ...(hasEthereumBlocks === undefined ? {} : { hasEthereumBlocks }),
    });
  } finally {
    sandboxNetwork.close();
    await pool.close();
    await client.close();
  }
}

interface KnownNetwork {
  readonly rpcUrl: string;
  readonly contracts: Partial<OracleContracts>;
}

async function findKnown(dataDir: string, network: NetworkName): Promise<KnownNetwork> {
  if (!existsSync(dataDir))
    throw new VerifyToolError(`there is no data directory ${dataDir}; name a node with --rpc-url`);
  const tools = await openDappTools(dataDir);
  try {
    const found = (await tools.networks()).find(({ name }) => name === network);
    if (found?.rpcUrl === undefined)
      throw new VerifyToolError(`${network} was never started in ${dataDir}; name a node with --rpc-url`);
    return { rpcUrl: found.rpcUrl, contracts: parseContracts(found.contracts) };
  } finally {
    await tools.close();
  }
}

/**
 * Reads addresses by their names, as `contracts` of `GET /api/networks` has them; others are passed over.
 *
 * @throws VerifyToolError when there is none, or one is no address.
 */
function parseContracts(given: unknown): Partial<OracleContracts> {
  const names = ["vrfCoordinator", "functionsRouter", "functionsCoordinator", "presetConsumer"] as const;
  const source = (typeof given === "object" && given !== null ? given : {}) as Readonly<
    Record<string, unknown>
  >;
  const entries = names.flatMap((name): [string, Hex][] => {
    const address = source[name];
    if (address === undefined) return [];
    if (typeof address !== "string" || !isAddress(address))
      throw new VerifyToolError(`${name} must be an address, not ${JSON.stringify(address)}`);
    return [[name, address]];
  });
  if (entries.length === 0) throw new VerifyToolError(`no address of ${names.join(", ")} is given`);
  return Object.fromEntries(entries);
}

/** Returns the name if it is one of a network. */
export function isNetworkName(name: string): name is NetworkName {
  return (NETWORK_NAMES as readonly string[]).includes(name);
}

/** The command can't be carried out as it was given. */
export class VerifyToolError extends TycheError {
  constructor(message: string) {
    super(message, { code: "invalid_parameter", blame: "caller" });
  }
}
