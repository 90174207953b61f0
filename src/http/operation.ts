import type { TSchema } from "typebox";
import type { HttpContext } from "./context.ts";
import type { ErrorCode } from "../lib/errorTable.ts";
import type { RequestSchemas } from "./liveSchemas.ts";

/**
 * Whose call an endpoint takes. `dapp`: one with the key of a dapp, or of an operator who names one. `anybody`: either, of no dapp in
 * particular. `operator`: the operator's alone. `everybody`: one without a key, too, counted against its address.
 */
export type OperationAccess = "dapp" | "anybody" | "operator" | "everybody";

/** One endpoint: what routes it and what documents it, in one place. */
export interface Operation {
  /** Default `dapp`. */
  readonly access?: OperationAccess;
  /** Name in the OpenAPI document. */
  readonly id: string;
  readonly method: "get" | "post" | "patch" | "delete";
  /** Path with parameters as the router writes them: `/api/requests/:id`. */
  readonly path: string;
  readonly tag:
    | "Randomness"
    | "Functions"
    | "Requests"
    | "Usage"
    | "Dapps"
    | "Catalogue"
    | "Operator"
    | "Explorer";
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** Which schema its parameters have; those of a `get` and a `delete` are all in the query. */
  readonly request: keyof RequestSchemas;
  /** Where a `post` documents its parameters, each in one place; it takes them in both. `presets`: the preset's own in the body. */
  readonly placement: "query" | "body" | "presets";
  /** A body that is answered 200, with the first network; for `body` alone. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Schema of `data` in a 200 answer. */
  readonly answer: TSchema;
  /** Example of a 200 answer as `text/csv`, where it comes in that form, too. */
  readonly csvExample?: string;
  /** Whether the answer waits for a chain: `Prefer`, event streams, 202 and 504 apply. */
  readonly isAsync: boolean;
  readonly errors: readonly ErrorCode[];
  handle(ctx: HttpContext): Promise<void>;
}
