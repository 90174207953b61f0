/* A service without its edges (store, one network's pipeline, use cases), in a process of its own that tests can kill at any step. */
import type { NetworkView } from "../../src/api/types.ts";
import { countSteps, takenSteps, type CrashPoint } from "./steps.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { createAccount } from "../../src/evm/account.ts";
import { createDailyBudget } from "../../src/dapps/dailyBudget.ts";
import { createChainClient } from "../../src/evm/client.ts";
import type { StackAddresses } from "../../src/chainlink/stackPlan.ts";
import { createFinality } from "../../src/evm/finality.ts";
import { createChainWatcher } from "../../src/evm/watcher.ts";
import { createPresetRegistry } from "../../src/presets/presetRegistry.ts";
import { createService } from "../../src/requests/createService.ts";
import type { DappDirectory } from "../../src/dapps/dapps.ts";
import type { Dapp } from "../../src/dapps/dapp.ts";
import { openRequestPipeline } from "../../src/requests/requestPipeline.ts";
import { createRequestBook } from "../../src/requests/requestBook.ts";
import type { Command, RequestRecord, Service } from "../../src/requests/service.ts";
import { insertDapp } from "../../src/store/dapps.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore } from "../../src/store/store.ts";
import type { SandboxPool } from "../../sandbox/index.ts";
import { NETWORKS } from "../../src/networks/profiles.ts";
import { fixedFees } from "../../src/evm/fees.ts";

/** The configuration that the test passes to this process. */
export interface CrashConfig {
  readonly database: string;
  /** Folder of the presets. */
  readonly presets: string;
  readonly chain: string;
  readonly chainId: number;
  readonly contracts: StackAddresses;
  readonly operatorKey: string;
  readonly keyHash: `0x${string}`;
  readonly gasPriceWei: string;
  readonly allowanceJuels: string;
}

export type CrashCommand =
  | { readonly do: "open"; readonly config: CrashConfig }
  | {
      readonly do: "submit";
      readonly dappId: string;
      readonly command: Command;
      readonly key: string;
      readonly crashAt?: CrashPoint;
    }
  | { readonly do: "wait"; readonly id: string }
  | { readonly do: "idle" };

export type CrashAnswer = {
  readonly record?: RequestRecord;
  readonly steps?: readonly string[];
  readonly error?: string;
};

const NETWORK = "sepolia";

let service: Service;
let openCount: () => number;

async function open(config: CrashConfig): Promise<void> {
  const store = await openStore(createSqliteDialect(config.database));
  const book = createRequestBook(store);
  openCount = () => book.openCount();
  const client = createChainClient(config.chain);
  const onError = (error: unknown): void => void process.stderr.write(`${String(error)}\n`);
  const watcher = createChainWatcher({ client, pollIntervalMs: 200, onError });
  const pipeline = await openRequestPipeline({
    network: {
      source: {
        profile: { ...NETWORKS.sepolia, chainId: config.chainId },
        terms: {
          minConfirmations: 1,
          finalityDepth: 32,
          hasFinalizedTag: false,
          allowanceJuels: BigInt(config.allowanceJuels),
          pollIntervalMs: 200,
          rolledBackAfterMs: 0,
          hasEthereumBlocks: true,
        },
      },
      chain: {
        client,
        deployment: { contracts: config.contracts, blockNumber: 0, keyHash: config.keyHash },
        identity: "test",
        operator: createAccount(Buffer.from(config.operatorKey, "hex")),
        fees: fixedFees(BigInt(config.gasPriceWei), { synchronous: true }),
      },
      watcher,
      finality: createFinality({ client, depth: 32, hasFinalizedTag: false, head: () => watcher.head() }),
      budget: createDailyBudget({ network: NETWORK, db: store.db, limits: {}, coin: "ETH" }),
      onError,
    },
    store,
    book,
    keep: {},
    onTransaction() {},
  });
  const vrf = { keyHashes: [config.keyHash], minConfirmations: 1, maxConfirmations: 200, maxWords: 500 };
  service = createService({
    store,
    book,
    maxOpenPerNetwork: 2_500,
    dapps: {} as DappDirectory,
    // Sources are out of scope here: each passes its dry run.
    pool: {
      run: async () => ({
        ok: true,
        bytes: new Uint8Array(32),
        console: "",
        consoleTruncated: false,
        timeMs: 0,
        memoryBytes: 0,
        httpRequests: 0,
        touched: [],
      }),
    } as unknown as SandboxPool,
    registry: await createPresetRegistry({ folder: config.presets }),
    baseUrl: () => "",
    networks: new Map([
      [
        NETWORK,
        {
          profile: NETWORKS.sepolia,
          explorerUrl: "http://explorer",
          view: () =>
            ({
              vrf,
              contracts: config.contracts,
              functions: { donId: "fun-test-1" },
            }) as unknown as NetworkView,
          intake: () => pipeline,
          getCode: (address) => client.getCode(address),
          findSpentBudget: async () => undefined,
          readiness: async () => ({ ready: true }),
          oracleNodes: async () => undefined,
        },
      ],
    ]),
  });
  addDapp = async (id) => {
    const dapp = { id, name: id, facilities: ["presets", "functions"], createdAt: 1 };
    await insertDapp(store.db, dapp).catch(() => {});
  };
}

let addDapp: (id: string) => Promise<void>;

async function answer(message: CrashCommand): Promise<CrashAnswer> {
  switch (message.do) {
    case "open":
      await open(message.config);
      return {};
    case "submit": {
      await addDapp(message.dappId);
      const dapp: Dapp = { id: message.dappId, name: "", keyId: "", facilities: ["presets", "functions"] };
      countSteps(message.crashAt);
      const { id } = await service.submit(dapp, message.command, { idempotencyKey: message.key });
      return { record: await service.wait(id, { timeoutMs: 60_000 }), steps: takenSteps() };
    }
    case "wait":
      return { record: await service.wait(message.id, { timeoutMs: 60_000 }) };
    case "idle":
      for (let i = 0; openCount() > 0 && i < 3_000; i += 1) await sleep(20);
      return {};
  }
}

process.on("message", (message: CrashCommand) => {
  answer(message).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
process.send?.({});
