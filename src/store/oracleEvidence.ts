import type { Store } from "./store.ts";
import type { Queryable } from "./queryable.ts";

/** Pieces of evidence kept per node: more proves nothing new, and a faulty node can produce any amount of it. */
const MAX_OF_SIGNER = 4;

/** Evidence against an oracle node, as JSON. */
export interface StoredEvidence {
  readonly network: string;
  /** Checksummed address of the node's report key. */
  readonly signer: string;
  readonly requestId: string;
  readonly evidence: string;
}

/** Stores evidence, once per node and request and up to 4 times per node. Resolves once it is on disk. */
export async function saveEvidence(
  store: Pick<Store, "write">,
  { network, signer, requestId, evidence }: StoredEvidence,
): Promise<void> {
  const row = { network, signer, request_id: requestId, evidence, created_at: Date.now() };
  await store.write(async (db) => {
    const { count } = await db
      .selectFrom("oracle_evidence")
      .select((eb) => eb.fn.countAll().as("count"))
      .where("network", "=", network)
      .where("signer", "=", signer)
      .executeTakeFirstOrThrow();
    if (Number(count) >= MAX_OF_SIGNER) return;
    await db
      .insertInto("oracle_evidence")
      .values(row)
      .onConflict((conflict) => conflict.columns(["network", "signer", "request_id"]).doNothing())
      .execute();
  });
}

/** Returns a network's evidence, oldest first. */
export async function listEvidence(db: Queryable, network: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("oracle_evidence")
    .select("evidence")
    .where("network", "=", network)
    .orderBy("id")
    .execute();
  return rows.map(({ evidence }) => evidence);
}
