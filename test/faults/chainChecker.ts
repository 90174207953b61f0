import { AbiCoder, getBytes, hexlify, Interface, JsonRpcProvider, keccak256, type Log } from "ethers";

/**
 * Checks what the service said against what the chain holds. It shares no code with the service: another library reads the chain, events
 * are declared here from the contracts' sources, and words are derived independently.
 */

/** A network as `GET /api/networks` returns it. */
export interface CheckedNetwork {
  readonly name: string;
  readonly rpcUrl: string;
  readonly contracts: Readonly<Record<"vrfCoordinator" | "functionsRouter" | "presetConsumer", string>>;
}

/** A request as `GET /api/requests/{id}` returns it. */
export interface CheckedRequest {
  readonly id: string;
  readonly kind: "preset" | "random" | "function";
  readonly network: string;
  readonly state: string;
  readonly params: { readonly numWords?: number };
  readonly outcome: {
    readonly success: boolean;
    readonly requestId: string;
    readonly result?: string;
    readonly randomNumber?: readonly string[];
  } | null;
}

const EVENTS = new Interface([
  "event RandomWordsRequested(bytes32 indexed keyHash, uint256 requestId, uint256 preSeed, uint64 indexed subId, uint16 minimumRequestConfirmations, uint32 callbackGasLimit, uint32 numWords, address indexed sender)",
  "event RandomWordsFulfilled(uint256 indexed requestId, uint256 outputSeed, uint96 payment, bool success)",
  "event RequestStart(bytes32 indexed requestId, bytes32 indexed donId, uint64 indexed subscriptionId, address subscriptionOwner, address requestingContract, address requestInitiator, bytes data, uint16 dataVersion, uint32 callbackGasLimit, uint96 estimatedTotalCostJuels)",
  "event BatchRequested(uint256 indexed vrfRequestId, bytes batch)",
  "event BatchReported(uint256 indexed vrfRequestId, bytes results)",
  "event RequestProcessed(bytes32 indexed requestId, uint64 indexed subscriptionId, uint96 totalCostJuels, address transmitter, uint8 resultCode, bytes response, bytes err, bytes callbackReturnData)",
]);
/** Number of blocks whose logs one call reads. */
const SLICE_BLOCKS = 100;

/**
 * Compares the requests of one network with its chain.
 *
 * @returns a sentence for each breach; empty if everything announced is on chain, exactly once.
 */
export async function checkChain(
  network: CheckedNetwork,
  requests: readonly CheckedRequest[],
): Promise<readonly string[]> {
  const provider = new JsonRpcProvider(network.rpcUrl, undefined, { staticNetwork: true, batchMaxCount: 1 });
  try {
    const logs = await readLogs(provider, network);
    return compare(
      network,
      logs,
      requests.filter((request) => request.network === network.name),
    );
  } finally {
    provider.destroy();
  }
}

interface ChainLogs {
  /** Number of words that the service's own consumer requested, by request id. */
  readonly requestedWords: Map<string, number>;
  /** Ids of the presets and function requests of the service's own consumer. */
  readonly requestedRuns: Set<string>;
  /** Output seeds of the fulfillments, by request id. */
  readonly words: Map<string, bigint[]>;
  readonly results: Map<string, { readonly code: number; readonly response: string }[]>;
}

async function readLogs(provider: JsonRpcProvider, { contracts }: CheckedNetwork): Promise<ChainLogs> {
  const found: ChainLogs = {
    requestedWords: new Map(),
    requestedRuns: new Set(),
    words: new Map(),
    results: new Map(),
  };
  const head = await provider.getBlockNumber();
  const address = [contracts.vrfCoordinator, contracts.functionsRouter, contracts.presetConsumer];
  const isOurs = (sender: unknown): boolean =>
    String(sender).toLowerCase() === contracts.presetConsumer.toLowerCase();
  for (let fromBlock = 0, toBlock = 0; fromBlock <= head; fromBlock = toBlock + 1) {
    // Alone: a range that ends in a block which Anvil is still storing has no logs at all.
    toBlock = fromBlock === head ? head : Math.min(head - 1, fromBlock + SLICE_BLOCKS - 1);
    for (const log of await provider.getLogs({ address, fromBlock, toBlock })) take(found, log, isOurs);
  }
  return found;
}

function take(found: ChainLogs, log: Log, isOurs: (sender: unknown) => boolean): void {
  const event = EVENTS.parseLog(log);
  if (event === null) return;
  const { args } = event;
  if (event.name === "RandomWordsRequested" && isOurs(args["sender"]))
    found.requestedWords.set(toHash(args["requestId"] as bigint), Number(args["numWords"]));
  if (event.name === "RequestStart" && isOurs(args["requestingContract"]))
    found.requestedRuns.add(String(args["requestId"]));
  if (event.name === "BatchRequested") {
    const vrfRequestId = args["vrfRequestId"] as bigint;
    // Its words are for presets, which are counted themselves.
    found.requestedWords.delete(toHash(vrfRequestId));
    for (let i = 0; i < countItems(String(args["batch"])); i += 1)
      found.requestedRuns.add(presetId(vrfRequestId, i));
  }
  if (event.name === "BatchReported") {
    const results = splitResults(String(args["results"]));
    for (const [i, result] of results.entries())
      append(found.results, presetId(args["vrfRequestId"] as bigint, i), result);
  }
  if (event.name === "RandomWordsFulfilled")
    append(found.words, toHash(args["requestId"] as bigint), args["outputSeed"] as bigint);
  if (event.name === "RequestProcessed")
    append(found.results, String(args["requestId"]), {
      code: Number(args["resultCode"]),
      response: String(args["response"]),
    });
}

function compare(
  { name }: CheckedNetwork,
  chain: ChainLogs,
  requests: readonly CheckedRequest[],
): readonly string[] {
  const breaches: string[] = [];
  let [words, runs, fulfilledWords, fulfilledRuns] = [0, 0, 0, 0];
  for (const request of requests) {
    const isFulfilled = request.state === "fulfilled" && request.outcome?.success === true;
    const count = request.kind === "random" ? (request.params.numWords ?? 1) : 0;
    words += count;
    if (request.kind !== "random") runs += 1;
    if (!isFulfilled) continue;
    fulfilledWords += count;
    if (request.kind !== "random") fulfilledRuns += 1;
    const breach = request.kind === "random" ? checkWords(chain, request) : checkResult(chain, request);
    if (breach !== undefined) breaches.push(`${name}: ${request.id} (${request.kind}) ${breach}`);
  }
  // A request that can never be answered may have been sent again, but only one of the two has an answer.
  const answeredWords = [...chain.requestedWords]
    .filter(([id]) => chain.words.has(id))
    .reduce((sum, [, numWords]) => sum + numWords, 0);
  const answeredRuns = [...chain.requestedRuns].filter((id) => chain.results.has(id)).length;
  if (answeredWords > words)
    breaches.push(`${name}: ${answeredWords} words are on chain, and callers asked for ${words}`);
  if (answeredRuns > runs)
    breaches.push(`${name}: ${answeredRuns} results are on chain, and callers asked for ${runs}`);
  if (answeredWords < fulfilledWords)
    breaches.push(`${name}: ${fulfilledWords} words were told, and ${answeredWords} are on chain`);
  if (answeredRuns < fulfilledRuns)
    breaches.push(`${name}: ${fulfilledRuns} results were told, and ${answeredRuns} are on chain`);
  return breaches;
}

function checkResult(chain: ChainLogs, { outcome }: CheckedRequest): string | undefined {
  const results = chain.results.get(outcome!.requestId) ?? [];
  if (results.length !== 1) return `has ${results.length} results on chain`;
  const { code, response } = results[0]!;
  if (code !== 0) return `was told as fulfilled, and has result code ${code} on chain`;
  return response === outcome!.result
    ? undefined
    : `is ${outcome!.result} by the API and ${response} on chain`;
}

function checkWords(chain: ChainLogs, { outcome }: CheckedRequest): string | undefined {
  if (!chain.requestedWords.has(outcome!.requestId)) return "was never asked for on chain";
  const seeds = chain.words.get(outcome!.requestId) ?? [];
  if (seeds.length !== 1) return `was fulfilled ${seeds.length} times on chain`;
  const differs = outcome!.randomNumber!.some((word, i) => BigInt(word) !== wordOf(seeds[0]!, i));
  return differs ? "has other words on chain" : undefined;
}

/** VRFCoordinatorV2: randomWords[i] = keccak256(abi.encode(randomness, i)). */
function wordOf(outputSeed: bigint, i: number): bigint {
  return BigInt(keccak256(AbiCoder.defaultAbiCoder().encode(["uint256", "uint256"], [outputSeed, i])));
}

/** PresetConsumer: the id of item `i` of a batch. */
function presetId(vrfRequestId: bigint, i: number): string {
  return keccak256(AbiCoder.defaultAbiCoder().encode(["uint256", "uint256"], [vrfRequestId, i]));
}

/** PresetConsumerBase.sol, `PresetCall.batch`: uint16 source ‖ uint8 n ‖ [uint16 n, if that is 255] ‖ n bytes. */
function countItems(batch: string): number {
  const bytes = getBytes(batch);
  let items = 0;
  for (let at = 0; at < bytes.length; items += 1) {
    const n = bytes[at + 2]!;
    at += n < 255 ? 3 + n : 5 + bytes[at + 3]! * 256 + bytes[at + 4]!;
  }
  return items;
}

/** PresetConsumerBase.sol, `SignedReport.report`: uint16 n, or 0x8000 + n for an error, ‖ n bytes. */
function splitResults(packed: string): { readonly code: number; readonly response: string }[] {
  const bytes = getBytes(packed);
  const results: { readonly code: number; readonly response: string }[] = [];
  for (let at = 0; at < bytes.length;) {
    const head = bytes[at]! * 256 + bytes[at + 1]!;
    const end = at + 2 + (head & 0x7fff);
    results.push({ code: head >> 15, response: hexlify(bytes.subarray(at + 2, end)) });
    at = end;
  }
  return results;
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function toHash(id: bigint): string {
  return `0x${id.toString(16).padStart(64, "0")}`;
}
