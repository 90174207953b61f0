import { toHex, type Hex } from "viem";
import { createSandboxPool } from "../../../sandbox/index.ts";
import type { Receipt } from "../../../src/evm/client.ts";
import { encodeFunctionsRequest } from "../../../src/chainlink/functionsRequest.ts";
import { decodeLog } from "../../../src/chainlink/events.ts";
import { createSourceRunner } from "../../../src/app/runSource.ts";
import type { ChainReader } from "../../../src/verify/chainFacts.ts";
import type { Verification } from "../../../src/verify/verification.ts";
import { verifyTransaction, type VerifyOptions } from "../../../src/verify/verifyTransaction.ts";
import { provisionDapp, storeSource, submit, type TestSubmission } from "../../support/consumer.ts";
import { deliverResults, deliverWords } from "../../support/delivery.ts";
import { startTestStack } from "../../support/stack.ts";

/** Returns the word that it is given, so that the result says which one it was. */
export const ECHO_WORD = "return Functions.encodeUint256(BigInt(bytesArgs[0]))";

/** Transactions of one request after the other. */
export interface Delivered {
  readonly request: Receipt;
  readonly proof: Receipt;
  readonly report: Receipt;
}

export type VerifyWorld = Awaited<ReturnType<typeof startVerifyWorld>>;

/** A chain with all contracts and a dapp, a sandbox, and what it takes to have requests answered and checked. */
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

    /** Has a batch of presets answered with what `result` makes of each word. */
    async runPreset(): Promise<Delivered> {
      const request = await submit(stack, { presets: [{ dapp, items: [{ sourceId: echoId }] }] });
      const proof = await deliverWords(stack, request);
      const word = wordsSentIn(proof)[0]!;
      return { request, proof, report: await deliverResults(stack, proof, { response: word }) };
    },

    /** Has a function answered. */
    async runFunction(source: string, response: Hex) {
      const data = toHex(encodeFunctionsRequest({ source, args: ["7"] }));
      const request = await submit(stack, {
        functions: [{ functionsSubId: dapp.functionsSubId, data }],
      });
      return { request, report: await deliverResults(stack, request, { response }) };
    },

    /** Verifies by a node whose answers `tamper` may change. */
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

/** Changes an answer of the node; gives it back as it is where there is nothing to change. */
export type Tamper = (method: string, answer: unknown, parameters: readonly unknown[]) => unknown;

/** A node that does not tell the truth. */
function lyingClient(client: ChainReader, tamper: Tamper): ChainReader {
  return {
    async request(method, parameters = []) {
      const answer = await client.request(method, parameters);
      // What the client keeps must not be changed with it.
      return tamper(method, structuredClone(answer), parameters);
    },
  };
}

/** The words in the function requests that a transaction sent: the last 32 bytes of a preset's data. */
export function wordsSentIn({ logs }: Receipt): Hex[] {
  return logs
    .map(decodeLog)
    .filter((event) => event?.name === "OracleRequest")
    .map((event): Hex => `0x${event.data.slice(-64)}`);
}
