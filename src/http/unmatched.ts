import type { Middleware } from "koa";
import { TycheError } from "../lib/errors.ts";
import { describeValue } from "../lib/describeValue.ts";
import type { HttpContext, RequestState } from "./context.ts";
import { isApiPath } from "./frame.ts";

/** Nothing exists at the path. */
export class NotFoundError extends TycheError {
  constructor(path: string) {
    super(`There is nothing at ${describeValue(path)}: GET /openapi.json lists the paths`, {
      code: "not_found",
      blame: "caller",
    });
  }
}

/** The path doesn't support the method. */
export class MethodNotAllowedError extends TycheError {
  constructor(method: string, path: string, allowed: string) {
    super(`${method} is not allowed at ${path}: use ${allowed}`, {
      code: "method_not_allowed",
      blame: "caller",
    });
  }
}

/** The last layer: OPTIONS on a known path, 405 for a known path with another method, 404 for the rest. */
export function unmatched(): Middleware<RequestState> {
  return async (ctx) => {
    const allowed = allowedMethods(ctx);
    const isOptions = ctx.method === "OPTIONS";
    // A route that has the method but passed the call on found nothing there: a file that the build doesn't have.
    if (allowed === "" || (!isOptions && allowed.split(", ").includes(ctx.method)))
      throw new NotFoundError(ctx.path);
    ctx.set("Allow", allowed);
    if (!isOptions) throw new MethodNotAllowedError(ctx.method, ctx.path, allowed);
    if (isApiPath(ctx.path)) ctx.set("Access-Control-Allow-Methods", allowed);
    ctx.status = 204;
  };
}

/**
 * Returns the methods of the routes whose path matched, as the router left them in the context; empty if none
 * did.
 */
function allowedMethods(ctx: HttpContext): string {
  const matched = (ctx["matched"] ?? []) as readonly { readonly methods: readonly string[] }[];
  const methods = new Set(matched.flatMap((layer) => layer.methods));
  if (methods.size > 0) methods.add("OPTIONS");
  return [...methods].sort().join(", ");
}
