import type { ChainData, Verification } from "../api/types.ts";
import type { Hex } from "viem";
import { TycheError } from "../lib/errors.ts";
import type { ChainReader, SearchBounds } from "./chainFacts.ts";
import { createReadRecorder } from "./recordedReader.ts";
import type { ExecutionOptions } from "./executionStep.ts";
import { verifyTransaction, type FindPreset, type VerifyOptions } from "./verifyTransaction.ts";

/** Most that is read of a chain for strangers, who check elsewhere: some blocks with their receipts. */
const RECORD_LIMITS = { timeMs: 20_000, chars: 16 * 1_048_576 };

/** A network whose results can be checked. */
export type VerifiableNetwork = Pick<
  VerifyOptions,
  | "client"
  | "chainId"
  | "contracts"
  | "keyHashes"
  | "maxResponseBytes"
  | "isEmbedded"
  | "hasEthereumBlocks"
  | "chainlinkCoordinator"
  | "drandChains"
  | "findRecordedCallbacks"
> &
  Pick<SearchBounds, "deploymentBlock">;

/** What to check. */
export interface VerifyRequest {
  /** Name of the network. */
  readonly network: string;
  /** Transaction hash, 32 bytes. */
  readonly tx: Hex;
  /** Only this request: a preset, a function, or all that share a VRF request. */
  readonly requestId?: Hex;
  /** First and last block in which further requests with a label are looked for. Default: those of the chain. */
  readonly fromBlock?: number;
  readonly toBlock?: number;
  /** The sandbox's fairness key. */
  readonly caller: string;
  /** Cancels runs of sources; the verification then fails. */
  readonly signal?: AbortSignal;
}

/** Checks results on the networks being served. */
export interface Verifier {
  /** Throws what {@link verifyTransaction} throws, and `chain_unavailable`. */
  verify(request: VerifyRequest): Promise<Verification>;
  /**
   * Reads what a check of one request reads, for strangers who make the check themselves. It runs no source. Throws what
   * {@link Verifier.verify} throws.
   */
  record(request: Required<Pick<VerifyRequest, "network" | "tx" | "requestId">>): Promise<ChainData>;
}

/** Creates a verifier. `findNetwork` returns `undefined` for a network that is not being served. */
export function createVerifier(options: {
  readonly findNetwork: (name: string) => VerifiableNetwork | undefined;
  /** Returns a network's node for strangers, whose calls are limited. */
  readonly findPublicNode: (name: string) => ChainReader | undefined;
  readonly run: ExecutionOptions["run"];
  /** See {@link VerifyOptions.findPreset}. */
  readonly findPreset: FindPreset;
}): Verifier {
  const getNetwork = (name: string): VerifiableNetwork => {
    const found = options.findNetwork(name);
    if (found === undefined)
      throw new TycheError(`${name} does not serve now; try again later.`, {
        code: "chain_unavailable",
        blame: "upstream",
        retryable: true,
      });
    return found;
  };
  return {
    async record({ network, tx, requestId }) {
      const found = getNetwork(network);
      const recorder = createReadRecorder(options.findPublicNode(network) ?? found.client);
      await verifyTransaction(tx, {
        ...found,
        client: recorder,
        // What the service recorded would stand for calls that the check elsewhere makes.
        findRecordedCallbacks: undefined,
        searchesInParts: found.isEmbedded,
        labelSearch: { deploymentBlock: found.deploymentBlock },
        network,
        run: () => Promise.resolve({ kind: "skipped", reason: "it runs elsewhere", touched: [] }),
        caller: "record",
        requestId,
        readingLimits: RECORD_LIMITS,
      });
      return recorder.save();
    },
    async verify({ network, tx, requestId, fromBlock, toBlock, caller, signal }) {
      const found = getNetwork(network);
      return verifyTransaction(tx.toLowerCase() as Hex, {
        ...found,
        searchesInParts: found.isEmbedded,
        labelSearch: {
          deploymentBlock: found.deploymentBlock,
          fromBlock: fromBlock === undefined ? undefined : BigInt(fromBlock),
          toBlock: toBlock === undefined ? undefined : BigInt(toBlock),
        },
        findPreset: options.findPreset,
        network,
        run: signal === undefined ? options.run : (source) => options.run({ ...source, signal }),
        caller: `verify ${caller}`,
        ...(requestId === undefined ? {} : { requestId: requestId.toLowerCase() as Hex }),
      });
    },
  };
}
