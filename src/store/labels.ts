import { TycheError } from "../lib/errors.ts";
import type { Queryable } from "./queryable.ts";
import { findRequest, type StoredRequest } from "./requests.ts";

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
  const place = { dapp_id, network, label };
  // Writing a row locks it: transactions of several processes that claim labels of the dapp wait for each other.
  await db
    .updateTable("dapps")
    .set((row) => ({ name: row.ref("name") }))
    .where("id", "=", dapp_id)
    .execute();
  for (;;) {
    const holder = await db
      .selectFrom("labels")
      .select(["request_id", "is_once"])
      .where((is) => is.and(place))
      .orderBy("request_id")
      .limit(1)
      .executeTakeFirst();
    if (holder === undefined) break;
    const earlier = await findRequest(db, holder.request_id);
    // Retention removes the labels of requests that weren't sent.
    const wasSent = earlier === undefined || isSent(earlier);
    if (wasSent || earlier.state !== "failed") {
      if (is_once + holder.is_once > 0)
        throw new LabelTakenError(label, { requestId: holder.request_id, isOnce: holder.is_once === 1 });
      // It keeps the label for good, so the new one needs no row.
      if (wasSent) return;
      break;
    }
    await db
      .deleteFrom("labels")
      .where((is) => is.and({ ...place, request_id: holder.request_id }))
      .execute();
  }
  await db
    .insertInto("labels")
    .values({ ...place, request_id, is_once })
    .execute();
}

/** Removes the labels of those ended requests that failed before anything was sent, while it can still be told which these are. */
export async function removeGivenUpLabels(db: Queryable, ended: readonly StoredRequest[]): Promise<void> {
  for (const { id: request_id, dappId: dapp_id, network, params } of ended.filter((one) => !isSent(one))) {
    const { label } = params as { readonly label?: string };
    if (label === undefined) continue;
    await db
      .deleteFrom("labels")
      .where((is) => is.and({ dapp_id, network, label, request_id }))
      .execute();
  }
}

function isSent({ progress }: StoredRequest): boolean {
  return progress["transactionHashes"] !== undefined;
}

/** Another request of the dapp has the label, and one of the two must be the only one. */
export class LabelTakenError extends TycheError {
  /** @param first the request that had the label first. */
  constructor(
    label: string,
    { requestId, isOnce }: { readonly requestId: string; readonly isOnce: boolean },
  ) {
    const name = `the label ${JSON.stringify(label)}`;
    super(
      isOnce
        ? `${name} was drawn with once, by request ${requestId}: no second draw is possible; look at its result, or choose another label`
        : `${name} has a draw, by request ${requestId}: one with once is impossible; look at its result, or choose another label`,
      { code: "label_taken", blame: "caller", details: { id: requestId } },
    );
  }
}
