import { encodeAbiParameters, keccak256, type Hex } from "viem";
import type { RequestLabel } from "../api/types.ts";
import { decodeSubmission } from "../chainlink/calldata.ts";
import { EVENT_TOPICS, findEvent, type ChainEventOf } from "../chainlink/events.ts";
import { canonicalLabel, findLabelProblem } from "../domain/label.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";
import type { FoundLogs, LogSearch, ProvenLogs, SearchBounds } from "./chainFacts.ts";
import { UnknownTransactionError } from "./minedTransaction.ts";
import { idOf, type RequestParts } from "./requestParts.ts";
import type { RequestPartsMeans } from "./randomnessParts.ts";

/** Labels that one verification searches the chain for: a transaction can carry a hundred. */
const MAX_SEARCHES = 10;
/** Transactions in which it looks for further requests with them, where nothing else is said: each is read with its whole block. */
const MAX_TRANSACTIONS = 10;
/** What the operator can write as a dapp's id: text in its place could pass for words of the verification. */
const DAPP_ID = /^dapp_[0-9a-hjkmnp-tv-z]{1,40}$/;
/** Pauses before a node that omits the request itself is asked again: it may not have stored the logs of its newest block yet. */
const PAUSES_MS = [0, 250, 2_000];

/**
 * Creates the search for the labels of one verification's requests. `isProven` says of a request whether a VRF proof is for the hash of its
 * block: the blocks before it are then fixed, too.
 */
export function createLabelSearch(
  means: RequestPartsMeans & { readonly hasEthereumBlocks: boolean },
  bounds: SearchBounds = {},
): (parts: RequestParts, isProven: boolean) => Promise<RequestLabel | null> {
  let searches = MAX_SEARCHES;
  let { transactions = MAX_TRANSACTIONS } = bounds;
  const prove = async (
    search: LogSearch,
    { blockNumber: block, blockHash: hash }: RawLog,
    found: FoundLogs,
    fromBlock: bigint | undefined,
  ): Promise<{ readonly found: FoundLogs; readonly proven: ProvenLogs | undefined }> => {
    const { headers = 0, deploymentBlock = 0n } = bounds;
    const whole = block < headers ? 0n : found.codeFrom;
    // Where that is too much: a node can say that the contract had code long before its deployment.
    const begins = fromBlock === undefined ? [whole, deploymentBlock] : [fromBlock];
    const from = begins.find((one) => one !== undefined && one <= block && block - one < headers);
    if (!means.hasEthereumBlocks || from === undefined) return { found, proven: undefined };
    const proven = await means.facts.proveLogs(search, { block, hash, from });
    return {
      // In the blocks that the node doesn't show, there may be what it doesn't list.
      found: proven.from > from ? { ...found, omits: true } : found,
      proven: proven.from > block ? undefined : proven,
    };
  };
  return (parts, isProven) =>
    findLabel(parts, means, async (search, { log: own, labelled }) => {
      const around = own.blockNumber;
      const { label, dapp = labelled.dapp } = bounds.earlier ?? {};
      const earlier = label === labelled.label && dapp === labelled.dapp ? bounds.earlier : undefined;
      let found: FoundLogs = {
        transactionHashes: [],
        from: around,
        to: around - 1n,
        codeFrom: 0n,
        omits: false,
        isWhole: false,
      };
      if (searches === 0) return { found, proven: undefined };
      searches -= 1;
      for (const pauseMs of PAUSES_MS) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        found = await means.facts.findLogs(search, { ...bounds, earlier, around, limit: transactions });
        const isListed = found.transactionHashes.includes(own.transactionHash);
        if (isListed || found.omits || found.from > around || found.to < around) break;
        // It leaves out one that it has shown, so it may leave out others.
        found = { ...found, omits: true };
      }
      transactions -= found.transactionHashes.length;
      return isProven
        ? await prove(search, own, found, earlier === undefined ? bounds.fromBlock : undefined)
        : { found, proven: undefined };
    });
}

/**
 * Finds the label that a request was given in its own transaction, and all requests on the chain with that label of that dapp. `null` for a
 * request without a label.
 *
 * That there are no others is as true as the node's list of logs is whole, except in the blocks of which the logs follow from their hashes: each log
 * that it lists is taken from a receipt that was hashed, but of those that it omits elsewhere, only the request's own is missed.
 */
async function findLabel(
  parts: RequestParts,
  means: RequestPartsMeans,
  find: (
    search: LogSearch,
    own: Draw,
  ) => Promise<{ readonly found: FoundLogs; readonly proven: ProvenLogs | undefined }>,
): Promise<RequestLabel | null> {
  const place = placeOf(parts, means);
  if (place === undefined) return null;
  const { consumer, acceptedId, item, transactionHash } = place;
  const { logs } = await means.facts.getTransaction(transactionHash);
  const own = drawsIn(logs, consumer).find(
    ({ accepted, labelled }) => accepted.requestId === acceptedId && labelled.item === BigInt(item),
  );
  if (own === undefined) return null;
  const { labelHash, dapp, label } = own.labelled;
  // No proof is for the block of a function request, which a node may make up, with labels in it.
  if (parts.kind === "function" && !(await isInCalldata(own, means))) return null;
  const search = { address: consumer, topics: [EVENT_TOPICS.Labelled, labelHash] };
  const { found, proven } = await find(search, own);
  const proved = proven?.logs ?? new Map<Hex, readonly RawLog[]>();
  const listed = new Set(found.transactionHashes);
  // A node that leaves out one before the request may leave out others after it.
  let omits =
    found.omits ||
    [...proved].some(
      ([hash, [log]]) => log!.blockNumber >= found.from && log!.blockNumber <= found.to && !listed.has(hash),
    );
  const all = [...proved.values()].flatMap((logs) => drawsIn(logs, consumer));
  for (const hash of new Set([transactionHash, ...listed])) {
    if (proved.has(hash)) continue;
    const { logs: others, blockNumber } = await means.facts.getTransaction(hash).catch((error: unknown) => {
      if (!(error instanceof UnknownTransactionError)) throw error;
      // A reorganisation removed it since the search.
      omits = true;
      return { logs: [], blockNumber: undefined };
    });
    const isMadeUp =
      proven !== undefined &&
      hash !== transactionHash &&
      blockNumber !== undefined &&
      blockNumber >= proven.from &&
      blockNumber <= own.log.blockNumber;
    if (!isMadeUp) all.push(...drawsIn(others, consumer));
  }
  const draws = all.filter(({ labelled }) => labelled.labelHash === labelHash);
  draws.sort((a, b) => Number(a.log.blockNumber - b.log.blockNumber) || a.log.logIndex - b.log.logIndex);
  return {
    dapp,
    label,
    draw: draws.findIndex(({ log }) => isSame(log, own.log)) + 1,
    draws: draws.map(({ log }) => ({
      transactionHash: log.transactionHash,
      blockNumber: log.blockNumber.toString(),
    })),
    searched: {
      from: String(proven !== undefined && proven.from < found.from ? proven.from : found.from),
      to: String(proven !== undefined && found.to < own.log.blockNumber ? own.log.blockNumber : found.to),
      codeFrom: found.codeFrom?.toString() ?? null,
      omits,
      isWhole: found.isWhole && !omits,
      provenFrom: proven?.from.toString() ?? null,
    },
  };
}

/** Returns keccak256 of a dapp's id and a label, as PresetConsumer logs it. */
function labelHashOf(dapp: string, label: string): Hex {
  return keccak256(encodeAbiParameters([{ type: "string" }, { type: "string" }], [dapp, label]));
}

/** Where a request's label would be; `undefined` if it was not PresetConsumer that asked. */
function placeOf(parts: RequestParts, { book }: RequestPartsMeans) {
  const known = book.known().presetConsumer;
  if (parts.kind === "function") {
    const { request } = parts.functions;
    if (request === undefined || (known !== undefined && request.requestingContract !== known))
      return undefined;
    const { transactionHash } = request.log;
    return { consumer: request.requestingContract, acceptedId: idOf(parts), item: 0, transactionHash };
  }
  const { request, vrfRequestId } = parts.randomness;
  if (request === undefined || (known !== undefined && request.sender !== known)) return undefined;
  const item = parts.kind === "preset" ? parts.preset.item : 0;
  const { transactionHash } = request.log;
  return { consumer: request.sender, acceptedId: vrfRequestId, item, transactionHash };
}

/** A labelled request that was accepted, and the log with its label. */
interface Draw {
  readonly accepted: ChainEventOf<"Accepted">;
  readonly labelled: ChainEventOf<"Labelled">;
  readonly log: RawLog;
}

/** Returns the labelled requests in a transaction of PresetConsumer. The labels follow the entries of their submission. */
function drawsIn(logs: readonly RawLog[], consumer: Hex): Draw[] {
  const draws: Draw[] = [];
  const entries = new Map<number, ChainEventOf<"Accepted">>();
  for (const log of logs) {
    const event = log.address === consumer ? findEvent(log) : undefined;
    if (event?.name === "Accepted") {
      // A second submission in the transaction.
      if (event.index === 0) entries.clear();
      entries.set(event.index, event);
    }
    if (event?.name !== "Labelled") continue;
    const accepted = entries.get(Number(event.index));
    const isTrue =
      DAPP_ID.test(event.dapp) &&
      labelHashOf(event.dapp, event.label) === event.labelHash &&
      findLabelProblem(event.label) === undefined &&
      canonicalLabel(event.label) === event.label;
    if (accepted !== undefined && isTrue) draws.push({ accepted, labelled: event, log });
  }
  return draws;
}

/** Whether the transaction gave the label to the request, by its own bytes. */
async function isInCalldata({ labelled, log }: Draw, { facts }: RequestPartsMeans): Promise<boolean> {
  const { input, to } = await facts.getTransaction(log.transactionHash);
  const labels = to === log.address ? (decodeSubmission(input)?.labels ?? []) : [];
  const { index, item, dapp, label } = labelled;
  return labels.some(
    (one) => one.index === index && one.item === item && one.dapp === dapp && one.text === label,
  );
}

function isSame(a: RawLog, b: RawLog): boolean {
  return a.transactionHash === b.transactionHash && a.logIndex === b.logIndex;
}
