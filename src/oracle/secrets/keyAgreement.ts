/**
 * How the nodes of a configuration agree on a key that none of them holds: each deals to all (`keyGeneration.ts`), for a new key or for one that
 * is handed on, combines what it was dealt, and uses the key once all say the same. What a node has said it never says otherwise: it is on disk
 * before.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { hexToString, isHex, type Hex } from "viem";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { deriveKey } from "../../lib/seal.ts";
import {
  combineDealings,
  createDealer,
  isPartOf,
  isShareOf,
  parseDealing,
  type Dealer,
  type SharedKey,
} from "../../secrets/keyGeneration.ts";
import type { ThresholdPublicKey } from "../../secrets/tdh2.ts";
import { LONGEST_FREE_PAUSE_MS, pauseAfter } from "../backoff.ts";
import { GatewayError } from "./gatewayMessage.ts";
import { takeSlotsOver } from "./heldSlots.ts";
import { askAll, connectFormer, type Given, type KeyContext, type KeyRecord, type Seat } from "./keySeat.ts";
import { digestOf } from "./vault.ts";

export const PART = "tyche secrets part";

/** What a node says of its key: the public keys once it has recorded them. */
export interface KeyAnswer {
  readonly configDigest: Hex;
  readonly donPublicKey?: Hex | undefined;
  readonly thresholdPublicKey?: Hex | undefined;
  /** Digests of what each node dealt to it; `null` if it was nothing right. */
  readonly dealings: readonly (Hex | null)[];
  /** Of a key that is handed on: whose dealings it has combined, by index. */
  readonly dealers?: readonly number[] | undefined;
  /** Whether it knows that all nodes have recorded this key. */
  readonly isAgreed: boolean;
}

/** The node that chooses whose dealings are combined where not all are needed: the others check and follow it, as all must do the same. */
const CHOOSER = 0;

/** Has a node agree with the others on the key of a configuration, until it has or the seat is stopped. It never rejects. */
export async function agreeOnKey(context: KeyContext, own: Seat): Promise<void> {
  for (let attempt = 1; !own.stopping.signal.aborted; attempt += 1) {
    try {
      await findFormerShare(context, own);
      if (own.self < 0) return;
      if (own.key === undefined) await restore(context, own);
      if (own.key === undefined) await collect(context, own);
      if (own.key !== undefined && !own.isAgreed) await confirm(context, own);
      if (own.isAgreed && own.record?.lacksSlots === true) await takeSlotsOver(context, own);
      if (own.isAgreed && own.record?.lacksSlots !== true) return;
    } catch (error) {
      if (own.stopping.signal.aborted) return;
      const what = own.isAgreed ? "taking over what the former nodes hold" : "generating the key";
      own.log.warn({ err: error }, `secrets: ${what} failed; retrying`);
    }
    const pause = pauseAfter(attempt, LONGEST_FREE_PAUSE_MS);
    await sleep(pause, undefined, { signal: own.stopping.signal }).catch(() => {});
  }
}

/** Finds this node's share of a key that is handed on. */
async function findFormerShare(context: KeyContext, own: Seat): Promise<void> {
  const { formerKey, configDigest } = own.set;
  if (formerKey === undefined || own.held !== undefined) return;
  const record = await readRecord(context, formerKey.configDigest);
  if (record === undefined || record.isOpen !== undefined) return;
  const key = keyOf(context, record);
  if (hashOf(key.thresholdPublicKey) !== formerKey.keyHash) return;
  own.held = { key, isAgreed: record.isAgreed };
  const trouble = handTrouble(context, own);
  if (trouble !== undefined) own.log.warn({ configDigest }, `secrets: ${trouble}`);
}

/** Why this node doesn't hand its share on yet. */
function handTrouble({ handKeyOnTo }: KeyContext, { set, held, isAgreed }: Seat): string | undefined {
  if (held === undefined || isAgreed || handKeyOnTo === set.configDigest) return undefined;
  const nodes = set.signers.map((signer, node) => `${signer} at ${set.urls[node]}`);
  return `the coordinator's owner wants this node to hand its share of the key for secrets on to ${nodes.join(", ")}: any ${2 * set.faulty + 1} of them together can read all secrets. If you trust them as you do the present nodes, set handKeyOnTo of the network to ${set.configDigest}, and start the node again`;
}

/** Why a node has no key yet, not all that the former nodes hold, or hands none on. */
export function keyTrouble(context: KeyContext, seat: Seat): string | undefined {
  const hand = handTrouble(context, seat);
  const { set, self, dealers, missing, record, isAgreed } = seat;
  if (self < 0 || (isAgreed && record?.lacksSlots !== true)) return hand;
  const from = dealers === undefined ? "enough" : 2 * dealers.set.faulty + 1;
  const what =
    set.formerKey === undefined
      ? "the key for secrets is not generated yet: all nodes have to take part once"
      : isAgreed
        ? `what the nodes of configuration ${set.formerKey.configDigest} hold of secrets is not taken over yet: ${from} of them have to answer`
        : `the key for secrets is not handed on yet: ${from} of the nodes of configuration ${set.formerKey.configDigest} have to deal, and all of the present ones to take part once`;
  return [what, hand, ...[...missing].map(([name, why]) => `${name.split(" ")[1]}: ${why}`)]
    .filter((one) => one !== undefined)
    .join("; ");
}

async function readRecord({ records }: KeyContext, configDigest: Hex): Promise<KeyRecord | undefined> {
  const record = await records.read(configDigest);
  return record === undefined ? undefined : (JSON.parse(record) as KeyRecord);
}

/** Continues from what was recorded before a restart. */
async function restore(context: KeyContext, own: Seat): Promise<void> {
  const record = await readRecord(context, own.set.configDigest);
  if (record === undefined) return;
  for (const [k, one] of record.given.entries()) own.given.set(record.handover?.dealers[k] ?? k, one);
  if (record.isOpen === undefined) adopt(own, record, keyOf(context, record));
}

function keyOf({ box }: KeyContext, { given, handover }: KeyRecord): SharedKey {
  const parts = given.map(({ part }) => box.open(fromHexText(part), PART));
  return combineDealings(
    given.map(({ dealing }) => dealing),
    parts,
    handover,
  );
}

function adopt(own: Seat, record: KeyRecord, key: SharedKey): void {
  own.missing.clear();
  own.record = record;
  own.key = key;
  own.isAgreed = record.isAgreed;
}

/** Asks those dealers for what they deal from whom nothing right has come yet; records the dealings once enough are there. */
async function collect(context: KeyContext, own: Seat): Promise<void> {
  const { set, self, needed, given } = own;
  const { configDigest } = set;
  const dealt = new Map<number, Given>();
  own.dealers ??= await connectFormer(context, set.formerKey!);
  await askAll(
    own,
    own.dealers,
    (node) => !given.has(node),
    async (answer, node) => {
      const { part, formerKey } = answer as { readonly part?: unknown; readonly formerKey?: unknown };
      const dealing = parseDealing(answer, needed);
      if (dealing === undefined || !isHex(part) || !isRight(context, self, { dealing, part }))
        return "it deals what does not fit its own commitments";
      if (set.formerKey !== undefined) {
        if (!isHex(formerKey) || hashOf(formerKey) !== set.formerKey.keyHash)
          return "it hands on another key than the configuration names";
        own.formerKey ??= JSON.parse(hexToString(formerKey)) as ThresholdPublicKey;
        if (!isShareOf(dealing, own.formerKey.HArray[node]!)) return "it deals something else than its share";
      }
      dealt.set(node, { dealing, part });
      return undefined;
    },
    { method: "node_dealing", payload: { configDigest, boxKey: toHexText(context.box.publicKey) } },
  );
  const recordOf = (dealers: readonly number[], from = given): KeyRecord => ({
    given: dealers.map((node) => from.get(node)!),
    isAgreed: false,
    ...(set.formerKey !== undefined && {
      handover: { dealers, nodes: set.signers.length, configDigest },
      lacksSlots: true,
    }),
  });
  const all = new Map([...given, ...dealt]);
  // On disk before this node says that it has them: a dealer that leaves may not be there to ask again.
  if (set.formerKey !== undefined && dealt.size > 0)
    await context.records.save(
      configDigest,
      JSON.stringify({ ...recordOf([...all.keys()], all), isOpen: true }),
    );
  for (const [node, one] of dealt) given.set(node, one);
  const chosen = set.formerKey === undefined ? allOf(own) : await choose(own);
  if (chosen === undefined) return;
  const record = recordOf(chosen);
  const key = keyOf(context, record);
  if (own.formerKey !== undefined && key.threshold.H !== own.formerKey.H)
    throw new Error("what was dealt makes another key than the one that is handed on");
  // On disk before this node says what it follows from: it must never say anything else.
  await context.records.save(configDigest, JSON.stringify(record));
  adopt(own, record, key);
}

function allOf({ set, given }: Seat): readonly number[] | undefined {
  return given.size < set.signers.length ? undefined : set.signers.map((_, node) => node);
}

/** Returns the dealers whose dealings all nodes combine: as many as opened a ciphertext, each of which has dealt the same to all nodes, and rightly. */
async function choose(own: Seat): Promise<readonly number[] | undefined> {
  const { set, self, given } = own;
  const needed = 2 * own.dealers!.set.faulty + 1;
  if (given.size < needed) return undefined;
  const digests = digestsOf(own);
  const dealtAlike = new Set(given.keys());
  let chosen: readonly number[] | undefined;
  let answers = 0;
  await askAll(
    own,
    own,
    (node) => node !== self && (self === CHOOSER || node === CHOOSER),
    async (answer) => {
      const { dealings, dealers } = answer as Partial<KeyAnswer>;
      answers += 1;
      for (const node of given.keys()) if (dealings?.[node] !== digests[node]) dealtAlike.delete(node);
      if (self === CHOOSER) return undefined;
      if (!Array.isArray(dealers)) return "it has yet to choose whose dealings are combined";
      const known = new Set(dealers.filter((node: number) => dealtAlike.has(node)));
      if (known.size !== needed || dealers.length !== needed)
        return "it has chosen dealings that this node was not dealt";
      chosen = dealers;
      return undefined;
    },
    { method: "node_key", payload: {} },
  );
  if (self !== CHOOSER) return chosen;
  const right = [...dealtAlike].toSorted((a, b) => a - b);
  return answers === set.signers.length - 1 && right.length >= needed ? right.slice(0, needed) : undefined;
}

export const digestsOf = ({ given }: Seat): readonly (Hex | null)[] =>
  Array.from({ length: Math.max(-1, ...given.keys()) + 1 }, (_, node) => {
    const one = given.get(node);
    return one === undefined ? null : digestOf(JSON.stringify(one.dealing));
  });

function isRight({ box }: KeyContext, index: number, { dealing, part }: Given): boolean {
  try {
    return isPartOf(dealing, index, box.open(fromHexText(part), PART));
  } catch {
    return false;
  }
}

/** Asks the others for their keys, until all have said the same, or so many know of that that one of those is honest. */
async function confirm({ records }: KeyContext, own: Seat): Promise<void> {
  const { set, self, key } = own;
  await askAll(
    own,
    own,
    (node) => node !== self && !own.knows[node],
    async (answer, node) => {
      const { donPublicKey, thresholdPublicKey, isAgreed } = answer as Partial<KeyAnswer>;
      own.same[node] = donPublicKey === key!.donPublicKey && thresholdPublicKey === key!.thresholdPublicKey;
      own.knows[node] = own.same[node] && isAgreed === true;
      if (own.same[node]) return undefined;
      return thresholdPublicKey === undefined
        ? "it has not combined the dealings yet"
        : `it has another key${describeDifference(own, digestsOf(own), answer)}`;
    },
    { method: "node_key", payload: {} },
  );
  const isKnown = own.knows.filter((knows) => knows).length > set.faulty;
  if (own.same.includes(false) && !isKnown) return;
  const record = { ...own.record!, isAgreed: true };
  await records.save(set.configDigest, JSON.stringify(record));
  adopt(own, record, key!);
  const { donPublicKey, thresholdPublicKey } = key!;
  own.log.info(
    { configDigest: set.configDigest, donPublicKey, thresholdPublicKey },
    `secrets: all nodes have ${record.handover === undefined ? "generated" : "taken over"} the same key`,
  );
}

/** Names the dealers whose dealings two nodes have differently: either they dealt twice, or one of the two lies. */
function describeDifference(
  { dealers }: Pick<Seat, "dealers">,
  digests: readonly (Hex | null)[],
  answer: object,
): string {
  const { dealings } = answer as { readonly dealings?: unknown };
  if (!Array.isArray(dealings) || dealers === undefined) return "";
  const signers = dealers.set.signers.filter((_, node) => dealings[node] !== digests[node]);
  return signers.length === 0 ? "" : `, and says that ${signers.join(", ")} dealt something else`;
}

/** Returns what this node deals to those of a configuration. Throws {@link GatewayError} while it may not, or can't. */
export function dealerOf({ seed, handKeyOnTo }: KeyContext, own: Seat): Dealer {
  const { set, self, needed, held } = own;
  if (own.dealer !== undefined) return own.dealer;
  if (set.formerKey === undefined ? self < 0 : held === undefined)
    throw new GatewayError("the node has no share of the key, or does not know yet that it has");
  if (held !== undefined && handKeyOnTo !== set.configDigest)
    throw new GatewayError("its operator has not agreed to hand its share on to these nodes");
  // Hashed, as 31 signers are longer than what a key may be derived for.
  const purpose = `dealing ${set.configDigest} ${needed} ${digestOf(set.signers.join())}`;
  own.dealer = createDealer(deriveKey(seed, purpose), needed, held?.key.share);
  return own.dealer;
}

const hashOf = (thresholdPublicKey: Hex): Hex => digestOf(fromHexText(thresholdPublicKey));
