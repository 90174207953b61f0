import { deriveWords } from "../../../src/chainlink/fulfilmentWords.ts";
import { readyRecord } from "../../../src/chainlink/presetBatch.ts";
import { transmitOrder } from "../../../src/oracle/protocol/transmitOrder.ts";
import type { SeveralOperators } from "./nodes.ts";
import { joinBody, splitBody, type PeerRule } from "./peerProxy.ts";
import type { PresetOnChain } from "./presetsOnChain.ts";

const ENDORSEMENT = 4;
const PROOF = 6;
/** What a proof names as its sender. */
export const VRF_OPERATOR = 255;

/** Steps of a preset at which a node may be killed, by the message that shows them. */
export const PRESET_STEPS = {
  "it gets the proof": { kind: PROOF, isIncoming: true, of: 1 },
  "it has signed": { kind: ENDORSEMENT, isIncoming: false, of: 1 },
  "it gets the last signature that it needs to transmit": { kind: ENDORSEMENT, isIncoming: true, of: 2 },
} as const;

/**
 * Silences one node, so that all others are needed, and waits until another node reaches a step. What that node sends at this moment is
 * lost with it.
 */
export function watchPresetStep(
  { proxy }: SeveralOperators,
  world: { readonly silent: number; readonly node: number; readonly step: keyof typeof PRESET_STEPS },
): Promise<void> {
  const { silent, node } = world;
  const { kind, isIncoming, of } = PRESET_STEPS[world.step];
  const { promise, resolve } = Promise.withResolvers<void>();
  const senders = new Set<number>();
  let isReached = false;
  proxy.setRule(async ({ from, to, body }) => {
    const isOfStep = splitBody(body).some((message) => message[1] === kind);
    if (isOfStep && from !== silent && (isIncoming ? to : from) === node) senders.add(from);
    isReached ||= senders.size === of;
    if (isReached) resolve();
    return from === silent || (isReached && from === node) ? undefined : body;
  });
  return promise;
}

/** Puts a wrong proof before each right one. */
export const withWrongProofs: PeerRule = async ({ body }) =>
  joinBody(
    splitBody(body).flatMap((message) => {
      if (message[1] !== PROOF) return [message];
      const wrong = Buffer.from(message);
      wrong[wrong.length - 1]! ^= 1;
      return [wrong, message];
    }),
  );

/** Loses all proofs. */
export const withoutProofs: PeerRule = async ({ from, body }) => (from === VRF_OPERATOR ? undefined : body);

/** Returns the node whose turn to deliver a batch came first. */
export function firstToDeliver({ batch, word }: PresetOnChain, nodes: number): number {
  const [seed] = deriveWords(word!.outputSeed, 1);
  return transmitOrder(readyRecord(batch, seed!), nodes)[0]!;
}
