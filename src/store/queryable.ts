import type { Kysely, Transaction } from "kysely";
import type { Tables } from "./schema.ts";

/** A connection or a transaction: whatever the queries of this folder run on. */
export type Queryable = Kysely<Tables> | Transaction<Tables>;
