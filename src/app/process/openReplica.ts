import type { Logger } from "pino";
import type { SharedDatabase } from "../../store/openDatabase.ts";
import { createId } from "../../domain/id.ts";
import { repeat } from "../../lib/repeat.ts";
import type { Acceptance } from "../../requests/accept/acceptance.ts";
import type { Replica } from "../../requests/replica.ts";
import { createReplica } from "../../requests/takeover/replicaSync.ts";
import type { Store } from "../../store/store.ts";

/** A dry run that takes longer than this most likely belongs to a replica that has ended; if not, it runs twice. */
const ABANDONED_MS = 30_000;
const LOOK_INTERVAL_MS = 5_000;

/** Opens this process's view of the other replicas that serve from the same database. */
export function openReplica(options: {
  readonly replicas: SharedDatabase;
  readonly store: Store;
  readonly log: Logger;
}): Replica {
  const { replicas, store, log } = options;
  const id = createId("rep");
  const onError = (error: unknown): void =>
    log.warn({ err: error, replica: id }, "coordination with the other replicas failed; retrying");
  return createReplica({
    id,
    store,
    bus: replicas.openBus(id, onError),
    hasDatabase: () => replicas.isHere(),
    onError,
  });
}

/**
 * Resumes dry runs that other replicas began and did not finish, on networks that are dispatched here; returns a function that
 * stops it.
 */
export function checkAbandoned(
  service: Pick<Acceptance, "resumeChecks">,
  { networks, log }: { readonly networks: readonly string[]; readonly log: Logger },
): () => void {
  return repeat(
    async () => {
      for (const network of networks) service.resumeChecks(network, ABANDONED_MS);
    },
    LOOK_INTERVAL_MS,
    (error) => log.error({ err: error }, "dry runs could not be resumed"),
  );
}
