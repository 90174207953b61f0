import type { TriggerRun } from "../api/types.ts";
import type { OpenRequest } from "../requests/openRequest.ts";
import { failureOf, resultLineOf } from "../requests/read/present.ts";
import type { Queryable } from "../store/queryable.ts";
import { findRequests } from "../store/requests.ts";
import type { StoredRun } from "../store/triggerRuns.ts";

/** What a run shows of its request. */
export type RequestOfRun = Pick<TriggerRun, "requestId" | "requestState" | "result" | "error">;

/** Returns a function that says what became of the request of each of these runs. */
export async function readRunRequests(
  db: Queryable,
  runs: readonly StoredRun[],
): Promise<(run: StoredRun) => RequestOfRun> {
  const ids = runs.flatMap(({ request_id }) => request_id ?? []);
  // A damaged request must not hide the other runs.
  const requests = new Map((await findRequests(db, ids, () => {})).map((request) => [request.id, request]));
  return ({ request_id }) => {
    const request = request_id === null ? undefined : requests.get(request_id);
    return {
      requestId: request_id,
      requestState: request?.state ?? null,
      result: request?.state === "fulfilled" ? resultLineOf(request as OpenRequest) : null,
      error: request === undefined ? null : failureOf(request),
    };
  };
}
