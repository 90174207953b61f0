import type { OracleNodeView } from "../../src/api/types.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keccak256, stringToHex, type Hex } from "viem";
import { vi } from "vitest";
import { createDailyBudget, type BudgetLimits } from "../../src/dapps/dailyBudget.ts";
import { createChainClient } from "../../src/evm/client.ts";
import { decodeLog, type ChainEvent, type ChainEventOf } from "../../src/chainlink/events.ts";
import { createSender } from "../../src/evm/sender.ts";
import type { Pipelining } from "../../src/evm/pipelining.ts";
import { createFinality } from "../../src/evm/finality.ts";
import { createChainWatcher } from "../../src/evm/watcher.ts";
import type { BeaconTerms } from "../../src/beacon/drand.ts";
import { createId } from "../../src/domain/id.ts";
import { createOracle, type Oracle } from "../../src/oracle/oracle.ts";
import { createReportSigner } from "../../src/oracle/signer.ts";
import { connectExternal } from "../../src/networks/external/externalNode.ts";
import { NETWORKS } from "../../src/networks/profiles.ts";
import { openRequestPipeline, type RequestPipeline } from "../../src/requests/requestPipeline.ts";
import { createRequestBook } from "../../src/requests/requestBook.ts";
import type { OpenRequest } from "../../src/requests/openRequest.ts";
import { createAccountWatch } from "../../src/requests/takeover/accountWatch.ts";
import { findRequest, type StoredRequest } from "../../src/store/requests.ts";
import { insertDapp } from "../../src/store/dapps.ts";
import type { Fence } from "../../src/store/leases.ts";
import { isEnded, type RequestKind } from "../../src/domain/vocabulary.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore } from "../../src/store/store.ts";
import { createTestRunner } from "../oracle/support/runner.ts";
import type { Account } from "../../src/evm/account.ts";
import { startFaultyNode } from "./faultyNode.ts";
import { readLogs } from "./readLogs.ts";
import { testAccount } from "./anvil.ts";
import { FURTHER_PROVING_KEYS, startTestStack, TEST_PROVING_KEY, TEST_ROLES } from "./stack.ts";
import { fixedFees, type Fees } from "../../src/evm/fees.ts";

export const DESK_NETWORK = "sepolia";
export const DESK_DAPP = "dapp_test";
/** Derives a number from its word, so that two words give two results. */
export const PRESET_SOURCE = "return Buffer.from(bytesArgs[0].slice(2), 'hex')";
const SOURCE_HASH = keccak256(stringToHex(PRESET_SOURCE));
const LINK = 10n ** 18n;

/** The accounts that send the VRF nodes' proofs. */
const vrfAccounts = [TEST_ROLES.vrfOracle, ...[7, 8, 9].map(testAccount)];

export interface PipelineOptions {
  /** URL of the node, used like an external network's. Default: the node's Unix socket, behind the fault injection. */
  readonly url?: string;
  readonly fees?: Partial<Fees>;
  readonly pollIntervalMs?: number;
  /** Default: logs are read once. */
  readonly rereadIntervalMs?: number;
  readonly allowanceJuels?: bigint;
  /** Default: words are paid for in LINK. */
  readonly coin?: string;
  readonly coinAllowanceWei?: bigint;
  /** Default: no limit. */
  readonly budget?: BudgetLimits;
  /** Default `false`. */
  readonly isChainlinks?: boolean;
  /** Default: presets take one key's words. */
  readonly presetKeyHashes?: readonly Hex[];
  /** Default: one operator's oracle. */
  readonly oracleNodes?: readonly Pick<OracleNodeView, "url" | "answers">[];
  readonly pipelining?: Pipelining;
  /** Default: the chain is never paused. */
  readonly pause?: () => string | undefined;
  /** Default 32. */
  readonly finalityDepth?: number;
  /** Default: none. */
  readonly fence?: Fence;
  /** Whether another process that sends with the operator's account is noticed. Default `false`: several worlds' pipelines share it. */
  readonly watchesAccount?: boolean;
  /** File name of the database in the world's folder; reusing a name is a restart. Default `tyche.db`. */
  readonly file?: string;
}

/** Starts real contracts, a real oracle and a faulty connection to the chain, for pipelines to work on. */
export async function startPipelineWorld({
  beacon,
  ...options
}: Parameters<typeof startTestStack>[0] & { readonly beacon?: BeaconTerms } = {}) {
  const stack = await startTestStack(options);
  const node = await startFaultyNode(stack);
  const folder = mkdtempSync(join(tmpdir(), "tyche-pipeline-"));
  const errors: unknown[] = [];
  let oracleEnd: AbortController | undefined;

  let oracle: Oracle | undefined;
  const stopOracle = (): void => {
    oracleEnd?.abort();
    oracle = undefined;
  };

  const vrfKeys = [TEST_PROVING_KEY, ...FURTHER_PROVING_KEYS].slice(0, options.vrfKeys ?? 1);

  /**
   * @param onRun called before each run of a source. Default: nothing.
   * @param keys the VRF keys whose nodes run. Default: all of the stack's.
   */
  const startOracle = (onRun?: () => void | Promise<void>, keys = vrfKeys): void => {
    const controller = (oracleEnd = new AbortController());
    const { signal } = controller;
    const watcher = createChainWatcher({ client: stack.client, pollIntervalMs: 200, onError: () => {} });
    signal.addEventListener("abort", () => watcher.close());
    const fees = fixedFees(stack.gasPriceWei, { synchronous: true });
    const senderOf = (account: Account) =>
      createSender({
        client: stack.client,
        account,
        chainId: stack.chainId,
        fees,
        signal,
        onError: () => {},
      });
    const quiet = () => {};
    oracle = createOracle({
      name: DESK_NETWORK,
      chainId: stack.chainId,
      client: stack.client,
      watcher,
      contracts: stack.addresses,
      beacon,
      vrf: keys.map((key) => ({ key, sender: senderOf(vrfAccounts[vrfKeys.indexOf(key)]!) })),
      functions: {
        nodes: TEST_ROLES.signers.map(({ secretKey }, i) => ({
          signer: createReportSigner(secretKey),
          transmitter: senderOf(TEST_ROLES.transmitters[i]!),
        })),
        maxResponseBytes: 256,
      },
      runner: createTestRunner(onRun),
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      signal,
    });
  };

  const open = async (options: PipelineOptions = {}) => {
    const store = await openStore(createSqliteDialect(join(folder, options.file ?? "tyche.db")));
    const dapp = { id: DESK_DAPP, name: "test", facilities: ["presets", "functions"], createdAt: 1 };
    await insertDapp(store.db, dapp).catch(() => {});
    const client =
      options.url === undefined
        ? createChainClient(node.ipcPath)
        : connectExternal([options.url], stack.chainId);
    const book = createRequestBook(store);
    const inUse: Error[] = [];
    const accountWatch = createAccountWatch({
      network: DESK_NETWORK,
      client,
      store,
      operator: TEST_ROLES.operator.address,
      presetConsumer: stack.addresses.presetConsumer,
      firstBlock: 0,
      onFound: (error) => inUse.push(error),
    });
    const watcher = createChainWatcher({
      client,
      pollIntervalMs: options.pollIntervalMs ?? 100,
      rereadIntervalMs: options.rereadIntervalMs,
      onError: (error) => errors.push(error),
      onGap: () => accountWatch.doubt(),
    });
    const pipeline = await openRequestPipeline({
      network: {
        source: {
          profile: { ...NETWORKS[DESK_NETWORK], chainId: stack.chainId, coin: options.coin ?? "ETH" },
          terms: {
            minConfirmations: 1,
            finalityDepth: options.finalityDepth ?? 32,
            hasFinalizedTag: false,
            allowanceJuels: options.allowanceJuels ?? 1_000n * LINK,
            coinAllowanceWei: options.coinAllowanceWei,
            pollIntervalMs: options.pollIntervalMs ?? 100,
            rolledBackAfterMs: 0,
            chainlinkCoordinator: options.isChainlinks === true ? stack.addresses.vrfCoordinator : undefined,
            hasEthereumBlocks: true,
            beacon,
          },
          presetKeyHashes: options.presetKeyHashes,
          vrfOperators: vrfKeys.map(({ keyHash }, i) => ({ keyHash, address: vrfAccounts[i]!.address })),
        },
        chain: {
          client,
          deployment: {
            contracts: stack.addresses,
            blockNumber: 0,
            keyHash: TEST_PROVING_KEY.keyHash,
          },
          identity: "test",
          operator: TEST_ROLES.operator,
          fees: { ...fixedFees(stack.gasPriceWei, { synchronous: true }), ...options.fees },
          ...(options.pause && { pause: options.pause }),
          ...(options.pipelining && { pipelining: options.pipelining }),
        },
        watcher,
        finality: createFinality({
          client,
          depth: options.finalityDepth ?? 32,
          hasFinalizedTag: false,
          head: () => watcher.head(),
        }),
        budget: createDailyBudget({
          network: DESK_NETWORK,
          db: store.db,
          limits: options.budget ?? {},
          coin: options.coin ?? "ETH",
        }),
        accountWatch: options.watchesAccount === true ? accountWatch : undefined,
        oracleWait: (id) => oracle?.status().pending.find(({ requestId }) => requestId === id)?.why,
        oracleNodes: async () => options.oracleNodes ?? [],
        onError: (error) => errors.push(error),
      },
      store,
      book,
      keep: {},
      fence: options.fence,
      onTransaction() {},
    });
    /** Stores a request and starts processing it, as the service does. */
    const accept = async (kind: RequestKind, change: Partial<StoredRequest> = {}): Promise<OpenRequest> => {
      // Takes whatever a test passes, even invalid values.
      const request = { ...makeRequest(kind, stack.addresses.link), ...change } as OpenRequest;
      await book.add(request);
      pipeline.take(request);
      return request;
    };
    const ended = async (id: string): Promise<EndedRequest> =>
      await vi.waitFor(
        async () => {
          // Read as stored: a poisoned request can't be parsed.
          const request = (await findRequest(store.db, id)) as EndedRequest;
          if (!isEnded(request.state)) throw new Error(`${id} is ${request.state}: ${request.why}`);
          return request;
        },
        { interval: 25 },
      );
    const close = async (end?: { readonly atOnce?: boolean }): Promise<void> => {
      await pipeline.close(end);
      watcher.close();
      await client.close();
      await store.close();
    };
    return { store, book, pipeline, client, watcher, accountWatch, inUse, accept, ended, close };
  };

  /** Returns every event of one name since the chain began. */
  const events = async <Name extends ChainEvent["name"]>(name: Name): Promise<ChainEventOf<Name>[]> => {
    const { vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer } = stack.addresses;
    const contracts = [vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer];
    return (await readLogs(stack.client, contracts))
      .map(decodeLog)
      .filter((event): event is ChainEventOf<Name> => event?.name === name);
  };

  startOracle();
  return {
    stack,
    node,
    folder,
    errors,
    open,
    events,
    /** Stores the source of the tests' presets on chain. */
    storeSource: (pipeline: RequestPipeline) =>
      pipeline.storeSource({ source: PRESET_SOURCE, sourceHash: SOURCE_HASH }),
    stopOracle,
    startOracle,
    async close(): Promise<void> {
      oracleEnd?.abort();
      await node.close();
      await stack.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type PipelineWorld = Awaited<ReturnType<typeof startPipelineWorld>>;
export type OpenPipeline = Awaited<ReturnType<PipelineWorld["open"]>>;

/** A request with its outcome, unparsed. */
export type EndedRequest = OpenRequest & Pick<StoredRequest, "outcome">;

const FUNCTION_SOURCE = "return Buffer.from(args[0])";

/** Creates a request as the service would store it. */
export function makeRequest<Kind extends RequestKind>(
  kind: Kind,
  consumer: string,
): Extract<OpenRequest, { readonly kind: Kind }> {
  const now = Date.now();
  const [params, progress] = (
    {
      preset: [{ preset: "test" }, { sourceHash: SOURCE_HASH, args: [], returnType: "uint256" }],
      function: [
        { source: FUNCTION_SOURCE, args: ["hello"], returnType: "string" },
        { returnType: "string" },
      ],
      random: [{ numWords: 2, confirmations: 1, keyHash: TEST_PROVING_KEY.keyHash }, {}],
      consumer: [{ dappId: DESK_DAPP, consumer }, {}],
      unlink: [{ consumer }, {}],
    } as const
  )[kind];
  return {
    id: createId("req", now),
    dappId: DESK_DAPP,
    kind,
    network: DESK_NETWORK,
    params,
    idempotencyKey: null,
    bodyHash: null,
    createdAt: now,
    updatedAt: now,
    state: "received",
    why: null,
    timeline: [{ seq: 1, state: "received", at: now }],
    progress,
    outcome: null,
    error: null,
    endedIn: null,
    version: 1,
  } as StoredRequest as Extract<OpenRequest, { readonly kind: Kind }>;
}
