import type { OperationId } from "../domain/operations.ts";
import type { TSchema } from "typebox";
import type { ErrorCode } from "./errorTable.ts";
import { InvalidParameterError, type ParameterViolation } from "../lib/invalidParameter.ts";
import type { Dapp } from "../dapps/dapp.ts";
import { getDapp, type HttpContext, type HttpDeps } from "./context.ts";
import { sendJson } from "./frame.ts";
import { readParameters, readQuery, parseRequest } from "./parameters.ts";
import type { Checked, RequestSchemas } from "../api/parameters/requestSchemas.ts";
import type { Validator } from "../lib/schemaCheck.ts";
import { readIdempotencyKey } from "./waitPreference.ts";

/**
 * Who may call an endpoint. `dapp`: a caller with a dapp's key, or who is signed in and names a dapp. `anybody`: either of them, with no
 * particular dapp. `operator`: no key, but the operator, or a person whose role suffices (`src/domain/operations.ts`). `everybody`: callers
 * without a key too, counted against their address.
 */
export type OperationAccess = "dapp" | "anybody" | "operator" | "everybody";

/** One endpoint: its routing and its documentation in one place. */
export interface Operation {
  /** Default `dapp`. */
  readonly access?: OperationAccess;
  /** Name in the OpenAPI document. */
  readonly id: OperationId;
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

/** A call of an operation, as its work gets it. */
export interface OperationCall<Values> {
  readonly ctx: HttpContext;
  /** The dapp that the call is for. Throws where calls for no dapp are admitted. */
  readonly dapp: Dapp;
  /** Returns a parameter of the path. */
  readonly param: (name: string) => string;
  /** The checked parameters. */
  readonly values: Values;
  /** Absent unless the operation takes one. */
  readonly idempotencyKey: string | undefined;
}

/** An operation that answers at once, without what follows from the rest. */
export type Described<Name extends keyof RequestSchemas> = Pick<
  Operation,
  "id" | "path" | "summary" | "description" | "answer"
> &
  Partial<Pick<Operation, "access" | "tag" | "method" | "example" | "takesIdempotencyKey" | "errors">> & {
    /** Default: `none`. */
    readonly request?: Name;
    /** Checks what a schema can't express. */
    readonly check?: (values: Checked<Name>) => readonly ParameterViolation[];
    /** Returns `data`; `undefined` if the response is complete, or nobody waits for it any more. */
    readonly run: (call: OperationCall<Checked<Name>>) => Promise<object | undefined> | object | undefined;
  };

/**
 * Creates a builder of operations that answer at once: `get` by default, with their parameters in the query, or in the body of a `post`, `put`
 * or `patch`. Errors by default: `not_found` if the path names something.
 */
export function createOperations(
  deps: Pick<HttpDeps, "limits" | "schemas">,
  shared: Pick<Operation, "tag" | "access">,
) {
  return <Name extends keyof RequestSchemas = "none">({
    run,
    check,
    ...given
  }: Described<Name>): Operation => {
    const { method = "get", request = "none" as Name, path } = given;
    const takesBody = request !== "none" && method !== "get" && method !== "delete";
    return {
      ...shared,
      errors: path.includes("/:") ? ["not_found"] : [],
      ...given,
      method,
      request,
      placement: takesBody ? "body" : "query",
      isAsync: false,
      async handle(ctx) {
        // What is put may be secret, and addresses are written to logs on their way.
        if (method === "put" && ctx.querystring !== "")
          throw new InvalidParameterError([
            {
              path: "",
              message: "parameters belong in the body here, and not in the address, which is written to logs",
            },
          ]);
        const idempotencyKey = given.takesIdempotencyKey === true ? readIdempotencyKey(ctx) : undefined;
        const found = takesBody ? await readParameters(ctx, deps.limits) : readQuery(ctx);
        const validate = deps.schemas().validate[request] as Validator<Checked<Name>>;
        const data = await run({
          ctx,
          get dapp() {
            return getDapp(ctx);
          },
          param: (name) => readParam(ctx, name),
          values: parseRequest(found, validate, check),
          idempotencyKey,
        });
        if (data !== undefined) sendJson(ctx, 200, { data });
      },
    };
  };
}

/** Returns a parameter of the path; empty if it has none of that name. */
export function readParam(ctx: HttpContext, name: string): string {
  return (ctx["params"] as Readonly<Record<string, string>>)[name] ?? "";
}
