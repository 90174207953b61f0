import type { Comparison, VerificationStep } from "../api/types.ts";
import { decodeFunctionResult, encodeFunctionData, parseAbi, type Hex } from "viem";
import { EVENT_TOPICS, decodeLog } from "../chainlink/events.ts";
import { functionsRouterAbi } from "../chainlink/contracts/abi.ts";
import type { ContractRole } from "../chainlink/contractBook.ts";
import type { RequestParts } from "./requestParts.ts";
import type { RequestPartsMeans } from "./randomnessParts.ts";
import { compareStep, notApplicableStep } from "./verification.ts";

/** Immutables of PresetConsumer. */
const consumerAbi = parseAbi([
  "function VRF_COORDINATOR() view returns (address)",
  "function FUNCTIONS_ROUTER() view returns (address)",
]);

/**
 * Checks that the contracts belong together: that a preset's consumer takes words from this coordinator and sends to this router, and
 * that the router takes reports from this functions coordinator. Logs of any other contracts were ignored earlier.
 */
export async function checkContracts(
  parts: RequestParts,
  means: RequestPartsMeans,
): Promise<VerificationStep> {
  const { book, facts } = means;
  const compared: Comparison[] = [];
  const roles = new Set<ContractRole>();
  const read = async (to: Hex, functionName: "VRF_COORDINATOR" | "FUNCTIONS_ROUTER"): Promise<string> => {
    const call = { abi: consumerAbi, functionName } as const;
    const { data } = await facts.call(to, encodeFunctionData(call));
    return decodeFunctionResult({ ...call, data }).toLowerCase();
  };
  if (parts.randomness !== undefined) roles.add("vrfCoordinator");
  if (parts.kind === "preset") {
    roles.add("presetConsumer");
    const consumer = book.get("presetConsumer");
    const sender = parts.randomness?.request?.sender;
    if (sender !== undefined)
      compared.push({ what: "consumer of the words", expected: consumer, found: sender });
    const coordinator = await read(consumer, "VRF_COORDINATOR");
    compared.push({
      what: "coordinator of the consumer",
      expected: book.get("vrfCoordinator"),
      found: coordinator,
    });
  }
  const request = parts.functions?.request;
  if (request !== undefined) {
    roles.add("functionsRouter").add("functionsCoordinator");
    const router = book.get("functionsRouter");
    if (parts.kind === "preset") {
      const found = await read(book.get("presetConsumer"), "FUNCTIONS_ROUTER");
      compared.push({ what: "router of the consumer", expected: router, found });
      compared.push({
        what: "sender of the function request",
        expected: book.get("presetConsumer"),
        found: request.requestingContract,
      });
    }
    const coordinator = await readCoordinator(
      request.log.transactionHash,
      request.requestId,
      request.log.blockNumber,
      means,
    );
    if (coordinator !== undefined)
      compared.push({
        what: "coordinator of the router",
        expected: book.get("functionsCoordinator"),
        found: coordinator,
      });
  }
  const step = compareStep(
    "contracts",
    "all logs come from the oracle's contracts, and these refer to each other",
    compared,
  );
  const unknown = [...roles].filter((role) => !book.isGiven(role));
  if (step.outcome === "failed" || unknown.length === 0) return step;
  const read_ = unknown.map((role) => `${role} ${book.get(role)}`).join(", ");
  return notApplicableStep(
    "contracts",
    `the addresses were taken from the transactions themselves; compare them with those that the operator publishes: ${read_}`,
    compared,
  );
}

/**
 * Returns the router's coordinator for the oracle network of a request; `undefined` if the receipt has no `RequestStart` log for it.
 */
async function readCoordinator(
  hash: Hex,
  requestId: Hex,
  at: bigint,
  { facts, book }: RequestPartsMeans,
): Promise<string | undefined> {
  const router = book.get("functionsRouter");
  const { logs } = await facts.getTransaction(hash);
  for (const log of logs) {
    if (log.address !== router || log.topics[0] !== EVENT_TOPICS.RequestStart || log.topics[1] !== requestId)
      continue;
    const event = decodeLog(log);
    if (event?.name !== "RequestStart") continue;
    const call = { abi: functionsRouterAbi, functionName: "getContractById", args: [event.donId] } as const;
    const { data } = await facts.call(router, encodeFunctionData(call), at);
    return decodeFunctionResult({ ...call, data }).toLowerCase();
  }
  return undefined;
}
