import { createId, firstId } from "../domain/id.ts";
import { DAY_MS } from "../lib/time.ts";
import {
  addAuditEntry,
  completeAuditEntry,
  deleteAuditEntries,
  deleteAuditEntry,
  listAudit,
  type AuditRow,
} from "../store/people.ts";
import type { Queryable } from "../store/queryable.ts";
import type { Store } from "../store/store.ts";

/** What is added to the audit log. */
export type AuditEntry = Omit<AuditRow, "id" | "at" | "subject_name" | "changes"> &
  Partial<Pick<AuditRow, "subject_name" | "changes">>;

/** Adds an entry to the audit log; returns its id. */
export type Audit = (entry: AuditEntry, db: Queryable) => Promise<string>;

/** What each way to sign in works with. */
export interface SignInParts {
  readonly store: Store;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly audit: Audit;
}

/**
 * Creates the audit log: who changed what.
 *
 * @param options.auditDays days that an entry is kept. Default: forever.
 */
export function createAuditLog({
  store,
  now,
  auditDays,
}: {
  readonly store: Store;
  readonly now: () => number;
  readonly auditDays: number | undefined;
}) {
  return {
    /** Adds an entry, and deletes those that are too old; returns its id. */
    async audit(this: void, entry: AuditEntry, db: Queryable = store.db): Promise<string> {
      if (auditDays !== undefined) await deleteAuditEntries(db, firstId("aud", now() - auditDays * DAY_MS));
      const id = createId("aud", now());
      await addAuditEntry(db, { id, at: now(), ...entry });
      return id;
    },
    /** Adds to an entry what its operation was done to. */
    completeAudit: (id: string, found: Parameters<typeof completeAuditEntry>[2]) =>
      completeAuditEntry(store.db, id, found),
    /** Removes the entry of an operation that was refused. */
    withdrawAudit: (id: string) => deleteAuditEntry(store.db, id),
    auditLog: (page: Parameters<typeof listAudit>[1]) => listAudit(store.db, page),
  };
}
