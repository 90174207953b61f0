import { encode } from "cborg";
import { encodeFunctionData, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Account } from "../../../src/evm/account.ts";
import { decodeLog, type ChainEvent, type ChainEventOf } from "../../../src/chainlink/events.ts";
import { createSender } from "../../../src/evm/sender.ts";
import { createChainWatcher } from "../../../src/evm/watcher.ts";
import { vrfCoordinatorAbi, vrfCoordinatorV2PlusAbi } from "../../../src/chainlink/contracts/abi.ts";
import { SUBSCRIPTION_OWNER_ABIS } from "../../../src/chainlink/vrfVersion.ts";
import { decodeResults, type PresetResult } from "../../../src/chainlink/presetReport.ts";
import { fromHexText, toHexText } from "../../../src/lib/hex.ts";
import type { DrandRound } from "../../../src/beacon/drand.ts";
import type { OracleLog } from "../../../src/oracle/log.ts";
import { createOracle, type OracleOptions } from "../../../src/oracle/oracle.ts";
import { createReportSigner } from "../../../src/oracle/signer.ts";
import {
  provisionDapp,
  storeSource,
  submit,
  versionOf,
  type TestSubmission,
} from "../../support/consumer.ts";
import { eventsOf } from "../../support/delivery.ts";
import { readLogs } from "../../support/readLogs.ts";
import { startTestStack, TEST_PROVING_KEY, TEST_ROLES } from "../../support/stack.ts";
import { createTestRunner } from "./runner.ts";
import { fixedFees } from "../../../src/evm/fees.ts";

const LINK = 10n ** 18n;
/** Enough for 80 function requests in one transaction. */
const SUBMISSION_GAS = 60_000_000n;

/** One line of the oracle's log. */
export interface LogLine {
  readonly level: keyof OracleLog;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

/** Starts a chain with all contracts and one dapp's funded subscriptions, ready to start oracles on. */
export async function startWorld({
  vrfLink = 100n,
  ...options
}: { readonly vrfLink?: bigint } & Parameters<typeof startTestStack>[0] = {}) {
  const stack = await startTestStack(options);
  const subscriptionOwnerAbi = SUBSCRIPTION_OWNER_ABIS[versionOf(stack)];
  const { client, viem, addresses } = stack;
  const controller = new AbortController();
  const watcher = createChainWatcher({
    client,
    pollIntervalMs: 500,
    rolledBackAfterMs: 0,
    onError: () => {},
  });
  const fees = fixedFees(stack.gasPriceWei, { synchronous: true });
  const senderOf = (account: Account) =>
    createSender({
      client,
      account,
      chainId: stack.chainId,
      fees,
      signal: controller.signal,
      onError: () => {},
    });
  const dapp = await provisionDapp(stack, "dapp", { vrfJuels: vrfLink * LINK });
  const lines: LogLine[] = [];
  const network: OracleOptions & Required<Pick<OracleOptions, "vrf" | "functions">> = {
    name: "test",
    chainId: stack.chainId,
    client,
    watcher,
    contracts: addresses,
    vrf: [{ key: TEST_PROVING_KEY, sender: senderOf(TEST_ROLES.vrfOracle) }],
    functions: {
      nodes: TEST_ROLES.signers.map(({ secretKey }, index) => ({
        signer: createReportSigner(secretKey),
        transmitter: senderOf(TEST_ROLES.transmitters[index]!),
      })),
      maxResponseBytes: 256,
    },
    runner: createTestRunner(),
    log: logTo(lines),
    signal: controller.signal,
  };
  const sourceIds = new Map<string, number>();
  let lastRequestBlock = 0n;

  /** Submits as the operator; returns the request id of each entry. */
  const request = async (submission: TestSubmission): Promise<Hex[]> => {
    const receipt = await submit(stack, submission, { gas: SUBMISSION_GAS });
    lastRequestBlock = receipt.blockNumber;
    return eventsOf(receipt, "Accepted").map(({ requestId }) => requestId);
  };

  return {
    ...stack,
    dapp,
    network,
    /** Everything that the world's oracles have logged. */
    lines,
    /** Block of the newest request sent by one of the methods below. */
    lastRequestBlock: () => lastRequestBlock,
    provisionDapp: (name: string) => provisionDapp(stack, name),
    storeSource: (source: string) => storeSource(stack, source),

    /** Starts an oracle; `change` overrides parts of its options. */
    startOracle: (change: Partial<OracleOptions> = {}) => createOracle({ ...network, ...change }),

    /** Requests random words: each request is one entry of one transaction. */
    requestWords: (count: number, { confirmations = 1, numWords = 1 } = {}) =>
      request({
        randoms: Array.from({ length: count }, () => ({ vrfSubId: dapp.vrfSubId, confirmations, numWords })),
      }),

    /** Requests presets that run the source, all on one request for random words, and one round of drand if they wait for it. */
    async requestPresets(source: string, count: number, beacon?: DrandRound) {
      const sourceId = sourceIds.get(source) ?? (await storeSource(stack, source));
      sourceIds.set(source, sourceId);
      return await request({
        presets: [{ dapp, items: Array.from({ length: count }, () => ({ sourceId })), beacon }],
      });
    },

    /** Returns the results of all presets since the chain began. */
    async results(): Promise<PresetResult[]> {
      const reported = await this.events("BatchReported");
      return reported.flatMap(({ results }) => decodeResults(fromHexText(results)));
    },

    /** Requests functions from ready-made CBOR. */
    requestFunctions: (requests: readonly Uint8Array[], { functionsSubId } = dapp) =>
      request({
        functions: requests.map((data) => ({ functionsSubId, data: toHexText(data) })),
      }),

    /** Makes a funded account a consumer of both subscriptions; it then sends requests itself. */
    async createConsumer(secretByte: string) {
      const account = privateKeyToAccount(`0x${secretByte.repeat(32)}`);
      await viem.setBalance({ address: account.address, value: 10n ** 20n });
      await stack.send(TEST_ROLES.operator, {
        to: addresses.subscriptionOwner,
        data: encodeFunctionData({
          abi: subscriptionOwnerAbi,
          functionName: "addConsumer",
          args: [dapp.vrfSubId, dapp.functionsSubId, account.address],
        }),
      });
      return {
        ...account,
        requestWord: ({
          keyHash = TEST_PROVING_KEY.keyHash,
          confirmations = 1,
          extraArgs = "0x",
        }: { readonly keyHash?: Hex; readonly confirmations?: number; readonly extraArgs?: Hex } = {}) =>
          viem.sendTransaction({
            account,
            to: addresses.vrfCoordinator,
            data:
              versionOf(stack) === "v2"
                ? encodeFunctionData({
                    abi: vrfCoordinatorAbi,
                    functionName: "requestRandomWords",
                    args: [keyHash, dapp.vrfSubId, confirmations, 50_000, 1],
                  })
                : encodeFunctionData({
                    abi: vrfCoordinatorV2PlusAbi,
                    functionName: "requestRandomWords",
                    args: [
                      {
                        keyHash,
                        subId: dapp.vrfSubId,
                        requestConfirmations: confirmations,
                        callbackGasLimit: 50_000,
                        numWords: 1,
                        extraArgs,
                      },
                    ],
                  }),
          }),
      };
    },

    fundVrf: () =>
      stack.send(TEST_ROLES.operator, {
        to: addresses.subscriptionOwner,
        data: encodeFunctionData({
          abi: subscriptionOwnerAbi,
          functionName: "fund",
          args: [dapp.vrfSubId, 100n * LINK, 0n, 0n],
        }),
      }),

    /** Returns all events of one name since the chain began, from any of the oracle contracts. */
    async events<Name extends ChainEvent["name"]>(name: Name): Promise<ChainEventOf<Name>[]> {
      const { vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer } = addresses;
      const contracts = [vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer];
      return (await readLogs(client, contracts))
        .map(decodeLog)
        .filter((event): event is ChainEventOf<Name> => event?.name === name);
    },

    async close(): Promise<void> {
      controller.abort();
      watcher.close();
      await stack.close();
    },
  };
}

/** Encodes an object's members as CBOR pairs without an enclosing map, whatever their values. */
export function cborPairs(members: Readonly<Record<string, unknown>>): Uint8Array {
  return Buffer.concat(Object.entries(members).flatMap(([name, value]) => [encode(name), encode(value)]));
}

/** Encodes a request with inline JavaScript. */
export function inlineRequest(source: string, rest: Readonly<Record<string, unknown>> = {}): Uint8Array {
  return cborPairs({ codeLocation: 0, language: 0, source, ...rest });
}

function logTo(lines: LogLine[]): OracleLog {
  const writer = (level: LogLine["level"]) => (fields: object, message: string) =>
    void lines.push({ level, fields: fields as Record<string, unknown>, message });
  return { debug: writer("debug"), info: writer("info"), warn: writer("warn"), error: writer("error") };
}
