import type { Hex } from "viem";
import type { SecretsKey, SecretsSigner, SecretView } from "../api/types.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { toHexText } from "../lib/hex.ts";
import { keccak256 } from "../lib/keccak.ts";
import { pointerTo } from "../lib/parseJson.ts";
import { formatTime } from "../lib/time.ts";
import { ChainUnavailableError } from "../networks/chainUnavailable.ts";
import { countShownChars, type RunRequest, type SandboxPool } from "../../sandbox/index.ts";
import { NotFoundError, TycheError } from "../lib/errors.ts";
import { sealSecret } from "../secrets/sealSecret.ts";
import { secretsLabel, type SecretsPlace } from "../secrets/sealedSecrets.ts";
import { parseCiphertext } from "../secrets/tdh2.ts";
import { encodeSecretsReference, type SlotVersion } from "../secrets/secretsReference.ts";
import {
  countVersions,
  forgetVersions,
  listSecrets,
  listVersions,
  publishSecret,
  reserveSlot,
  type NamedSecret,
} from "../store/secrets.ts";
import type { NamedSlots, SecretRun } from "../secrets/holder.ts";
import type { Store } from "../store/store.ts";
import type { Dapp } from "../dapps/dapp.ts";
import { getIntake, type NetworkSecrets, type ServiceNetwork } from "./serviceNetwork.ts";

/** Most secrets of a dapp on a network, and their size together, in bytes. */
const MAX_NAMES = 100;
const MAX_TOTAL_BYTES = 27_648;
/** Most versions of them that are stored, replaced ones included. */
const MAX_VERSIONS = 500;
/** Longest value, and longest content of a ciphertext: the value as JSON, with its name and hosts. Bytes. */
const MAX_VALUE_BYTES = 2_048;
const MAX_CONTENT_BYTES = 4_096;
/** How long a version that was replaced can still be read, by requests that were sent with it. */
const REPLACED_KEPT_MS = 3_600_000;
/** An expiration that never comes: the last time that JavaScript can name. */
const NEVER_MS = 8_640_000_000_000_000;

/** What is set of a secret: its value, or what a client has made of it with the key. */
export interface SecretParams {
  readonly network: string;
  readonly value?: string;
  readonly ciphertext?: string;
  /** In lower case. */
  readonly allowedHosts?: readonly string[];
  /** Unix milliseconds. */
  readonly expiresAt?: number;
}

/** The secrets of the dapps: encrypted to the nodes, which alone can read them. */
export interface Secrets {
  /** Sets a secret. Throws `invalid_parameter` when it is too long or can't be opened, and `chain_unavailable`. */
  put(dapp: Dapp, name: string, params: SecretParams): Promise<SecretView>;
  list(dapp: Dapp, network?: string): Promise<readonly SecretView[]>;
  /** Deletes a secret at once, for requests in flight too. Throws `not_found`, and `chain_unavailable` while the oracle is away. */
  delete(dapp: Dapp, name: string, network: string): Promise<SecretView>;
  /** Returns what a client encrypts to. */
  key(dapp: Dapp, network: string): Promise<SecretsKey>;
  /**
   * Names the account that may upload for the dapp's subscription. The account agrees by its signature: whatever it has uploaded can be
   * read by the dapp's requests. Throws `invalid_parameter` with the message to sign, and `chain_unavailable`.
   */
  setSigner(
    dapp: Dapp,
    network: string,
    consent: { readonly signer: Hex; readonly signature?: Hex | undefined },
  ): Promise<SecretsSigner>;
  /** Deletes what the oracle holds of versions replaced an hour ago, and of deleted dapps. Rejects while it is away. */
  deleteReplaced(network: ServiceNetwork): Promise<void>;
}

/** What the acceptance of functions needs of secrets. */
export interface SecretsReader {
  /** Returns what a request says on chain about the secrets that it names. Throws `invalid_parameter` for a name that there is not. */
  refer(dappId: string, network: ServiceNetwork, names: readonly string[]): Promise<Hex>;
  /** Whether a dry run can read secrets; otherwise, only requests on chain can. */
  canRun(network: ServiceNetwork): boolean;
  /** Runs a source with what {@link refer} returned, for a dry run. Throws `invalid_parameter` where it can't. */
  run(dappId: string, network: ServiceNetwork, reference: Hex, request: RunRequest): Promise<SecretRun>;
}

/** Creates the use cases of secrets. */
export function createSecrets(options: {
  readonly store: Store;
  /** Throws `invalid_parameter` for an unknown name. */
  readonly getNetwork: (name: string) => ServiceNetwork;
  readonly findNetwork: (name: string) => ServiceNetwork | undefined;
}): Secrets & SecretsReader {
  const { store, getNetwork, findNetwork } = options;

  function placeOf(dappId: string, network: ServiceNetwork) {
    const { subscriptions } = getIntake(network);
    const { name } = network.profile;
    const secrets = network.secrets?.() ?? "its oracle is not connected";
    if (typeof secrets === "string") refuse("/network", `${name} holds no secrets: ${secrets}`);
    const subscription = subscriptions.find(dappId);
    if (subscription === undefined)
      throw new ChainUnavailableError(name, "the dapp's subscriptions are being created; try again");
    return { ...secrets, subscriptionId: subscription.functionsSubscriptionId };
  }

  /** Whether the nodes have another key than the one that a secret is encrypted to; not while their key isn't known. */
  function isOutdated({ network, keyHash }: NamedSecret): boolean {
    const secrets = findNetwork(network)?.secrets?.();
    return typeof secrets === "object" && keyHash !== null && keyHash !== keyHashOf(secrets);
  }

  const view = (secret: NamedSecret): SecretView => viewOf(secret, isOutdated(secret));

  /** Deletes versions where they are held, and then their names. */
  async function forget(
    { holder, operator }: Pick<NetworkSecrets, "holder" | "operator">,
    network: string,
    versions: readonly NamedSecret[],
  ): Promise<void> {
    if (versions.length === 0) return;
    const slotIds = versions.map(({ slotId }) => slotId);
    await holder.drop(operator, slotIds);
    await store.write((db) => forgetVersions(db, network, slotIds));
  }

  /** Returns the version of the secret that another replaces, or 0. */
  async function assertRoom(dappId: string, network: string, name: string, size: number): Promise<number> {
    const known = await listSecrets(store.db, dappId, network);
    const others = known.filter((one) => one.name !== name);
    if ((await countVersions(store.db, dappId, network)) >= MAX_VERSIONS)
      refuse(
        "/name",
        `secrets on ${network} were set ${MAX_VERSIONS} times in an hour; wait before the next`,
      );
    if (others.length >= MAX_NAMES)
      refuse("/name", `there are ${MAX_NAMES} secrets on ${network}, which is the most; delete one`);
    const total = others.reduce((sum, one) => sum + one.size, size);
    if (total > MAX_TOTAL_BYTES)
      refuse(
        "/value",
        `with it, the secrets on ${network} would take ${total} bytes of at most ${MAX_TOTAL_BYTES}`,
      );
    return known.find((one) => one.name === name)?.version ?? 0;
  }

  return {
    async put(dapp, name, { network: networkName, value, ciphertext: given, allowedHosts, expiresAt }) {
      const network = getNetwork(networkName);
      const place = placeOf(dapp.id, network);
      const { holder, operator } = place;
      if (value !== undefined) assertValueFits("/value", value);
      const now = Date.now();
      assertHosts(allowedHosts);
      if (expiresAt !== undefined && expiresAt <= now) refuse("/expiresAt", "is in the past");
      const secret = { name, value: value ?? "", allowedHosts };
      const ciphertext = given ?? (await sealSecret(holder.threshold, secret, secretsLabel(place)));
      const size = contentBytes(ciphertext);
      if (given !== undefined) assertLabel(given, place);
      const before = await assertRoom(dapp.id, networkName, name, size);
      const version = Math.max(Math.floor(now / 1_000), before + 1);
      const named: Omit<NamedSecret, "slotId"> = {
        network: networkName,
        owner: operator,
        dappId: dapp.id,
        name,
        version,
        size,
        changedAt: now,
        expiresAt: expiresAt ?? null,
        allowedHosts: given === undefined ? (allowedHosts ?? []) : null,
        keyHash: keyHashOf(place),
      };
      const slotId = await store.write((db) => reserveSlot(db, named));
      const slot = { slotId, version };
      await holder.keep({ ...slot, owner: operator, ciphertext, expiresAt: expiresAt ?? NEVER_MS });
      const sealed = given && (await readSealed({ name, slots: [slot] }, place));
      const current = { ...named, ...sealed, slotId };
      const isThere = await store.write((db) => publishSecret(db, current, now + REPLACED_KEPT_MS));
      if (isThere) return view(current);
      await holder.drop(operator, [slotId]);
      throw new NotFoundError(`secret ${name} any more: it was deleted meanwhile, set it again`);
    },

    async list(dapp, network) {
      if (network !== undefined) getNetwork(network);
      return (await listSecrets(store.db, dapp.id, network)).map(view);
    },

    async delete(dapp, name, network) {
      const place = placeOf(dapp.id, getNetwork(network));
      const versions = await listVersions(store.db, network, { dappId: dapp.id, name });
      const newest = versions.toSorted((a, b) => b.version - a.version)[0];
      if (newest === undefined) throw new NotFoundError(`secret ${name} on ${network}`);
      await forget(place, network, versions);
      return view(newest);
    },

    async deleteReplaced(network) {
      const secrets = network.secrets?.();
      if (typeof secrets !== "object") return;
      const { name } = network.profile;
      const replacedBefore = Date.now() - REPLACED_KEPT_MS;
      await forget(secrets, name, await listVersions(store.db, name, { replacedBefore }));
    },

    async key(dapp, network) {
      const place = placeOf(dapp.id, getNetwork(network));
      const { Group, G_bar, H } = place.holder.threshold;
      return { network, thresholdPublicKey: { Group, G_bar, H }, label: toHexText(secretsLabel(place)) };
    },

    async setSigner(dapp, networkName, { signer, signature }) {
      const network = getNetwork(networkName);
      const { subscriptionId } = placeOf(dapp.id, network);
      const transactionHash = await getIntake(network).setSecretsSigner(dapp.id, signer, signature);
      return {
        network: networkName,
        functionsSubscriptionId: String(subscriptionId),
        signer,
        transactionHash,
      };
    },

    async refer(dappId, network, names) {
      const { operator } = placeOf(dappId, network);
      const { name: where } = network.profile;
      const known = await listSecrets(store.db, dappId, where);
      const slots = names.map((name, i) => {
        const path = `/secrets/${i}`;
        const found = known.find((one) => one.name === name);
        if (found === undefined) return refuse(path, `there is no secret ${name} on ${where}; set it first`);
        if ((found.expiresAt ?? NEVER_MS) <= Date.now())
          refuse(path, `there is no secret ${name} on ${where} any more: it has expired; set it first`);
        if (isOutdated(found))
          refuse(
            path,
            `${name} is encrypted to a key that the nodes of ${where} no longer have; set it again`,
          );
        return { slotId: found.slotId, version: found.version };
      });
      return encodeSecretsReference({ owner: operator, slots });
    },

    canRun(network) {
      const secrets = network.secrets?.();
      return typeof secrets !== "object" || secrets.holder.run !== undefined;
    },

    async run(dappId, network, reference, request) {
      const { holder, subscriptionId } = placeOf(dappId, network);
      if (holder.run === undefined)
        refuse(
          "/secrets",
          `a dry run can't read those of ${network.profile.name}: its nodes open them only for requests on chain; give their values for this run as secretValues, or use runFunction`,
        );
      return await holder.run({ reference, subscriptionId }, request);
    },
  };
}

/** Runs a source with secrets. */
export type RunWithSecrets = (request: RunRequest) => Promise<SecretRun>;

/** Returns what runs a source with secrets by name; `undefined` without names. Throws `invalid_parameter` for a name that there is not. */
export async function findSecrets(
  reader: SecretsReader,
  dappId: string,
  network: ServiceNetwork,
  names: readonly string[] | undefined,
): Promise<RunWithSecrets | undefined> {
  if (names === undefined) return undefined;
  const reference = await reader.refer(dappId, network, names);
  return (request) => reader.run(dappId, network, reference, request);
}

/**
 * Returns what runs a source with values that come with the call, and that nothing keeps: no secret of the dapp is read. Throws
 * `invalid_parameter` if one is too long, or one of `names` has none.
 */
export function withValues(
  pool: Pick<SandboxPool, "run">,
  values: Readonly<Record<string, string>>,
  names: readonly string[] = [],
): RunWithSecrets {
  for (const name of names)
    if (!Object.hasOwn(values, name))
      refuse("/secretValues", `has no ${name}, which secrets names: give a value for each, or for none`);
  for (const [name, value] of Object.entries(values))
    assertValueFits(pointerTo(name, "/secretValues"), value);
  return async (request) => {
    const run = await pool.run({ ...request, secrets: values });
    return { run, shownChars: run.ok ? countShownChars(run.bytes, Object.values(values)) : 0 };
  };
}

function assertValueFits(path: string, value: string): void {
  const size = Buffer.byteLength(value);
  if (size > MAX_VALUE_BYTES) refuse(path, `is ${size} bytes long, and at most ${MAX_VALUE_BYTES} are taken`);
}

/** Checks before it is uploaded that a ciphertext of a client is for this dapp: nodes remember for good who used one of functions-toolkit. */
function assertLabel(ciphertext: string, place: Pick<NetworkSecrets, "holder"> & SecretsPlace): void {
  let label: Uint8Array;
  try {
    ({ label } = parseCiphertext(ciphertext, place.holder.threshold));
  } catch (error) {
    return refuseUnreadable(error);
  }
  if (toHexText(label) !== toHexText(secretsLabel(place)))
    refuse("/ciphertext", "is for another dapp or network: its label must be that of the key");
}

/**
 * Checks what a client encrypted, as far as the holder can read it: nobody would otherwise notice before a request needs it. Returns its
 * hosts.
 */
async function readSealed(
  { name, slots }: { readonly name: string; readonly slots: readonly SlotVersion[] },
  { holder, operator, subscriptionId }: NetworkSecrets & Pick<NamedSlots, "subscriptionId">,
): Promise<Pick<NamedSecret, "allowedHosts">> {
  if (holder.describe === undefined) return { allowedHosts: null };
  const reference = encodeSecretsReference({ owner: operator, slots });
  const opened = await holder.describe({ reference, subscriptionId }).catch(refuseUnreadable);
  if (opened.length !== 1 || opened[0]!.name !== name)
    return refuse("/ciphertext", `does not hold ${name} alone`);
  const { allowedHosts = [] } = opened[0]!;
  assertHosts(allowedHosts);
  return { allowedHosts };
}

function refuseUnreadable(error: unknown): never {
  if (error instanceof TycheError && error.code === "secrets_unreadable")
    refuse("/ciphertext", error.message);
  throw error;
}

/** Checks that each host is one that a URL can have: no other would ever match. */
function assertHosts(hosts: readonly string[] = []): void {
  const violations = hosts.flatMap((host, i) =>
    // Either scheme leaves out its own usual port.
    ["http", "https"].some((scheme) => URL.parse(`${scheme}://${host}/`)?.host === host)
      ? []
      : [
          {
            path: `/allowedHosts/${i}`,
            message:
              "must be the name of a host, such as api.example.com, with a port if it is not the usual one, and without scheme or path",
          },
        ],
  );
  if (violations.length > 0) throw new InvalidParameterError(violations);
}

function contentBytes(ciphertext: string): number {
  const { SymCtxt } = parseSealed(ciphertext);
  const size = Buffer.from(SymCtxt, "base64").length - TAG_BYTES;
  if (size > MAX_CONTENT_BYTES)
    refuse(
      "/value",
      `takes ${size} bytes with its name and hosts, and at most ${MAX_CONTENT_BYTES} are taken`,
    );
  return size;
}

const TAG_BYTES = 16;

function parseSealed(ciphertext: string): { readonly SymCtxt: string } {
  try {
    const { SymCtxt } = JSON.parse(ciphertext) as { SymCtxt?: unknown };
    if (typeof SymCtxt === "string") return { SymCtxt };
  } catch {
    // Refused below, like any other text.
  }
  return refuse("/ciphertext", "is no ciphertext as the client library makes it");
}

function refuse(path: string, message: string): never {
  throw new InvalidParameterError([{ path, message }]);
}

/** Identifies the key that secrets are encrypted to. */
function keyHashOf({ holder }: Pick<NetworkSecrets, "holder">): Hex {
  return toHexText(keccak256(Buffer.from(holder.threshold.H, "base64")));
}

function viewOf(secret: NamedSecret, outdated: boolean): SecretView {
  const { name, network, version, size, changedAt, expiresAt, allowedHosts } = secret;
  return {
    name,
    network,
    version,
    size,
    changedAt: formatTime(changedAt),
    expiresAt: expiresAt === null ? null : formatTime(expiresAt),
    allowedHosts: allowedHosts === null ? null : [...allowedHosts],
    outdated,
  };
}
