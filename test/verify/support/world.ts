import type { Verification } from "../../../src/api/types.ts";
import { toHex, type Hex } from "viem";
import { createSandboxPool } from "../../../sandbox/index.ts";
import type { Receipt } from "../../../src/evm/client.ts";
import { encodeFunctionsRequest } from "../../../src/chainlink/functionsRequest.ts";
import { findEvent } from "../../../src/chainlink/events.ts";
import { createSourceRunner } from "../../../src/app/tools/runSource.ts";
import type { ChainReader } from "../../../src/verify/chainFacts.ts";
import { verifyTransaction, type VerifyOptions } from "../../../src/verify/verifyTransaction.ts";
import { provisionDapp, storeSource, submit, type TestSubmission } from "../../support/consumer.ts";
import { deliverResults, deliverWords } from "../../support/delivery.ts";
import { startTestStack } from "../../support/stack.ts";

/** Returns the word it gets, so that the result identifies the word. */
export const ECHO_WORD = "return Functions.encodeUint256(BigInt(bytesArgs[0]))";

/** Transactions of one request, in order. */
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
    async runPreset(): Promise<Delivered> {
      const request = await submit(stack, { presets: [{ dapp, items: [{ sourceId: echoId }] }] });
      const proof = await deliverWords(stack, request);
      const word = wordsSentIn(proof)[0]!;
      return { request, proof, report: await deliverResults(stack, proof, { response: word }) };
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

/** Returns the words in the function requests that a transaction sent: the last 32 bytes of a preset's data. */
export function wordsSentIn({ logs }: Receipt): Hex[] {
  return logs
    .map(findEvent)
    .filter((event) => event?.name === "OracleRequest")
    .map((event): Hex => `0x${event.data.slice(-64)}`);
}
