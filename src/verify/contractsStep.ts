import type { Comparison, VerificationStep } from "../api/types.ts";
import { decodeFunctionResult, encodeFunctionData, parseAbi, type Hex } from "viem";
import { functionsRouterAbi } from "../chainlink/contracts/abi.ts";
import type { ContractRole, OracleContracts, OracleEventOf } from "../chainlink/contractBook.ts";
import { EVENT_TOPICS, decodeLog } from "../chainlink/events.ts";
import type { RequestParts } from "./requestParts.ts";
import type { RequestPartsMeans } from "./randomnessParts.ts";
import { compareStep, HOW_TO_PASS, notApplicableStep } from "./verification.ts";

/** Immutables of PresetConsumer. */
const consumerAbi = parseAbi([
  "function VRF_COORDINATOR() view returns (address)",
  "function FUNCTIONS_ROUTER() view returns (address)",
  "function DON_ID() view returns (bytes32)",
]);

/**
 * Checks that the contracts belong together: that a preset's consumer takes words from this coordinator, and that it or the function
 * request goes by this router to this functions coordinator. Logs of any other contracts were ignored earlier.
 */
export async function checkContracts(
  parts: RequestParts,
  means: RequestPartsMeans,
): Promise<VerificationStep> {
  const { book } = means;
  const roles = rolesOf(parts, book.known());
  const { compared, isOutdated } =
    parts.kind === "preset"
      ? await compareConsumer(parts, means)
      : parts.kind === "function" && parts.functions.request !== undefined
        ? await compareCoordinator(parts.functions.request, means)
        : NOTHING_COMPARED;
  const step = compareStep(
    "contracts",
    "all logs come from the oracle's contracts, and these refer to each other",
    compared,
  );
  const unknown = roles.filter((role) => !book.isGiven(role));
  const isOtherNow =
    isOutdated && compareStep("contracts", "", compared.slice(0, -1)).outcome !== step.outcome;
  if (isOtherNow) {
    const detail =
      "the router names another coordinator now, and the node can't say which it named then; ask an archive node";
    return notApplicableStep("contracts", detail, compared);
  }
  if (step.outcome === "failed" || unknown.length === 0) return step;
  const read = unknown.map((role) => `${role} ${book.known()[role] ?? "unknown"}`).join(", ");
  return notApplicableStep(
    "contracts",
    `the addresses were taken from the transactions themselves; compare them with those that the operator publishes, or ${HOW_TO_PASS}: ${read}`,
    compared,
  );
}

/** Addresses that were compared, that of the router's coordinator last. */
interface ComparedContracts {
  readonly compared: readonly Comparison[];
  /** Whether the router's coordinator is that of a later state: the owner of the router may have replaced it since. */
  readonly isOutdated: boolean;
}

const NOTHING_COMPARED: ComparedContracts = { compared: [], isOutdated: false };

/** The contracts that a reader has to know; those of a preset's consumer name the others, and its labels are only as good as itself. */
function rolesOf(parts: RequestParts, { presetConsumer }: Partial<OracleContracts>): readonly ContractRole[] {
  if (parts.kind === "preset") return ["vrfCoordinator", "presetConsumer"];
  const isFunction = parts.kind === "function";
  const asker = isFunction ? parts.functions.request?.requestingContract : parts.randomness.request?.sender;
  const consumer = asker !== undefined && asker === presetConsumer ? (["presetConsumer"] as const) : [];
  if (!isFunction) return ["vrfCoordinator", ...consumer];
  return asker === undefined ? [] : ["functionsRouter", "functionsCoordinator", ...consumer];
}

async function compareConsumer(
  { randomness, preset }: Extract<RequestParts, { readonly kind: "preset" }>,
  { book, facts }: RequestPartsMeans,
): Promise<ComparedContracts> {
  const consumer = book.get("presetConsumer");
  const read = async (functionName: "VRF_COORDINATOR" | "FUNCTIONS_ROUTER" | "DON_ID"): Promise<Hex> => {
    const call = { abi: consumerAbi, functionName } as const;
    const { data } = await facts.call(consumer, encodeFunctionData(call));
    return decodeFunctionResult({ ...call, data }).toLowerCase() as Hex;
  };
  const vrfCoordinator = await read("VRF_COORDINATOR");
  const router = await read("FUNCTIONS_ROUTER");
  const at = preset.reported?.log.blockNumber;
  const { coordinator, isOutdated } = await readCoordinator(
    book.learn("functionsRouter", router),
    await read("DON_ID"),
    at,
    facts,
  );
  const sender = randomness.request?.sender;
  const compared = [
    ...(sender === undefined ? [] : [{ what: "consumer of the words", expected: consumer, found: sender }]),
    {
      what: "coordinator of the consumer",
      expected: book.learn("vrfCoordinator", vrfCoordinator),
      found: vrfCoordinator,
    },
    { what: "router of the consumer", expected: book.get("functionsRouter"), found: router },
    {
      what: "coordinator of the router",
      expected: book.learn("functionsCoordinator", coordinator),
      found: coordinator,
    },
  ];
  return { compared, isOutdated };
}

/** Compares the router's coordinator for the oracle network of a request; nothing if the receipt has no `RequestStart` log for it. */
async function compareCoordinator(
  { requestId, log: { transactionHash, blockNumber } }: OracleEventOf<"OracleRequest">,
  { facts, book }: RequestPartsMeans,
): Promise<ComparedContracts> {
  const router = book.get("functionsRouter");
  const { logs } = await facts.getTransaction(transactionHash);
  for (const log of logs) {
    if (log.address !== router || log.topics[0] !== EVENT_TOPICS.RequestStart || log.topics[1] !== requestId)
      continue;
    const event = decodeLog(log);
    if (event?.name !== "RequestStart") continue;
    const { coordinator: found, isOutdated } = await readCoordinator(router, event.donId, blockNumber, facts);
    const expected = book.get("functionsCoordinator");
    return { compared: [{ what: "coordinator of the router", expected, found }], isOutdated };
  }
  return NOTHING_COMPARED;
}

/** Returns the router's coordinator for an oracle network. */
async function readCoordinator(
  router: Hex,
  donId: Hex,
  at: bigint | undefined,
  facts: RequestPartsMeans["facts"],
): Promise<{ readonly coordinator: Hex; readonly isOutdated: boolean }> {
  const call = { abi: functionsRouterAbi, functionName: "getContractById", args: [donId] } as const;
  const { data, state } = await facts.call(router, encodeFunctionData(call), at);
  const coordinator = decodeFunctionResult({ ...call, data }).toLowerCase() as Hex;
  return { coordinator, isOutdated: state !== "block" };
}
