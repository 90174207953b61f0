import type { ExplorerNetwork, Verification } from "../../api/types.ts";
import { existsSync } from "node:fs";
import path from "node:path";
import type { Hex } from "viem";
import { createSandboxPool } from "../../../sandbox/index.ts";
import { MAX_RESPONSE_BYTES } from "../../domain/sourceLimit.ts";
import { UsageError } from "../../lib/usageError.ts";
import { createChainClient, type ChainClient } from "../../evm/client.ts";
import { RpcError, parseQuantity } from "../../lib/nodeAnswers.ts";
import { findProfile, profileOf } from "../../networks/profiles.ts";
import { openDappTools } from "./dappTools.ts";
import { TycheError } from "../../lib/errors.ts";
import { createSourceRunner } from "./runSource.ts";
import { findOutsideKey } from "../../lib/outsideSecret.ts";
import type { OracleContracts } from "../../chainlink/contractBook.ts";
import { parsePublished } from "../../verify/publishedContracts.ts";
import { createReadRecorder } from "../../verify/recordedReader.ts";
import { findPresetNames, loadPresets } from "../../presets/presetNames.ts";
import type { Preset } from "../../presets/preset.ts";
import { describeResult as describePresetResult } from "../../presets/readResult.ts";
import { findPresetFolders } from "../../requests/accept/presetFolder.ts";
import type { DrandChain } from "../../beacon/drand.ts";
import { createLocalBeacon } from "../../beacon/localBeacon.ts";
import { shorten } from "../../text/draw.ts";
import { readableTime } from "../../lib/time.ts";
import { fromHexText } from "../../lib/hex.ts";
import { splitAtHidden } from "../../lib/hiddenCharacters.ts";
import { nameLabel } from "../../domain/label.ts";
import { once } from "../../lib/memo.ts";
import { openDataDirectory } from "../../store/dataDirectory.ts";
import { beaconTermsOf, EMBEDDED_MARGIN_SECONDS } from "../../config/beaconSchema.ts";
import { readConfig } from "../../config/readConfig.ts";
import { localBeaconSeed } from "../network/networkKeys.ts";
import { OWN_NODE_SEARCH, type ChainReader, type SearchBounds } from "../../verify/chainFacts.ts";
import { describeDrawResult, findDraws, type DescribedDraw } from "../../verify/findDraws.ts";
import { verifyTransaction } from "../../verify/verifyTransaction.ts";

export interface VerifyToolOptions {
  /** Name of a known network or of one in the data directory; any other name if a node is given. */
  readonly network: string;
  /** Hash of the transaction, 32 bytes, or the label of a request in it. */
  readonly which: Hex | { readonly label: string };
  readonly requestId?: Hex;
  /** RPC URL of the node to ask. Default: the node that the data directory knows. */
  readonly rpcUrl?: string;
  /**
   * Addresses of the contracts as someone published them. Default: those in the data directory, or of the service; none if a node is
   * given.
   */
  readonly contracts?: unknown;
  readonly dataDir: string;
  /** The service whose word is taken for what is not given, in place of the data directory's. */
  readonly service?: {
    readonly origin: string;
    /** Reads what it publishes of its networks. */
    readonly networks: () => Promise<readonly ExplorerNetwork[]>;
  };
  /** Blocks in which further requests with a label are looked for. Default: all, as far as the node answers. */
  readonly labelSearch?: SearchBounds;
  /** Called with the chain data that was read, as JSON, whatever the checks find. */
  readonly onChainData?: (json: string) => Promise<void>;
  /**
   * Whether block hashes are recomputed. Default: true for an embedded network of the data directory or the service, else what is known of the
   * network or of its chain id.
   */
  readonly hasEthereumBlocks?: boolean;
}

/** Checks a transaction's results with its own sandbox, without a service. */
export async function verifyWithTool(options: VerifyToolOptions): Promise<Verification> {
  const { network, which, requestId, service, rpcUrl } = options;
  const published =
    rpcUrl === undefined && service !== undefined ? await readNetwork(service, network) : undefined;
  const isNamed = rpcUrl !== undefined || published !== undefined;
  const known = isNamed ? undefined : await findKnown(options.dataDir, network);
  const named = findProfile(network)?.chainId;
  const contractsGiven = options.contracts ?? published;
  const given =
    contractsGiven === undefined
      ? undefined
      : parsePublished(contractsGiven, { name: network, chainId: named });
  const client = createChainClient(rpcUrl ?? published?.rpcUrl ?? known!.rpcUrl);
  const recorder = createReadRecorder(client);
  const pool = createSandboxPool({ concurrency: 1, maxWorkers: 1 });
  const presets = once(() => loadPresets(findPresetFolders()));
  try {
    // A name of the caller's own says nothing of the chain: without the operator's word, it is the node's.
    const chainId = named ?? given?.chainId ?? (await readChainId(client));
    const profile = profileOf({ name: network, chainId });
    const contracts = given?.contracts ?? known?.contracts ?? {};
    const isEmbedded = known === undefined ? given?.isEmbedded : true;
    // A node of the caller's choice may be of the real network.
    const isEmbeddedNode = rpcUrl === undefined && isEmbedded === true;
    const labelSearch = {
      ...OWN_NODE_SEARCH,
      deploymentBlock: given?.deploymentBlock,
      ...options.labelSearch,
    };
    const tx =
      typeof which === "string"
        ? which
        : await findDraw(which.label, {
            network,
            client: recorder,
            chainId,
            contracts,
            presets: await presets(),
            ...labelSearch,
          });
    return await verifyTransaction(tx.toLowerCase() as Hex, {
      client: recorder,
      network,
      chainId,
      contracts,
      keyHashes: given?.keyHashes,
      isEmbedded,
      run: createSourceRunner(pool),
      caller: "verify",
      labelSearch,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      drandChains: [...(given?.drandChains ?? []), ...(known?.drandChains ?? [])],
      findPreset: async (sourceHash) => findPresetNames(await presets(), sourceHash),
      chainlinkCoordinator: profile.vrf25?.coordinator,
      ...(requestId === undefined ? {} : { requestId: requestId.toLowerCase() as Hex }),
      // The embedded chains have Ethereum's blocks, whatever network they stand in for.
      hasEthereumBlocks: options.hasEthereumBlocks ?? (isEmbeddedNode || profile.hasEthereumBlocks),
    });
  } catch (error) {
    // Whether nothing answers there or something else does, whoever typed the command chooses the node.
    if (error instanceof RpcError && !error.answered)
      throw new TycheError(
        known === undefined
          ? `${error.message}; ${published === undefined ? "check the URL of --rpc-url" : `the service at ${service!.origin} names this node: name another with --rpc-url`}`
          : `${error.message}; ${known.rpcUrl} answers only while the service runs: start it with tyche start, or name another node with --rpc-url`,
        { code: "chain_unavailable", blame: "upstream", retryable: true, cause: error },
      );
    throw error;
  } finally {
    await pool.close();
    await client.close();
    await options.onChainData?.(JSON.stringify(recorder.save()));
  }
}

/** Finds the only transaction that has requests with a label. */
async function findDraw(
  label: string,
  {
    presets,
    contracts,
    ...search
  }: SearchBounds & {
    readonly network: string;
    readonly client: ChainReader;
    readonly chainId: number;
    readonly contracts: Partial<OracleContracts>;
    /** Those whose results can be put in words. */
    readonly presets: readonly Preset[];
  },
): Promise<Hex> {
  const { network } = search;
  const presetConsumer = contracts.presetConsumer?.toLowerCase() as Hex | undefined;
  if (presetConsumer === undefined)
    throw new UsageError("a label is looked for at the operator's contract; give --contracts");
  const { transactionHashes, described, from, to, isWhole } = await findDraws(label, {
    ...search,
    contracts,
    presetConsumer,
    findPreset: (sourceHash) => findPresetNames(presets, sourceHash),
  });
  const [only, ...others] = transactionHashes;
  if (only !== undefined && others.length === 0) return only;
  const blocks = `blocks ${from} to ${to}${isWhole ? "" : ", not all of the chain"}`;
  if (only === undefined)
    throw new UsageError(
      `no request on ${network} has the label ${nameLabel(label)} (${blocks}): check label and network, ${isWhole ? "" : "search other blocks with --from-block and --to-block, "}or enter the transaction's hash or the result's link`,
    );
  const lines = transactionHashes.flatMap((hash, i) => [
    `${i + 1}. ${hash}`,
    ...(described[i] ?? []).map((draw) => `   ${nameDraw(draw, presets)}`),
  ]);
  throw new UsageError(
    `${transactionHashes.length} transactions have requests with the label ${nameLabel(label)} (${blocks}); give the hash of one, the oldest comes first:\n${lines.join("\n")}`,
  );
}

/** Says what a request asked for, what came of it, when and whose it is. */
function nameDraw(draw: DescribedDraw, presets: readonly Preset[]): string {
  const { kind, preset, args, result, dapp, requestedAt } = draw;
  const known = presets.find(({ name }) => name === preset?.name);
  const words =
    known === undefined || result === null || args === null
      ? undefined
      : describePresetResult(known, fromHexText(result as Hex), args);
  const parts = [
    preset?.name ?? kind,
    shorten(words ?? describeDrawResult(draw)),
    ...(requestedAt === null ? [] : [readableTime(requestedAt)]),
    dapp,
  ];
  return splitAtHidden(parts.join("  ")).join("");
}

async function readChainId(client: ChainClient): Promise<number> {
  return Number(parseQuantity(await client.request("eth_chainId"), "eth_chainId"));
}

/** Reads what a service publishes of a network. Throws if that is no node. */
async function readNetwork(
  { origin, networks }: NonNullable<VerifyToolOptions["service"]>,
  network: string,
): Promise<ExplorerNetwork & { readonly rpcUrl: string }> {
  const found = (await networks()).find(({ name }) => name === network);
  if (found === undefined) throw new UsageError(`the service at ${origin} has no network ${network}`);
  const { rpcUrl = "" } = found;
  if (/^https?:$/.test(URL.parse(rpcUrl)?.protocol ?? "")) return { ...found, rpcUrl };
  throw new UsageError(
    `the service at ${origin} publishes no node of ${network}: name one with --rpc-url, and the operator's addresses with --contracts`,
  );
}

interface KnownNetwork {
  readonly rpcUrl: string;
  readonly contracts: Partial<OracleContracts>;
  /** That of its local beacon, and that of the configuration. */
  readonly drandChains: readonly DrandChain[];
}

async function findKnown(dataDir: string, network: string): Promise<KnownNetwork> {
  if (!existsSync(path.join(dataDir, "tyche.sqlite")))
    throw new UsageError(
      `there is no service's state in ${dataDir}; start the service with tyche start, set TYCHE_DATA_DIR, or name a node with --rpc-url`,
    );
  const outsideKey = findOutsideKey(process.env);
  const tools = await openDappTools(dataDir, outsideKey);
  try {
    const networks = await tools.networks();
    const found = networks.find(({ name }) => name === network);
    if (found?.rpcUrl === undefined) {
      const names = networks.map(({ name }) => name).join(", ");
      throw new UsageError(
        `${network} was never started in ${dataDir}, which has ${names}; for another network, name a node with --rpc-url`,
      );
    }
    const { masterKey } = openDataDirectory(dataDir, { exclusive: false, masterKey: outsideKey });
    const { chain } = createLocalBeacon(localBeaconSeed(masterKey, network), EMBEDDED_MARGIN_SECONDS);
    const { config } = readConfig({ dataDir, environment: process.env });
    const configured = config.networks[network];
    const { beacon } = typeof configured === "object" ? configured : {};
    return {
      rpcUrl: found.rpcUrl,
      contracts: parsePublished(found.contracts, { name: network }).contracts,
      drandChains: [chain, beaconTermsOf(beacon, EMBEDDED_MARGIN_SECONDS).chain],
    };
  } finally {
    await tools.close();
  }
}
