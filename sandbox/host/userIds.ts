import { readdirSync, statSync } from "node:fs";

/** User ids that no distribution gives to people or packages and that fit into 16 bits (systemd's dynamic range). */
const FIRST = 61_184;
const COUNT = 4_000;

/** Of all pools and bundlers of this process: what they start changes users only after a while. */
const taken = new Set<number>();
let next = process.pid % COUNT;

/**
 * Takes a user id that is not taken here, and that no process in sight has: of another service, or left over.
 * Ids are tried in turn, so that one just released is the last to come again.
 * @throws If all 4,000 are in use.
 */
export function takeUserId(): number {
  const used = findUsed();
  for (let tried = 0; tried < COUNT; tried++) {
    const uid = FIRST + next;
    next = (next + 1) % COUNT;
    if (taken.has(uid) || used.has(uid)) continue;
    taken.add(uid);
    return uid;
  }
  throw new Error(`all user ids from ${FIRST} to ${FIRST + COUNT - 1} are in use`);
}

/** Gives an id back once its process has ended. */
export function releaseUserId(uid: number): void {
  taken.delete(uid);
}

/** Owners of all processes: 1 to 2 ms for some hundred. */
function findUsed(): Set<number> {
  const used = new Set<number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d/.test(name)) continue;
    const owner = statSync(`/proc/${name}`, { throwIfNoEntry: false })?.uid;
    if (owner !== undefined) used.add(owner);
  }
  return used;
}
