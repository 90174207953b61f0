import { sha256 } from "@noble/hashes/sha2.js";
import { isHex, type Hex } from "viem";
import { TycheError } from "../../lib/errors.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { CiphertextError, NO_LABEL, type Ciphertext } from "../../secrets/tdh2.ts";
import { openEcies } from "../../secrets/ecies.ts";
import type { Secret } from "../../secrets/sealSecret.ts";
import { isLabelFor, isSame, openSecrets, readObject, type SecretsOf } from "../../secrets/sealedSecrets.ts";
import type { SecretOpener } from "../../secrets/secretKeys.ts";
import {
  decodeSecretsReference,
  type SecretsReference,
  type SlotVersion,
} from "../../secrets/secretsReference.ts";
import type { OpenSecrets, SecretsOfRequest } from "../functions/execute.ts";
import { createBoundedMap } from "../../lib/boundedMap.ts";
import { createTokenBuckets } from "../../lib/tokenBucket.ts";
import type { Authority } from "./authority.ts";
import type { Upload } from "./gatewayMessage.ts";

/** Limits for uploads that anybody who has a subscription may make, as Chainlink's nodes have them. */
const MAX_SLOTS = 10;
const MAX_CIPHERTEXT_BYTES = 10_240;
const MAX_LIFETIME_MS = 2_160 * 3_600_000;
/** How far an upload's version, the time in seconds by the uploader's clock, may be ahead. */
const MAX_VERSION_AHEAD_MS = 600_000;
/** Uploads of an account: each may leave a record that is kept for good. */
const UPLOADS_OF_OWNER = { burst: 100, perSecond: 1 / 36 } as const;
/** Memory for ciphertexts that were opened, or tried: a function that runs often opens its own once. */
const MAX_CACHED_BYTES = 4_194_304;

/** Memory for what was found for requests, and about how much one takes: a document with secrets at most. */
const MAX_LOOKUP_BYTES = 4_194_304;
const LOOKUP_BYTES = 16_384;
/** Pause before what failed, or doesn't last, is looked up again for a request. */
const LOOKUP_PAUSE_MS = 1_000;

/** What is in a slot of an uploader. */
export interface Slot extends Upload {
  /** Lower case. */
  readonly owner: Hex;
}

/** Names what is in a slot. */
export type SlotName = Pick<Slot, "owner" | "slotId" | "version">;

/** Keeps the slots of one network. */
export interface SlotStore {
  /** Stores an upload unless the slot has the same or a later version; returns whether it did. */
  save(slot: Slot): Promise<boolean>;
  /** Records for good whose a ciphertext is, by the digest of its `u`, unless that is known; returns whose it is, once that is on disk. */
  claim(u: Hex, owner: Hex): Promise<Hex>;
  find(owner: Hex, slotId: number): Promise<Slot | undefined>;
  /** An uploader's slots, by id. */
  list(owner: Hex): Promise<readonly Slot[]>;
  /** Names what has not expired at a time, by owner and slot: at most `limit` of those that follow `after`. */
  listNames(page: {
    readonly after: SlotName | undefined;
    readonly limit: number;
    readonly now: number;
  }): Promise<readonly SlotName[]>;
  /** Deletes slots of an uploader; those that there are not are ignored. */
  delete(owner: Hex, slotIds: readonly number[]): Promise<void>;
  /** Forgets what expired before a time. */
  deleteExpired(before: number): Promise<void>;
}

/** The secrets that an oracle network holds. */
export interface Vault {
  /** Stores what the operator uploads for a dapp, without the limits for others. */
  keep(this: void, slot: Slot): Promise<void>;
  /** Deletes slots of an uploader. */
  drop(this: void, owner: Hex, slotIds: readonly number[]): Promise<void>;
  /**
   * Stores an upload.
   *
   * @throws {UploadRefusedError}
   */
  take(slot: Slot): Promise<void>;
  list(owner: Hex): Promise<readonly Slot[]>;
  /** Returns what is held of an uploader's slots, in exactly these versions. */
  findHeld(this: void, owner: Hex, named: readonly SlotVersion[]): Promise<readonly Slot[]>;
  /** Names what has not expired, by owner and slot: at most `limit` of those that follow `after`. */
  listNames(this: void, after: SlotName | undefined, limit: number): Promise<readonly SlotName[]>;
  /** Stores what other nodes hold, except what can't be opened, is somebody else's, or was deleted while they were asked. */
  keepRecalled(this: void, recall: () => Promise<readonly Slot[]>): Promise<void>;
  /**
   * Opens what a request names that a subscription pays for.
   *
   * @throws {SecretsRefusedError} if it may not have them, or they are not there.
   * @throws {CiphertextError} if they can't be opened.
   */
  open(reference: SecretsReference, subscriptionId: bigint): Promise<readonly Secret[]>;
  /** Opens what a request on chain names, wherever that is; throws the same. */
  openRequest: OpenSecrets;
  /**
   * Finds the ciphertext with a digest among those that a request on chain may have opened.
   *
   * @throws {SecretsRefusedError} if the request may not, or names no such ciphertext; {@link CiphertextError} if it can't be opened.
   */
  findNamed(request: SecretsOfRequest, of: Parameters<OpenSecrets>[1], digest: Hex): Promise<Ciphertext>;
}

/** Asks the other nodes for an uploader's slots in these versions; returns those that so many have as can open them. Rejects while too few answer. */
export type RecallSlots = (owner: Hex, slots: readonly SlotVersion[]) => Promise<readonly Slot[]>;

/** Returns SHA-256 of a text in UTF-8, or of bytes. */
export function digestOf(content: string | Uint8Array): Hex {
  return toHexText(sha256(typeof content === "string" ? Buffer.from(content) : content));
}

/** `secretsLocation` of a request, FunctionsRequest.sol `Location`. */
const REMOTE = 1;
const HELD_BY_NODES = 2;
/** Most URLs that are tried. */
const MAX_URLS = 5;

/** A ciphertext with its uploader. */
type Sealed = Pick<Slot, "owner" | "ciphertext">;

/** A ciphertext that a request names; `uploader` as in {@link SecretsOf}. */
type Named = Sealed & Pick<SecretsOf, "uploader">;

/** Creates a vault for a network, or for one of its nodes. */
export function createVault(options: {
  /** Returns what opens ciphertexts for a request on chain, or for a dry run. */
  readonly openerFor: (requestId: Hex | undefined) => SecretOpener;
  /** Parses a ciphertext, where nodes belong to several operators; throws {@link CiphertextError} for one that can never be opened. */
  readonly parse?: ((ciphertext: string) => Ciphertext) | undefined;
  /** Finds what this node missed, where nodes belong to several operators. */
  readonly recall?: RecallSlots | undefined;
  readonly chainId: number;
  readonly router: Hex;
  readonly slots: SlotStore;
  readonly authority: Authority;
  /** Fetches a document as a source could; rejects when it can't be had. */
  readonly fetchText: (url: string) => Promise<string>;
}): Vault {
  const { openerFor, parse, recall, chainId, router, slots, authority, fetchText } = options;
  const opened = createBoundedMap<string, Promise<readonly Secret[]>>(MAX_CACHED_BYTES);
  const uploads = createTokenBuckets(UPLOADS_OF_OWNER);
  const lookUp = createLookUp();

  /**
   * Parses a ciphertext, where nodes belong to several operators, and throws unless its owner is the first to use it. A copy may differ in all
   * but its label and `u`, which the proof ties together, and a share is of `u` alone. A label says whose it is, so nobody has to remember it.
   */
  async function parseOwn({ ciphertext, owner }: Sealed): Promise<Ciphertext | undefined> {
    const parsed = parse?.(ciphertext);
    if (parsed === undefined || !isSame(parsed.label, NO_LABEL)) return parsed;
    if ((await slots.claim(digestOf(parsed.u), owner)) === owner) return parsed;
    throw new SecretsRefusedError("another account has used this ciphertext before; encrypt them again");
  }

  async function openSlot(
    { ciphertext, owner, uploader }: Named,
    subscriptionId: bigint,
    requestId?: Hex,
  ): Promise<readonly Secret[]> {
    const opener = openerFor(requestId);
    // What was opened with another key can't be opened any more.
    const key = `${digestOf(opener.donSecretKey)} ${subscriptionId} ${uploader} ${ciphertext}`;
    const known = opened.get(key);
    if (known !== undefined) return await known;
    const place = { chainId, router, subscriptionId };
    const opening = (async () => {
      await parseOwn({ ciphertext, owner });
      return await openSecrets(opener, ciphertext, { uploader, place });
    })();
    opened.set(key, opening, 2 * key.length);
    // What can't be opened never can be, and trying takes milliseconds of this thread.
    opening.catch((error: unknown) => {
      if (!(error instanceof CiphertextError)) opened.delete(key);
    });
    return await opening;
  }

  /** Returns whose secrets requests of a subscription may name. @param request the one on chain; a consent may be withdrawn after it */
  function ownerOf(
    { owner }: Pick<SecretsReference, "owner">,
    subscriptionId: bigint,
    request?: Parameters<OpenSecrets>[1],
  ): Promise<Omit<Named, "ciphertext">> {
    const read = () => readOwner(owner, subscriptionId, request?.blockNumber);
    return lookUp("owner", request?.requestId, read, { lasts: false });
  }

  async function readOwner(
    owner: Hex | undefined,
    subscriptionId: bigint,
    seenBlock: bigint | undefined,
  ): Promise<Omit<Named, "ciphertext">> {
    // Any account can be made the operator of a contract without its consent.
    if (owner !== undefined && (await authority.isOperator(subscriptionId, owner, seenBlock)))
      return { owner, uploader: undefined };
    const uploader = await authority.findUploader(subscriptionId, seenBlock);
    if (uploader === undefined || (owner !== undefined && owner !== uploader))
      throw new SecretsRefusedError(
        `nobody may upload secrets for subscription ${subscriptionId}: its owner has to name the account that does`,
      );
    return { owner: uploader, uploader };
  }

  /** Fetches the ciphertext in a document of the uploader's, whose URLs only the nodes can read. */
  async function fetchRemote(sealedUrls: Uint8Array, requestId: Hex): Promise<string> {
    const { donSecretKey } = openerFor(requestId);
    const urls = Buffer.from(openEcies(donSecretKey, sealedUrls)).toString().split(" ");
    for (const url of urls.slice(0, MAX_URLS)) {
      const document = await fetchText(url).catch(() => undefined);
      if (document === undefined) continue;
      const { encryptedSecrets } = readObject(document);
      if (!isHex(encryptedSecrets)) throw new SecretsRefusedError("the document has no encryptedSecrets");
      return Buffer.from(fromHexText(encryptedSecrets)).toString();
    }
    throw new SecretsRefusedError("none of their URLs gave a document");
  }

  async function findHeld(owner: Hex, named: readonly SlotVersion[]): Promise<readonly Slot[]> {
    const found = await Promise.all(named.map(({ slotId }) => slots.find(owner, slotId)));
    return found.filter((slot): slot is Slot =>
      named.some(({ slotId, version }) => slot?.slotId === slotId && slot.version === version),
    );
  }

  /** By recall that is under way: the slots that were deleted meanwhile. */
  const deleted = new Set<Set<string>>();
  const nameOf = ({ owner, slotId }: Pick<Slot, "owner" | "slotId">): string => `${owner} ${slotId}`;

  async function keepRecalled(recall: () => Promise<readonly Slot[]>): Promise<void> {
    const meanwhile = new Set<string>();
    deleted.add(meanwhile);
    try {
      for (const slot of await recall()) {
        const isOwn = await parseOwn(slot).then(
          () => true,
          (error: unknown) => {
            if (error instanceof CiphertextError || error instanceof SecretsRefusedError) return false;
            throw error;
          },
        );
        if (isOwn && !meanwhile.has(nameOf(slot))) await slots.save(slot);
      }
    } finally {
      deleted.delete(meanwhile);
    }
  }

  async function findSlots(
    reference: SecretsReference,
    subscriptionId: bigint,
    request?: Parameters<OpenSecrets>[1],
  ): Promise<readonly Named[]> {
    const { owner, uploader } = await ownerOf(reference, subscriptionId, request);
    let held = await findHeld(owner, reference.slots);
    if (held.length < reference.slots.length && recall !== undefined) {
      const missing = reference.slots.filter(({ slotId }) => !held.some((slot) => slot.slotId === slotId));
      const keep = () => keepRecalled(() => recall(owner, missing));
      await lookUp("slots", request?.requestId, keep, { lasts: false });
      held = await findHeld(owner, reference.slots);
    }
    return reference.slots.map(({ slotId, version }) => {
      const slot = held.find((one) => one.slotId === slotId);
      if (slot !== undefined && slot.expiresAt > Date.now()) return { ...slot, uploader };
      throw new SecretsRefusedError(
        `slot ${slotId} of ${owner} has no version ${version}: it was not uploaded, was replaced, or has expired`,
      );
    });
  }

  async function findSealed(
    { secrets = "0x", secretsLocation }: SecretsOfRequest,
    of: Parameters<OpenSecrets>[1],
  ): Promise<readonly Named[]> {
    const bytes = fromHexText(secrets);
    if (secretsLocation === HELD_BY_NODES)
      return await findSlots(decodeSecretsReference(bytes), of.subscriptionId, of);
    if (secretsLocation === REMOTE) {
      const owned = await ownerOf({}, of.subscriptionId, of);
      const { requestId } = of;
      const ciphertext = await lookUp("document", requestId, () => fetchRemote(bytes, requestId));
      return [{ ...owned, ciphertext }];
    }
    throw new SecretsRefusedError("their location must be 1 (remote) or 2 (held by the nodes)");
  }

  async function openAll(
    sealed: readonly Named[],
    subscriptionId: bigint,
    requestId?: Hex,
  ): Promise<readonly Secret[]> {
    return (await Promise.all(sealed.map((one) => openSlot(one, subscriptionId, requestId)))).flat();
  }

  return {
    findHeld,
    listNames: (after, limit) => slots.listNames({ after, limit, now: Date.now() }),
    keepRecalled,
    open: async (reference, subscriptionId) =>
      await openAll(await findSlots(reference, subscriptionId), subscriptionId),
    openRequest: async (request, of) =>
      await openAll(await findSealed(request, of), of.subscriptionId, of.requestId),
    async findNamed(request, of, digest) {
      const found = (await findSealed(request, of)).find((one) => digestOf(one.ciphertext) === digest);
      const parsed = found && (await parseOwn(found));
      if (found === undefined || parsed === undefined)
        throw new SecretsRefusedError("the request names others");
      const place = { chainId, router, subscriptionId: of.subscriptionId };
      if (!isLabelFor(parsed.label, { uploader: found.uploader, place }))
        throw new SecretsRefusedError("they are for somebody else");
      return parsed;
    },
    async keep(slot) {
      await parseOwn(slot);
      if (!(await slots.save(slot))) throw new UploadRefusedError("version too low");
    },
    async drop(owner, slotIds) {
      for (const slotId of slotIds) for (const meanwhile of deleted) meanwhile.add(nameOf({ owner, slotId }));
      await slots.delete(owner, slotIds);
    },
    async take(slot) {
      const now = Date.now();
      assertStorable(slot, now);
      if (!(await authority.mayUpload(slot.owner)))
        throw new UploadRefusedError(
          "sender not allowed: it owns no subscription with LINK, and signs secrets for none",
        );
      if (parse !== undefined && !uploads.take(slot.owner))
        throw new UploadRefusedError("rate limited: too many uploads in an hour");
      await parseOwn(slot);
      // Kept until no upload that was recorded before can be sent again.
      await slots.deleteExpired(now - MAX_LIFETIME_MS);
      if (!(await slots.save(slot))) throw new UploadRefusedError("version too low");
    },
    list: async (owner) => (await slots.list(owner)).filter(({ expiresAt }) => expiresAt > Date.now()),
  };
}

/**
 * Returns what does once for each request what other nodes may ask for again and again: once a second if its result doesn't last, or if it
 * fails and the request is not to blame.
 */
function createLookUp() {
  const lookups = createBoundedMap<string, { readonly found: Promise<unknown>; until: number }>(
    MAX_LOOKUP_BYTES,
  );
  return <Found>(
    name: string,
    requestId: Hex | undefined,
    work: () => Promise<Found>,
    { lasts = true } = {},
  ): Promise<Found> => {
    if (requestId === undefined) return work();
    const key = `${name} ${requestId}`;
    const known = lookups.get(key);
    if (known !== undefined && performance.now() < known.until) return known.found as Promise<Found>;
    const found = work();
    const lookup = { found, until: Infinity };
    lookups.set(key, lookup, LOOKUP_BYTES);
    const expire = (): void => void (lookup.until = performance.now() + LOOKUP_PAUSE_MS);
    found.then(
      () => lasts || expire(),
      (error: unknown) => (lasts && error instanceof SecretsRefusedError) || expire(),
    );
    return found;
  };
}

/** Throws {@link UploadRefusedError} unless an upload is within the limits of Chainlink's nodes. */
function assertStorable(slot: Slot, now: number): void {
  if (slot.slotId >= MAX_SLOTS) throw new UploadRefusedError(`slot id is not below ${MAX_SLOTS}`);
  if (slot.ciphertext.length > MAX_CIPHERTEXT_BYTES)
    throw new UploadRefusedError(`payload longer than ${MAX_CIPHERTEXT_BYTES} bytes`);
  if (slot.expiresAt <= now) throw new UploadRefusedError("already expired");
  if (slot.expiresAt > now + MAX_LIFETIME_MS)
    throw new UploadRefusedError(`expiration is more than ${MAX_LIFETIME_MS / 3_600_000} hours ahead`);
  if (slot.version * 1_000 > now + MAX_VERSION_AHEAD_MS)
    throw new UploadRefusedError("version is a time to come");
}

/** A request may not have the secrets that it names, or they are not there. */
export class SecretsRefusedError extends TycheError {
  constructor(reason: string) {
    super(`The request's secrets can't be used: ${reason}.`, {
      code: "secrets_unreadable",
      blame: "caller",
    });
  }
}

/** A node does not store an upload. The message is short, like those of Chainlink's nodes. */
export class UploadRefusedError extends TycheError {
  constructor(reason: string) {
    super(reason, { code: "secrets_refused", blame: "caller" });
  }
}
