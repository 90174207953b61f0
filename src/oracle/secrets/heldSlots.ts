/** What other nodes hold in slots: for a node that was away when it was uploaded, or is new. */
import { isHex, size, type Hex } from "viem";
import { isObject } from "../../lib/isObject.ts";
import { encodeSecretsReference, type SlotVersion } from "../../secrets/secretsReference.ts";
import {
  ANSWER_MS,
  askAll,
  askUntil,
  connectFormer,
  GATHER_MS,
  type KeyContext,
  type Nodes,
  type Seat,
} from "./keySeat.ts";
import type { Slot, SlotName } from "./vault.ts";

/** Names of slots in one answer, and most answers with names that one node is asked for. */
export const NAMES_OF_ANSWER = 1_000;
const MAX_NAME_ANSWERS = 100;
/** Slots that are fetched at once: an answer takes one megabyte, and a ciphertext 10 kB. */
const SLOTS_OF_ANSWER = 50;

/**
 * Takes over what 2f + 1 of the former nodes hold alike, f theirs: as many could open it, so it can't be one that was deleted. What names
 * nobody stays behind, as no node opens it.
 */
export async function takeSlotsOver(context: KeyContext, own: Seat): Promise<void> {
  const { configDigest, formerKey } = own.set;
  own.dealers ??= await connectFormer(context, formerKey!);
  const { dealers } = own;
  const needed = 2 * dealers.set.faulty + 1;
  const times = new Map<string, number>();
  let answers = 0;
  await askAll(
    own,
    dealers,
    () => true,
    async (first, node) => {
      const names = new Set<string>();
      let page = parseNames(first);
      for (let asked = 1; ; asked += 1) {
        for (const name of page) names.add(JSON.stringify(name));
        if (page.length < NAMES_OF_ANSWER || asked >= MAX_NAME_ANSWERS) break;
        const payload = { configDigest, after: page.at(-1) };
        const stop = AbortSignal.any([own.stopping.signal, AbortSignal.timeout(ANSWER_MS)]);
        page = parseNames(await dealers.ask(node, "node_held", payload, stop));
      }
      for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
      answers += 1;
      return undefined;
    },
    { method: "node_held", payload: { configDigest } },
  );
  if (answers < needed) return;
  const common = [...times]
    .filter(([, count]) => count >= needed)
    .map(([name]) => JSON.parse(name) as SlotName);
  for (const [owner, named] of Map.groupBy(common, (name) => name.owner)) {
    const known = new Set((await context.findHeld(owner, named)).map(({ slotId }) => slotId));
    const lacking = named.filter(({ slotId }) => !known.has(slotId));
    for (let first = 0; first < lacking.length; first += SLOTS_OF_ANSWER) {
      const slots = lacking.slice(first, first + SLOTS_OF_ANSWER);
      await context.keepRecalled(() => recall(context, own, dealers, { owner, slots }));
    }
  }
  const record = { ...own.record!, lacksSlots: false };
  await context.records.save(configDigest, JSON.stringify(record));
  own.missing.clear();
  own.record = record;
}

/** Returns those slots of which so many nodes hold the same as can open it. Rejects while too few answer to tell. */
export async function recall(
  { address }: KeyContext,
  own: Seat,
  { set, ask }: Nodes,
  { owner, slots }: { readonly owner: Hex; readonly slots: readonly SlotVersion[] },
): Promise<readonly Slot[]> {
  const needed = 2 * set.faulty + 1;
  const said = new Map<string, number>();
  const found = new Map<number, Slot>();
  /** By slot: the most that hold the same, so far, and how many have yet to answer. */
  const most = new Map<number, number>();
  const asked = set.signers.filter((signer) => signer !== address).length;
  let silent = asked;
  const decided = new AbortController();
  const stop = AbortSignal.any([own.stopping.signal, decided.signal, AbortSignal.timeout(GATHER_MS)]);
  const reference = encodeSecretsReference({ owner, slots });
  const payload = { configDigest: own.set.configDigest, reference };
  await Promise.all(
    set.signers.map(async (signer, node) => {
      if (signer === address) return;
      const answer = await askUntil({ ask }, { node, method: "node_slots", payload, stop });
      if (answer === undefined) return;
      silent -= 1;
      for (const slot of parseSlots(answer, owner, slots)) {
        const text = JSON.stringify(slot);
        const times = (said.get(text) ?? 0) + 1;
        said.set(text, times);
        most.set(slot.slotId, Math.max(times, most.get(slot.slotId) ?? 0));
        if (times === needed) found.set(slot.slotId, slot);
      }
      const isDecided = ({ slotId }: SlotVersion): boolean =>
        found.has(slotId) || (most.get(slotId) ?? 0) + silent < needed;
      if (slots.every(isDecided)) decided.abort();
    }),
  );
  if (decided.signal.aborted) return [...found.values()];
  throw new AnswersMissingError(asked - silent);
}

/** Parses the names of slots that a node says it holds. */
function parseNames(answer: object): readonly SlotName[] {
  const { names } = answer as { readonly names?: unknown };
  return (Array.isArray(names) ? names : []).slice(0, NAMES_OF_ANSWER).flatMap((one) => parseName(one) ?? []);
}

export function parseName(given: unknown): SlotName | undefined {
  const { owner, slotId, version } = isObject(given) ? given : {};
  const isName = isHex(owner) && size(owner) === ADDRESS_BYTES && isCount(slotId) && isCount(version);
  return isName ? { owner: owner.toLowerCase() as Hex, slotId, version } : undefined;
}

const ADDRESS_BYTES = 20;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Parses what a node says that it holds, each slot at most once. */
function parseSlots(answer: object, owner: Hex, asked: readonly SlotVersion[]): readonly Slot[] {
  const { slots } = answer as { readonly slots?: unknown };
  const given: readonly unknown[] = Array.isArray(slots) ? slots : [];
  return asked.flatMap(({ slotId, version }) => {
    const one = given.find(
      (slot) => isObject(slot) && slot["slotId"] === slotId && slot["version"] === version,
    );
    const { ciphertext, expiresAt } = isObject(one) ? one : {};
    return typeof ciphertext === "string" && Number.isSafeInteger(expiresAt)
      ? [{ owner, slotId, version, ciphertext, expiresAt: expiresAt as number }]
      : [];
  });
}

/** Too few nodes said in time what they hold. */
class AnswersMissingError extends Error {
  constructor(got: number) {
    super(`only ${got} nodes answered what they hold of the request's secrets, too few to tell yet`);
  }
}
