import type { Static } from "typebox";
import type { Dapp } from "../requests/service.ts";
import { getDapp, type HttpContext, type HttpDeps } from "./context.ts";
import { sendJson } from "./frame.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import type { RequestSchemas } from "./schemas/liveSchemas.ts";
import type { Operation } from "./operation.ts";
import { readParameters, readQuery } from "./parameters.ts";
import { parseRequest } from "./parseRequest.ts";
import type { Validator } from "./validator.ts";

type Described = "id" | "method" | "path" | "summary" | "description" | "answer" | "example";

/**
 * Creates a builder of operations on what a dapp owns, such as its webhooks: parameters come from the body, those of a `get` from
 * the query, and `run` returns `data`.
 *
 * @param of.tag of all of them. @param of.id name of the parameter in the path that names one; paths without it name none.
 */
export function createDappOperation(
  deps: HttpDeps,
  of: { readonly tag: Operation["tag"]; readonly id: string },
) {
  return <Name extends keyof RequestSchemas>(
    given: Pick<Operation, Described> & {
      readonly request: Name;
      /** Returns what is about to be changed as it is, for the audit log. */
      readonly before?: (dapp: Dapp, id: string) => Promise<object>;
      /** @param id empty where the path names none. @param params all parameters of the path. */
      readonly run: (
        dapp: Dapp,
        id: string,
        values: Static<RequestSchemas[Name]>,
        params: Readonly<Record<string, string>>,
      ) => Promise<object>;
    },
  ): Operation => {
    const { run, before, ...rest } = given;
    const takesBody = given.request !== "none" && !["get", "delete"].includes(given.method);
    return {
      ...rest,
      tag: of.tag,
      placement: takesBody ? "body" : "query",
      isAsync: false,
      errors: given.path.includes(`:${of.id}`) ? ["not_found"] : [],
      async handle(ctx: HttpContext) {
        if (given.method === "put" && ctx.querystring !== "") throw new QueryRefusedError();
        const values = takesBody ? await readParameters(ctx, deps.limits) : readQuery(ctx);
        const validate = deps.schemas().validate[given.request] as Validator<Static<RequestSchemas[Name]>>;
        const parsed = parseRequest(values, validate);
        const params = ctx["params"] as Readonly<Record<string, string>>;
        const { [of.id]: id = "" } = params;
        ctx.state.before = await before?.(getDapp(ctx), id);
        sendJson(ctx, 200, { data: await run(getDapp(ctx), id, parsed, params) });
      },
    };
  };
}

/** What is put may be secret, and addresses are written to logs on their way. */
class QueryRefusedError extends InvalidParameterError {
  constructor() {
    super([
      {
        path: "",
        message: "parameters belong in the body here, and not in the address, which is written to logs",
      },
    ]);
  }
}
