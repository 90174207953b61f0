import type { Verification } from "../../../src/api/types.ts";
import { toHex, type Hex } from "viem";
import { toWord } from "../../../src/lib/uint256.ts";
import { createSandboxPool } from "../../../sandbox/index.ts";
import type { Receipt } from "../../../src/lib/nodeAnswers.ts";
import { encodeFunctionsRequest } from "../../../src/chainlink/functionsRequest.ts";
import {
  CONFIG_SET_TOPIC,
  encodeAdoptNodes,
  encodeSetConfig,
  type NodeConfig,
} from "../../../src/chainlink/nodeConfig.ts";
import { wordsOfBatch } from "../../../src/chainlink/presetBatch.ts";
import { createSourceRunner } from "../../../src/app/tools/runSource.ts";
import type { ChainReader } from "../../../src/verify/chainFacts.ts";
import { verifyTransaction, type VerifyOptions } from "../../../src/verify/verifyTransaction.ts";
import { provisionDapp, storeSource, submit, type TestSubmission } from "../../support/consumer.ts";
import {
  deliverReports,
  deliverResults,
  deliverWords,
  reportOf,
  seedsOf,
  type TestReport,
} from "../../support/delivery.ts";
import { startTestStack, TEST_ROLES, type TestStack } from "../../support/stack.ts";

/** Returns the word it gets, so that the result identifies the word. */
export const ECHO_WORD = "return Functions.encodeUint256(BigInt(bytesArgs[0]))";

/** Transactions of one preset, in order; proof and report are one if they were delivered together. */
export interface Delivered {
  readonly request: Receipt;
  readonly proof: Receipt;
  readonly report: Receipt;
}

export type VerifyWorld = Awaited<ReturnType<typeof startVerifyWorld>>;

/** Starts a chain with all contracts, a dapp and a sandbox, ready to answer and verify requests. */
export async function startVerifyWorld(options: Parameters<typeof startTestStack>[0] = {}) {
  const stack = await startTestStack(options);
  const pool = createSandboxPool({ concurrency: 1 });
  const dapp = await provisionDapp(stack, "dapp");
  const echoId = await storeSource(stack, ECHO_WORD);
  const { vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer } = stack.addresses;
  const contracts = { vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer };

  return {
    ...stack,
    dapp,
    echoId,
    contracts,
    pool,
    submit: (submission: TestSubmission) => submit(stack, submission),

    /** Runs a batch of one preset to the end; its result is its word. */
    async runPreset({ isTogether = false } = {}): Promise<Delivered> {
      const request = await submit(stack, { presets: [{ dapp, items: [{ sourceId: echoId }] }] });
      const signed = await reportOf(stack, request, { result: wordOf(request) });
      if (isTogether) {
        const both = await deliverWords(stack, request, { reports: [signed] });
        return { request, proof: both, report: both };
      }
      const proof = await deliverWords(stack, request);
      return { request, proof, report: await deliverReports(stack, signed) };
    },

    /** Delivers a report on the batches of a transaction. */
    async report(request: Receipt, options: TestReport): Promise<Receipt> {
      return await deliverReports(stack, await reportOf(stack, request, options));
    },

    /** Runs a function to the end, with `response` as its result. */
    async runFunction(source: string, response: Hex) {
      const data = toHex(encodeFunctionsRequest({ source, args: ["7"] }));
      const request = await submit(stack, {
        functions: [{ functionsSubId: dapp.functionsSubId, data }],
      });
      return { request, report: await deliverResults(stack, request, { response }) };
    },

    /** Verifies with a node whose answers `tamper` may change. */
    verify(
      hash: Hex,
      { tamper, ...change }: Partial<VerifyOptions> & { readonly tamper?: Tamper } = {},
    ): Promise<Verification> {
      return verifyTransaction(hash, {
        client: tamper === undefined ? stack.client : lyingClient(stack.client, tamper),
        network: "test",
        chainId: stack.chainId,
        contracts,
        isEmbedded: true,
        run: createSourceRunner(pool),
        maxResponseBytes: 256,
        caller: "test",
        ...change,
      });
    },

    async close(): Promise<void> {
      await pool.close();
      await stack.close();
    },
  };
}

/** Changes a node's answer, or returns it unchanged. */
export type Tamper = (method: string, answer: unknown, parameters: readonly unknown[]) => unknown;

/** Creates a client of a node that lies. */
function lyingClient(client: ChainReader, tamper: Tamper): ChainReader {
  return {
    async request(method, parameters = []) {
      const answer = await client.request(method, parameters);
      // The client's cached copy must not change.
      return tamper(method, structuredClone(answer), parameters);
    },
  };
}

/** Returns the word of an item of the only batch that a transaction requests, 32 bytes. */
export function wordOf(request: Receipt, item = 0): Hex {
  const [seed] = seedsOf(request).values();
  return toWord(wordsOfBatch(seed!, item + 1)[item]!);
}

/** Replaces the nodes of a stack with those of a configuration, for functions and presets alike. */
export async function reconfigure(stack: TestStack, config: NodeConfig): Promise<void> {
  const { functionsCoordinator: coordinator, presetConsumer } = stack.addresses;
  const set = await stack.send(TEST_ROLES.deployer, { to: coordinator, data: encodeSetConfig(config) });
  const data = encodeAdoptNodes(config, { chainId: stack.chainId, coordinator, count: 2n });
  const adopted = await stack.send(TEST_ROLES.operator, { to: presetConsumer, data });
  if (!set.succeeded || !adopted.succeeded) throw new Error("the nodes were not replaced");
}

/** Whether the filter of a search for logs is for the coordinator's configurations. */
export function isForConfig(filter: unknown): boolean {
  return (filter as { readonly topics: readonly Hex[] }).topics[0] === CONFIG_SET_TOPIC;
}
