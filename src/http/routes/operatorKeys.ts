import { listOf } from "../../api/common.ts";
import { KeyView, NewKeyView } from "../../api/operator.ts";
import type { LiveKeyView } from "../../dapps/dapps.ts";
import { NotFoundError } from "../../requests/errors.ts";
import { getDapp, type HttpContext, type HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { Operation } from "../operation.ts";
import type { OperatorPart } from "../operatorPart.ts";
import { readParameters } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";
import { readIdempotencyKey } from "../waitPreference.ts";
import { createReading } from "./operatorReading.ts";
import { viewKey, viewNewKey } from "./operatorViews.ts";

/** The API keys of a dapp. */
export function operatorKeyOperations(deps: HttpDeps, { dapps }: OperatorPart): readonly Operation[] {
  const reading = createReading(deps);
  /** Returns a key of the path's dapp that has not been revoked. */
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
      description: "The keys of a dapp, oldest first, including revoked ones; no key is shown in full.",
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
      description:
        "Creates another key for a dapp; the answer contains it. Its `access` stays as it is. With an `Idempotency-Key`, a repeated call gets the same key.",
      request: "addKey",
      placement: "body",
      example: { name: "production", dailyLimit: 1_000 },
      answer: NewKeyView,
      isAsync: false,
      takesIdempotencyKey: true,
      errors: ["not_found", "idempotency_conflict"],
      async handle(ctx) {
        const idempotencyKey = readIdempotencyKey(ctx);
        const given = await readParameters(ctx, deps.limits);
        const options = readExpiry(parseRequest(given, deps.schemas().validate.addKey));
        const key = await dapps.addKey(getDapp(ctx).id, { ...options, idempotencyKey });
        sendJson(ctx, 200, { data: viewNewKey(key) });
      },
    },
    {
      id: "changeKey",
      method: "patch",
      path: "/api/dapps/:dappId/keys/:keyId",
      access: "operator",
      tag: "Operator",
      summary: "Change an API key",
      description:
        "Gives a live key another name, limit or expiry, as far as they are given; the key itself stays the same. They count from the next call on.",
      request: "changeKey",
      placement: "body",
      example: { name: "staging", dailyLimit: 500 },
      answer: KeyView,
      isAsync: false,
      errors: ["not_found"],
      async handle(ctx) {
        const given = await readParameters(ctx, deps.limits);
        const change = readExpiry(parseRequest(given, deps.schemas().validate.changeKey));
        const before = await getKey(ctx);
        ctx.state.before = viewKey(before);
        sendJson(ctx, 200, { data: viewKey(await dapps.changeKey(before.id, change)) });
      },
    },
    {
      id: "rotateKey",
      method: "post",
      path: "/api/dapps/:dappId/keys/:keyId/rotate",
      access: "operator",
      tag: "Operator",
      summary: "Rotate an API key",
      description:
        "Gives a live key a new value, which the answer contains; id, name, limits and the triggers that act with it stay. The present value " +
        "stays valid for `overlapHours`, and the one before it no longer.",
      request: "rotate",
      placement: "body",
      example: { overlapHours: 24 },
      answer: NewKeyView,
      isAsync: false,
      errors: ["not_found"],
      async handle(ctx) {
        const given = await readParameters(ctx, deps.limits);
        const options = parseRequest(given, deps.schemas().validate.rotate);
        const before = await getKey(ctx);
        ctx.state.before = viewKey(before);
        sendJson(ctx, 200, { data: viewNewKey(await dapps.rotateKey(before.id, options)) });
      },
    },
    reading({
      id: "revealKey",
      path: "/api/dapps/:dappId/keys/:keyId",
      access: "operator",
      summary: "Read an API key",
      description: "A live key in full. A revoked key is erased: 404.",
      answer: NewKeyView,
      read: async (ctx) => viewNewKey(await getKey(ctx)),
    }),
    {
      ...reading({
        id: "revokeKey",
        path: "/api/dapps/:dappId/keys/:keyId",
        access: "operator",
        summary: "Revoke an API key",
        description: "The key is erased, and calls with it are refused at once, on every replica.",
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

/** Reads a call's `expiresAt` as Unix time in milliseconds. A text that is no time is NaN, which the directory refuses. */
function readExpiry<Given extends { readonly expiresAt?: string | null }>({ expiresAt, ...given }: Given) {
  if (expiresAt === undefined) return given;
  return { ...given, expiresAt: expiresAt === null ? null : Date.parse(expiresAt) };
}
