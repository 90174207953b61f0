import type { TSchema } from "typebox";
import type { HttpContext, HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { Operation } from "../operation.ts";
import { readQuery } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";

/**
 * A read-only operation with no parameters except those in its path, without the members that all of them
 * share.
 */
export type OperatorReading = Pick<Operation, "id" | "path" | "summary" | "description" | "access"> & {
  /** Default: `Operator`. */
  readonly tag?: Operation["tag"];
  /** Schema of `data`. */
  readonly answer: TSchema;
  /** Returns `data`. */
  readonly read: (ctx: HttpContext) => Promise<object> | object;
};

/** Creates a function that turns readings into operations. */
export function createReading(deps: Pick<HttpDeps, "schemas">): (reading: OperatorReading) => Operation {
  return ({ read, ...rest }) => ({
    method: "get",
    tag: "Operator",
    request: "none",
    placement: "query",
    isAsync: false,
    errors: rest.path.includes(":") ? ["not_found"] : [],
    ...rest,
    async handle(ctx) {
      parseRequest(readQuery(ctx), deps.schemas().validate.none);
      sendJson(ctx, 200, { data: await read(ctx) });
    },
  });
}
