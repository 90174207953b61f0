import { decodeFunctionResult, encodeFunctionData, stringToHex, type Hex } from "viem";
import type { ChainClient } from "../../src/evm/client.ts";
import type { Receipt } from "../../src/lib/nodeAnswers.ts";
import { decodeLog, type ChainEvent, type ChainEventOf } from "../../src/chainlink/events.ts";
import { encodeFunctionsRequest } from "../../src/chainlink/functionsRequest.ts";
import type { StackAddresses } from "../../src/chainlink/stackPlan.ts";
import {
  functionsCoordinatorAbi,
  presetConsumerAbi,
  subscriptionOwnerAbi,
  vrfCoordinatorAbi,
} from "../../src/chainlink/contracts/abi.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { encodeUint256s } from "../../src/lib/uint256.ts";
import { aggregate } from "../../src/oracle/aggregateObservations.ts";
import { observe, type SourceRunner } from "../../src/oracle/functions/execute.ts";
import { toOracleRequest } from "../../src/oracle/functions/oracleRequest.ts";
import { encodeTransmission } from "../../src/oracle/functions/report.ts";
import type { ReportSigner } from "../../src/oracle/signer.ts";
import { prove, type ProvingKey } from "../../src/vrf/proof.ts";
import { randomWords, seedOf } from "../../src/vrf/randomWords.ts";
import type { OrderlyAccount } from "./orderlyAccount.ts";

/** Balance of each of the two subscriptions: 10 million LINK, so that none runs dry. */
const ALLOWANCE_JUELS = 10_000_000n * 10n ** 18n;
const NODES = 4;
/** Gas limits; unused gas isn't charged. */
const GAS = {
  provision: 1_500_000n,
  request: 400_000n,
  fulfil: 700_000n,
  call: 1_500_000n,
  report: 900_000n,
};

/** The chain client and oracle keys that the path needs. */
export interface NaivePathOptions {
  readonly client: ChainClient;
  readonly contracts: StackAddresses;
  readonly operator: OrderlyAccount;
  readonly vrf: { readonly key: ProvingKey; readonly account: OrderlyAccount };
  readonly functions: { readonly signers: readonly ReportSigner[]; readonly account: OrderlyAccount };
  readonly runner: SourceRunner;
  readonly maxResponseBytes: number;
}

/** The result of one preset. */
export interface NaiveResult {
  readonly requestId: Hex;
  readonly result: Hex;
  /** Gas of its transactions: two for the requests, one for the word, one for the report. */
  readonly gas: { readonly request: number; readonly words: number; readonly report: number };
}

/**
 * Creates the straightforward path from a call to a result: request a word, fulfill it, send the function request with the word as an
 * argument, report. Four transactions per request, none shared. Contracts, proofs, executions and signatures are real.
 *
 * It has advantages that the service doesn't: no dry run, nothing stored, receipts handed over directly instead of found on chain,
 * and the service's own lean consumer contract. Its server carries the word from the randomness to the function: nothing on
 * chain enforces that.
 */
export async function createNaivePath(
  options: NaivePathOptions,
): Promise<(request: { readonly source: string; readonly args: readonly string[] }) => Promise<NaiveResult>> {
  const { client, contracts, operator, vrf, functions, runner, maxResponseBytes } = options;
  const { signal } = new AbortController();
  const provisioned = await operator.send({
    to: contracts.subscriptionOwner,
    data: encodeFunctionData({
      abi: subscriptionOwnerAbi,
      functionName: "provision",
      args: [stringToHex("naive", { size: 32 }), ALLOWANCE_JUELS, ALLOWANCE_JUELS, contracts.presetConsumer],
    }),
    gas: GAS.provision,
  });
  const { vrfSubId, functionsSubId } = eventOf(provisioned, "Provisioned");
  const configCall = { abi: functionsCoordinatorAbi, functionName: "latestConfigDetails" } as const;
  const [, , configDigest] = decodeFunctionResult({
    ...configCall,
    data: await client.call({ to: contracts.functionsCoordinator, data: encodeFunctionData(configCall) }),
  });
  const signers = functions.signers.slice(0, 3);

  const askForWord = (): Promise<Receipt> => {
    const random = { vrfSubId, keyHash: vrf.key.keyHash, confirmations: 1, numWords: 1 };
    const data = encodeFunctionData({
      abi: presetConsumerAbi,
      functionName: "submit",
      args: [[], [], [random], []],
    });
    return operator.send({ to: contracts.presetConsumer, data, gas: GAS.request });
  };

  const fulfil = async (requested: Receipt): Promise<{ word: Hex; gasUsed: bigint }> => {
    const request = eventOf(requested, "RandomWordsRequested");
    const proof = prove(vrf.key, {
      preSeed: request.preSeed,
      seed: seedOf(request.preSeed, requested.blockHash),
    });
    const data = encodeFunctionData({
      abi: vrfCoordinatorAbi,
      functionName: "fulfillRandomWords",
      args: [
        {
          pk: [proof.publicKey.x, proof.publicKey.y],
          gamma: [proof.gamma.x, proof.gamma.y],
          c: proof.c,
          s: proof.s,
          seed: proof.preSeed,
          uWitness: proof.uWitness,
          cGammaWitness: [proof.cGammaWitness.x, proof.cGammaWitness.y],
          sHashWitness: [proof.sHashWitness.x, proof.sHashWitness.y],
          zInv: proof.zInv,
        },
        {
          blockNum: requested.blockNumber,
          subId: request.subId,
          callbackGasLimit: request.callbackGasLimit,
          numWords: request.numWords,
          sender: request.sender,
        },
      ],
    });
    const receipt = await vrf.account.send({ to: contracts.vrfCoordinator, data, gas: GAS.fulfil });
    const { outputSeed } = eventOf(receipt, "RandomWordsFulfilled");
    return { word: toHexText(encodeUint256s(randomWords(outputSeed, 1)[0]!)), gasUsed: receipt.gasUsed };
  };

  const callFunction = (source: string, args: readonly string[], word: Hex): Promise<Receipt> => {
    const request = toHexText(encodeFunctionsRequest({ source, args, bytesArgs: [word] }));
    const data = encodeFunctionData({
      abi: presetConsumerAbi,
      functionName: "submit",
      args: [[], [{ functionsSubId, data: request }], [], []],
    });
    return operator.send({ to: contracts.presetConsumer, data, gas: GAS.call });
  };

  const report = async (called: Receipt): Promise<Omit<NaiveResult, "gas"> & { gasUsed: bigint }> => {
    const request = toOracleRequest(eventOf(called, "OracleRequest"), called.blockNumber);
    const observation = aggregate(
      await observe(request, {
        router: contracts.functionsRouter,
        runner,
        beacons: { read: () => undefined },
        nodes: NODES,
        maxResponseBytes,
        signal,
      }),
    );
    const epoch = Number(called.blockNumber & 0xffffffffn);
    const data = encodeTransmission([{ ...request, observation }], { configDigest, epoch }, signers);
    const { account } = functions;
    const receipt = await account.send({ to: contracts.functionsCoordinator, data, gas: GAS.report });
    const { requestId, response, resultCode, err } = eventOf(receipt, "RequestProcessed");
    if (resultCode !== 0 || err !== "0x") throw new Error(`the function failed: code ${resultCode}, ${err}`);
    return { requestId, result: response, gasUsed: receipt.gasUsed };
  };

  return async ({ source, args }) => {
    const asked = await askForWord();
    const fulfilled = await fulfil(asked);
    const called = await callFunction(source, args, fulfilled.word);
    const { gasUsed, ...result } = await report(called);
    const gas = {
      request: Number(asked.gasUsed + called.gasUsed),
      words: Number(fulfilled.gasUsed),
      report: Number(gasUsed),
    };
    return { ...result, gas };
  };
}

function eventOf<Name extends ChainEvent["name"]>(receipt: Receipt, name: Name): ChainEventOf<Name> {
  for (const log of receipt.logs) {
    const event = decodeLog(log);
    if (event?.name === name) return event as ChainEventOf<Name>;
  }
  throw new Error(`transaction ${receipt.transactionHash} has no ${name}`);
}
