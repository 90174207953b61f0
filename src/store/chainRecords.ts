import { TycheError } from "../lib/errors.ts";
import { forgetEnds } from "./requests.ts";
import { findSetting, saveSetting } from "./settings.ts";
import { fromRow, type Stored } from "./columns.ts";
import type { Queryable } from "./queryable.ts";
import type { Tables } from "./schema.ts";

/** A dapp's two subscriptions on one network. Ids are decimal: `uint64` on VRF v2 and Functions, `uint256` on VRF v2.5. */
export interface StoredSubscription {
  readonly dappId: string;
  readonly network: string;
  readonly vrfSubscriptionId: bigint;
  readonly functionsSubscriptionId: bigint;
}

/** A dapp's contract that is linked to its subscriptions. */
export type StoredConsumer = Stored<Tables["consumers"]>;

/** Returns the identity and deployment that this store knows for a network, or `undefined`. */
export async function findChain(
  db: Queryable,
  network: string,
): Promise<{ readonly identity: string; readonly deployment: unknown } | undefined> {
  const row = await db.selectFrom("chains").selectAll().where("network", "=", network).executeTakeFirst();
  return row && { identity: row.identity, deployment: JSON.parse(row.deployment) };
}

/** Returns the names of the networks whose chain this store knows, sorted. */
export async function listChainNames(db: Queryable): Promise<string[]> {
  const rows = await db.selectFrom("chains").select("network").orderBy("network").execute();
  return rows.map(({ network }) => network);
}

/**
 * Assigns a new chain to a network: stores it and deletes everything recorded for the previous one.
 *
 * @throws {TycheError} `chain_unavailable` when another network has this chain: both would send with the same account's nonces.
 */
export async function replaceChain(
  db: Queryable,
  network: string,
  identity: string,
  deployment: unknown,
): Promise<void> {
  const other = await db
    .selectFrom("chains")
    .select("network")
    .where("identity", "=", identity)
    .where("network", "!=", network)
    .executeTakeFirst();
  if (other !== undefined)
    throw new TycheError(
      `the contracts of ${network} are those of ${other.network} in this database: serve them under that name, or deploy others`,
      { code: "chain_unavailable", blame: "caller" },
    );
  await db.deleteFrom("subscriptions").where("network", "=", network).execute();
  await db.deleteFrom("consumers").where("network", "=", network).execute();
  await db.deleteFrom("sources").where("network", "=", network).execute();
  await db.deleteFrom("transactions").where("network", "=", network).execute();
  await forgetEnds(db, network, 0);
  await db.deleteFrom("settings").where("name", "=", spentNonceName(network)).execute();
  await saveChain(db, network, identity, deployment);
}

/** Stores the identity and deployment of a network's chain. */
export async function saveChain(
  db: Queryable,
  network: string,
  identity: string,
  deployment: unknown,
): Promise<void> {
  const known = { identity, deployment: JSON.stringify(deployment) };
  await db
    .insertInto("chains")
    .values({ network, ...known })
    .onConflict((conflict) => conflict.column("network").doUpdateSet(known))
    .execute();
}

/** Stores a dapp's subscriptions on a network. */
export async function saveSubscription(db: Queryable, subscription: StoredSubscription): Promise<void> {
  const ids = {
    vrf_subscription_id: subscription.vrfSubscriptionId.toString(),
    functions_subscription_id: subscription.functionsSubscriptionId.toString(),
  };
  await db
    .insertInto("subscriptions")
    .values({ dapp_id: subscription.dappId, network: subscription.network, ...ids })
    .onConflict((conflict) => conflict.columns(["dapp_id", "network"]).doUpdateSet(ids))
    .execute();
}

/** Returns the subscriptions of one dapp, or of all dapps. */
export async function listSubscriptions(db: Queryable, dappId?: string): Promise<StoredSubscription[]> {
  let query = db.selectFrom("subscriptions").selectAll();
  if (dappId !== undefined) query = query.where("dapp_id", "=", dappId);
  const rows = await query.execute();
  return rows.map((row) => ({
    ...fromRow(row),
    vrfSubscriptionId: BigInt(row.vrf_subscription_id),
    functionsSubscriptionId: BigInt(row.functions_subscription_id),
  }));
}

/** A contract of a dapp on one network. */
export type ConsumerPlace = Pick<StoredConsumer, "dappId" | "network" | "address">;

/** Stores a linked consumer, replacing an earlier link that the chain has lost. */
export async function saveConsumer(db: Queryable, consumer: StoredConsumer): Promise<void> {
  const { dappId, network, address } = consumer;
  const linking = { transaction_hash: consumer.transactionHash, created_at: consumer.createdAt };
  await db
    .insertInto("consumers")
    .values({ dapp_id: dappId, network, address, ...linking })
    .onConflict((conflict) => conflict.columns(["dapp_id", "network", "address"]).doUpdateSet(linking))
    .execute();
}

/** Returns a linked consumer, or `undefined`. */
export async function findConsumer(
  db: Queryable,
  { dappId, network, address }: ConsumerPlace,
): Promise<StoredConsumer | undefined> {
  return (await listConsumers(db, dappId, network)).find((one) => one.address === address);
}

/** Returns the transaction that last linked a contract, of whatever dapp that still exists; `undefined` if it isn't linked. `address`: checksummed. */
export async function findLinkingTransaction(
  db: Queryable,
  { network, address }: Pick<ConsumerPlace, "network" | "address">,
): Promise<string | undefined> {
  const row = await db
    .selectFrom("consumers")
    .innerJoin("dapps", "dapps.id", "consumers.dapp_id")
    .select("consumers.transaction_hash")
    .where("consumers.network", "=", network)
    .where("consumers.address", "=", address)
    .where("dapps.deleted_at", "is", null)
    .orderBy("consumers.created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.transaction_hash;
}

/** Deletes an unlinked consumer. */
export async function deleteConsumer(
  db: Queryable,
  { dappId, network, address }: ConsumerPlace,
): Promise<void> {
  await db
    .deleteFrom("consumers")
    .where("dapp_id", "=", dappId)
    .where("network", "=", network)
    .where("address", "=", address)
    .execute();
}

/** Deletes the consumers that a transaction linked, because the chain no longer has that transaction. */
export async function deleteConsumers(
  db: Queryable,
  network: string,
  transactionHash: string,
): Promise<void> {
  await db
    .deleteFrom("consumers")
    .where("network", "=", network)
    .where("transaction_hash", "=", transactionHash)
    .execute();
}

/** Returns a dapp's linked consumers, oldest first. */
export async function listConsumers(
  db: Queryable,
  dappId: string,
  network?: string,
): Promise<StoredConsumer[]> {
  let query = db.selectFrom("consumers").selectAll().where("dapp_id", "=", dappId);
  if (network !== undefined) query = query.where("network", "=", network);
  const rows = await query.orderBy("created_at").execute();
  return rows.map(fromRow);
}

/** Stores the id under which a network's consumer contract keeps a source (`hash`: of its bytes on chain). */
export async function saveSourceId(
  db: Queryable,
  network: string,
  hash: string,
  sourceId: number,
): Promise<void> {
  await db
    .insertInto("sources")
    .values({ network, hash, source_id: sourceId })
    .onConflict((conflict) => conflict.columns(["network", "hash"]).doUpdateSet({ source_id: sourceId }))
    .execute();
}

/** Returns the ids of all sources stored on a network, by hash. */
export async function listSourceIds(db: Queryable, network: string): Promise<Map<string, number>> {
  const rows = await db.selectFrom("sources").selectAll().where("network", "=", network).execute();
  return new Map(rows.map((row) => [row.hash, row.source_id]));
}

/** The point up to which an oracle has answered everything, and the newest block at that time, which identifies the chain. */
export interface OracleCheckpoint {
  /** Block from which it has to resume reading. */
  readonly blockNumber: bigint;
  readonly head: { readonly number: bigint; readonly hash: string };
}

/** Returns the oracle's checkpoint, or `undefined` if there is none. */
export async function findOracleCheckpoint(
  db: Queryable,
  network: string,
): Promise<OracleCheckpoint | undefined> {
  const noted = await findSetting(db, checkpointName(network));
  const [blockNumber, number, hash] = noted?.split(" ") ?? [];
  if (blockNumber === undefined || number === undefined || hash === undefined) return undefined;
  return { blockNumber: BigInt(blockNumber), head: { number: BigInt(number), hash } };
}

/** Stores the oracle's checkpoint. */
export async function saveOracleCheckpoint(
  db: Queryable,
  network: string,
  { blockNumber, head }: OracleCheckpoint,
): Promise<void> {
  await saveSetting(db, checkpointName(network), `${blockNumber} ${head.number} ${head.hash}`);
}

function checkpointName(network: string): string {
  return `oracle checkpoint ${network}`;
}

/** How many transactions the operator's account had sent on a network when last checked. */
export interface SpentNonce {
  readonly nonce: number;
  /** Newest block at that time, or an earlier one; absent in records of earlier versions. */
  readonly blockNumber?: number | undefined;
}

/** Returns the last recorded nonce of the operator's account on a network, or `undefined`. */
export async function findSpentNonce(db: Queryable, network: string): Promise<SpentNonce | undefined> {
  const noted = await findSetting(db, spentNonceName(network));
  if (noted === undefined) return undefined;
  const [nonce, blockNumber] = noted.split(" ").map(Number);
  return { nonce: nonce!, blockNumber };
}

/** Stores how many transactions the operator's account has sent on a network. */
export async function saveSpentNonce(
  db: Queryable,
  network: string,
  { nonce, blockNumber }: Required<SpentNonce>,
): Promise<void> {
  await saveSetting(db, spentNonceName(network), `${nonce} ${blockNumber}`);
}

function spentNonceName(network: string): string {
  return `operator nonce ${network}`;
}
