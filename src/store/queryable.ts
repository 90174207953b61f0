import type { Kysely, Transaction } from "kysely";
import type { Tables } from "./schema.ts";

/** A connection or a transaction; the queries in this folder run on either. */
export type Queryable = Kysely<Tables> | Transaction<Tables>;
