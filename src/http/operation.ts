import type { TSchema } from "typebox";
import type { HttpContext } from "./context.ts";
import type { ErrorCode } from "../lib/errorTable.ts";
import type { RequestSchemas } from "./schemas/liveSchemas.ts";

/**
 * Who may call an endpoint. `dapp`: a caller with a dapp's key, or who is signed in and names a dapp. `anybody`: either of them, with no
 * particular dapp. `operator`: no key, but the operator, or a person whose role suffices (`src/lib/leastRole.ts`). `everybody`: callers
 * without a key too, counted against their address.
 */
export type OperationAccess = "dapp" | "anybody" | "operator" | "everybody";

/** One endpoint: its routing and its documentation in one place. */
export interface Operation {
  /** Default `dapp`. */
  readonly access?: OperationAccess;
  /** Name in the OpenAPI document. */
  readonly id: string;
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** Path with parameters in the router's notation: `/api/requests/:id`. */
  readonly path: string;
  readonly tag:
    | "Randomness"
    | "Functions"
    | "Secrets"
    | "Requests"
    | "Usage"
    | "Dapps"
    | "Webhooks"
    | "Triggers"
    | "Catalogue"
    | "Operator"
    | "People"
    | "Explorer";
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** Schema of its parameters; a `get` or a `delete` takes them all from the query. */
  readonly request: keyof RequestSchemas;
  /**
   * Where a `post` documents its parameters; each is documented in one place, but accepted in both. `presets`: the preset's own go in
   * the body.
   */
  readonly placement: "query" | "body" | "presets";
  /** A body that is answered with 200, using the first network; only for `body`. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Schema of `data` in a 200 response. */
  readonly answer: TSchema;
  /** Whether the response waits for a chain: `Prefer`, event streams, 202 and 504 apply. */
  readonly isAsync: boolean;
  /** Whether it takes an `Idempotency-Key` although it is not `isAsync`. Default false. */
  readonly takesIdempotencyKey?: boolean;
  readonly errors: readonly ErrorCode[];
  handle(ctx: HttpContext): Promise<void>;
}
