import type { LiveKeyView } from "../../dapps/dapps.ts";
import { NotFoundError } from "../../requests/errors.ts";
import { getDapp, type HttpContext, type HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { Operation } from "../operation.ts";
import type { OperatorPart } from "../operatorPart.ts";
import { readParameters } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";
import { createReading, listOf } from "./operatorReading.ts";
import { KeyView, NewKeyView, viewKey, viewNewKey } from "./operatorViews.ts";

/** The API keys of a dapp. */
export function operatorKeyOperations(deps: HttpDeps, { dapps }: OperatorPart): readonly Operation[] {
  const reading = createReading(deps);
  /** A live key of the path's dapp. */
  const getKey = async (ctx: HttpContext): Promise<LiveKeyView> => {
    const { keyId = "" } = ctx["params"] as Readonly<Record<string, string>>;
    const key = (await dapps.keys(getDapp(ctx).id)).find(({ id }) => id === keyId);
    if (key === undefined || key.apiKey === null) throw new NotFoundError(`live key ${keyId}`);
    return { ...key, apiKey: key.apiKey };
  };

  return [
    reading({
      id: "listKeys",
      path: "/api/dapps/:dappId/keys",
      access: "operator",
      summary: "List API keys",
      description: "The keys of a dapp, revoked ones included, oldest first; none of them whole.",
      answer: listOf(KeyView),
      read: async (ctx) => ({ items: (await dapps.keys(getDapp(ctx).id)).map(viewKey) }),
    }),
    {
      id: "addKey",
      method: "post",
      path: "/api/dapps/:dappId/keys",
      access: "operator",
      tag: "Operator",
      summary: "Add an API key",
      description: "Makes another key of a dapp, which is in the answer.",
      request: "addKey",
      placement: "body",
      example: { name: "production", dailyLimit: 1_000 },
      answer: NewKeyView,
      isAsync: false,
      errors: ["not_found"],
      async handle(ctx) {
        const given = await readParameters(ctx, deps.limits);
        const options = parseRequest(given, deps.schemas().validate.addKey);
        sendJson(ctx, 200, { data: viewNewKey(await dapps.addKey(getDapp(ctx).id, options)) });
      },
    },
    reading({
      id: "revealKey",
      path: "/api/dapps/:dappId/keys/:keyId",
      access: "operator",
      summary: "Read an API key",
      description: "A live key itself. A revoked one is erased, and 404.",
      answer: NewKeyView,
      read: async (ctx) => viewNewKey(await getKey(ctx)),
    }),
    {
      ...reading({
        id: "revokeKey",
        path: "/api/dapps/:dappId/keys/:keyId",
        access: "operator",
        summary: "Revoke an API key",
        description: "Calls with the key are refused at once, on every replica, and it is erased.",
        answer: KeyView,
        async read(ctx) {
          const { id } = await getKey(ctx);
          await dapps.revokeKey(id);
          return viewKey((await dapps.keys(getDapp(ctx).id)).find((key) => key.id === id)!);
        },
      }),
      method: "delete",
    },
  ];
}
