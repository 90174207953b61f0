import type { Static } from "typebox";
import { listOf } from "../../api/common.ts";
import { KeyView, NewKeyView } from "../../api/operator.ts";
import type { KeyView as StoredKey, LiveKeyView } from "../../dapps/keys.ts";
import { NotFoundError } from "../../lib/errors.ts";
import { formatTime } from "../../lib/time.ts";
import type { HttpDeps } from "../context.ts";
import { createOperations, type Operation, type OperationCall } from "../operation.ts";
import type { OperatorPart } from "../operatorPart.ts";

/** The API keys of a dapp. */
export function keyOperations(deps: HttpDeps, { dapps }: OperatorPart): readonly Operation[] {
  const operation = createOperations(deps, { tag: "Operator", access: "operator" });
  const ALL = "/api/dapps/:dappId/keys";
  const ONE = `${ALL}/:keyId`;
  /** Returns a key of the path's dapp that has not been revoked. */
  const getKey = async ({
    dapp,
    param,
  }: Pick<OperationCall<unknown>, "dapp" | "param">): Promise<LiveKeyView> => {
    const key = (await dapps.keys(dapp.id)).find(({ id }) => id === param("keyId"));
    if (key === undefined || key.apiKey === null) throw new NotFoundError(`live key ${param("keyId")}`);
    return { ...key, apiKey: key.apiKey };
  };

  return [
    operation({
      id: "listKeys",
      path: ALL,
      summary: "List API keys",
      description: "The keys of a dapp, oldest first, including revoked ones; no key is shown in full.",
      answer: listOf(KeyView),
      run: async ({ dapp }) => ({ items: (await dapps.keys(dapp.id)).map(viewKey) }),
    }),
    operation({
      id: "addKey",
      method: "post",
      path: ALL,
      summary: "Add an API key",
      description:
        "Creates another key for a dapp; the answer contains it. Its `access` stays as it is. With an `Idempotency-Key`, a repeated call gets the same key.",
      request: "addKey",
      example: { name: "production", dailyLimit: 1_000 },
      answer: NewKeyView,
      takesIdempotencyKey: true,
      errors: ["not_found", "idempotency_conflict"],
      run: async ({ dapp, values, idempotencyKey }) =>
        viewNewKey(await dapps.addKey(dapp.id, { ...readExpiry(values), idempotencyKey })),
    }),
    operation({
      id: "changeKey",
      method: "patch",
      path: ONE,
      summary: "Change an API key",
      description:
        "Gives a live key another name, limit or expiry, as far as they are given; the key itself stays the same. They count from the next call on.",
      request: "changeKey",
      example: { name: "staging", dailyLimit: 500 },
      answer: KeyView,
      async run(call) {
        const before = await getKey(call);
        call.ctx.state.before = viewKey(before);
        return viewKey(await dapps.changeKey(before.id, readExpiry(call.values)));
      },
    }),
    operation({
      id: "rotateKey",
      method: "post",
      path: `${ONE}/rotate`,
      summary: "Rotate an API key",
      description:
        "Gives a live key a new value, which the answer contains; id, name, limits and the triggers that act with it stay. The present value " +
        "stays valid for `overlapHours`, and the one before it no longer.",
      request: "rotate",
      example: { overlapHours: 24 },
      answer: NewKeyView,
      async run(call) {
        const before = await getKey(call);
        call.ctx.state.before = viewKey(before);
        return viewNewKey(await dapps.rotateKey(before.id, call.values));
      },
    }),
    operation({
      id: "revealKey",
      path: ONE,
      summary: "Read an API key",
      description: "A live key in full. A revoked key is erased: 404.",
      answer: NewKeyView,
      run: async (call) => viewNewKey(await getKey(call)),
    }),
    operation({
      id: "revokeKey",
      method: "delete",
      path: ONE,
      summary: "Revoke an API key",
      description: "The key is erased, and calls with it are refused at once, on every replica.",
      answer: KeyView,
      async run(call) {
        const { id } = await getKey(call);
        await dapps.revokeKey(id);
        return viewKey((await dapps.keys(call.dapp.id)).find((key) => key.id === id)!);
      },
    }),
  ];
}

/** Reads a call's `expiresAt` as Unix time in milliseconds. A text that is no time is NaN, which the directory refuses. */
function readExpiry<Given extends { readonly expiresAt?: string | null }>({ expiresAt, ...given }: Given) {
  if (expiresAt === undefined) return given;
  return { ...given, expiresAt: expiresAt === null ? null : Date.parse(expiresAt) };
}

/** Returns a key's view without the key itself. */
export function viewKey(key: StoredKey): Static<typeof KeyView> {
  const { id, name, apiKey, createdAt, lastUsedAt, revokedAt, dailyLimit, requestsToday, access } = key;
  const iso = (at: number | null): string | null => (at === null ? null : formatTime(at));
  return {
    id,
    name,
    ending: apiKey?.slice(-4) ?? null,
    createdAt: formatTime(createdAt),
    lastUsedAt: iso(lastUsedAt),
    revokedAt: iso(revokedAt),
    dailyLimit,
    requestsToday,
    access,
    expiresAt: iso(key.expiresAt),
    previousUntil: iso(key.previousUntil),
  };
}

/** Returns a key's view with the key itself; for keys that are not revoked. */
export function viewNewKey(key: LiveKeyView): Static<typeof NewKeyView> {
  return { ...viewKey(key), apiKey: key.apiKey };
}
