import { readdirSync, statSync } from "node:fs";

/**
 * User ids that no distribution assigns to people or packages and that fit into 16 bits (systemd's dynamic range).
 */
const FIRST = 61_184;
const COUNT = 4_000;

/** Shared by all pools and bundlers of this process: what they start changes user only after a while. */
const taken = new Set<number>();
let next = process.pid % COUNT;

/**
 * Takes a user id that is free here and that no visible process has, whether another service's or a leftover. Ids
 * are tried in turn, so that a released one is reused last.
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

/** Releases an id once its process has ended. */
export function releaseUserId(uid: number): void {
  taken.delete(uid);
}

/** Returns the owners of all processes; takes 1 to 2 ms for a few hundred processes. */
function findUsed(): Set<number> {
  const used = new Set<number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d/.test(name)) continue;
    const owner = statSync(`/proc/${name}`, { throwIfNoEntry: false })?.uid;
    if (owner !== undefined) used.add(owner);
  }
  return used;
}
