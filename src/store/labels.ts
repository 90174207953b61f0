import { TycheError } from "../lib/errors.ts";
import type { Queryable } from "./queryable.ts";
import { findRequest } from "./requests.ts";

/** A request that claims a label. */
export interface LabelClaim {
  readonly dappId: string;
  readonly network: string;
  readonly label: string;
  readonly requestId: string;
  readonly isOnce: boolean;
}

/**
 * Notes the label of a new request, in the transaction that stores it. A request that failed before anything was sent gives up its label.
 *
 * @throws {LabelTakenError} if another request has the label, and either of them must be the only one.
 */
export async function claimLabel(db: Queryable, claim: LabelClaim): Promise<void> {
  const { dappId: dapp_id, network, label, requestId: request_id } = claim;
  const is_once = claim.isOnce ? 1 : 0;
  await db
    .insertInto("labels")
    .values({ dapp_id, network, label, request_id, is_once })
    .onConflict((conflict) => conflict.columns(["dapp_id", "network", "label"]).doNothing())
    .execute();
  const place = { dapp_id, network, label };
  const first = await db
    .selectFrom("labels")
    .select(["request_id", "is_once"])
    .where((is) => is.and(place))
    .executeTakeFirstOrThrow();
  if (first.request_id === request_id || (is_once === 0 && first.is_once === 0)) return;
  const earlier = await findRequest(db, first.request_id);
  const wasSent = earlier?.state !== "failed" || earlier.progress["transactionHashes"] !== undefined;
  if (wasSent) throw new LabelTakenError(label, first.request_id);
  const { numUpdatedRows } = await db
    .updateTable("labels")
    .set({ request_id, is_once })
    .where((is) => is.and({ ...place, request_id: first.request_id }))
    .executeTakeFirst();
  // Another request has taken it over at the same moment.
  if (numUpdatedRows !== 1n) throw new LabelTakenError(label, first.request_id);
}

/** Another request of the dapp has the label, and one of the two must be the only one. */
export class LabelTakenError extends TycheError {
  /** @param requestId id of the request that had the label first. */
  constructor(label: string, requestId: string) {
    super(
      `request ${requestId} has the label ${JSON.stringify(label)}, and one of the two says once; look at its result, or choose another label`,
      { code: "label_taken", blame: "caller", details: { id: requestId } },
    );
  }
}
