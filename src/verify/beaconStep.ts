import type { RequestVerification, VerificationStep } from "../api/types.ts";
import {
  drandRoundTime,
  isLocalBeacon,
  showRound,
  verifyDrandRound,
  type DrandChain,
  type DrandRound,
} from "../beacon/drand.ts";
import type { RequestPartsMeans } from "./randomnessParts.ts";
import type { PresetResult } from "../chainlink/presetReport.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";
import { QUICKNET_HASH } from "../domain/vocabulary.ts";
import { failedStep, HOW_TO_PASS, notApplicableStep } from "./verification.ts";

/** The round of drand that a request waited for. */
interface CheckedBeacon {
  readonly steps: readonly VerificationStep[];
  readonly beacon: RequestVerification["beacon"];
  /** Its signature, if it holds. */
  readonly signature?: Uint8Array;
}

/** A request that fixed a round of drand, and what its report says of the round. */
interface RoundParts {
  /** Absent if it fixed none. */
  readonly beacon: DrandRound | undefined;
  /** The log of the request; absent if the node doesn't show it. */
  readonly requested: { readonly log: Pick<RawLog, "transactionHash"> } | undefined;
  /** The signature in the report; not `ok` if the report has something else in its place, and absent without a report. */
  readonly reported: PresetResult | undefined;
  /** Whether the report has an error in place of a result. */
  readonly isError: boolean;
}

/**
 * Checks that the round of drand that a request fixed was in the future of its block, and that the report has the signature of that
 * round; or that it has an error, where the round was known. No step for a request without a round.
 *
 * @param ownChains the chains of rounds that the operator publishes, besides quicknet, which is always known
 */
export async function checkBeacon(
  { beacon, requested, reported, isError }: RoundParts,
  { facts }: RequestPartsMeans,
  ownChains: readonly DrandChain[] = [],
): Promise<CheckedBeacon> {
  if (beacon === undefined || requested === undefined) return { steps: [], beacon: null };
  const { round, chainHash } = beacon;
  const isQuicknet = chainHash === QUICKNET_HASH;
  const { chain, shown } = showRound(beacon, ownChains);
  const due = chain && drandRoundTime(chain, round);
  const dueAt = shown.time ?? "a time that never comes";
  const give = (step: VerificationStep): CheckedBeacon => ({ steps: [step], beacon: shown });
  const open = (detail: string): CheckedBeacon => give(notApplicableStep("beacon", detail));
  if (chain === undefined || due === undefined)
    return open(
      `the request waits for round ${round} of the chain ${chainHash}, which is not drand's quicknet: to check it, ${HOW_TO_PASS}`,
    );
  const { blockTime } = await facts.getTransaction(requested.log.transactionHash);
  if (blockTime === undefined)
    return open("the node doesn't show the request's block, so whether the round was known then is open");
  const isRefused = isError && !(reported?.ok && reported.bytes.length > 0);
  if (due <= blockTime) {
    const known = `round ${round} was due at ${dueAt}, not after the request's block: it was known`;
    if (reported === undefined) return open(`${known}, so the nodes can only answer with an error`);
    if (!isRefused) return give(failedStep("beacon", known));
    const detail = `${known}, and the nodes answered with an error, as they must`;
    return give({ name: "beacon", outcome: "ok", detail, compared: [] });
  }
  if (isRefused)
    return open(
      `the request waits for round ${round}, due at ${dueAt}, and the nodes answered with an error and without its signature: that they couldn't have it is their word`,
    );
  if (reported === undefined)
    return open(`the request waits for round ${round}, due at ${dueAt}: its signature comes with the report`);
  const signature = reported.bytes;
  const holds = await facts.once(`beacon ${chainHash} ${round} ${signature.join()}`, () =>
    Promise.resolve(reported.ok && verifyDrandRound(chain, round, signature)),
  );
  if (!holds)
    return give(failedStep("beacon", `the report has another signature than that of round ${round}`));
  const whose = isQuicknet
    ? "drand's quicknet"
    : `${isLocalBeacon(chain) ? "the service's local beacon, " : ""}a chain of rounds of the operator's own (${chainHash}), whose key holder knows every round beforehand`;
  const detail = `the request fixed round ${round}, due at ${dueAt}, ${due - blockTime} seconds after its block; its signature is that of ${whose}`;
  return { ...give({ name: "beacon", outcome: "ok", detail, compared: [] }), signature };
}
