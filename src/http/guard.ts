import type { OperationId } from "../domain/operations.ts";
import type { Context } from "koa";
import type { Facility } from "../api/types.ts";
import { KeyExpiredError, UnauthenticatedError } from "../dapps/keys.ts";
import type { Dapp } from "../dapps/dapp.ts";
import type { DappDirectory } from "../dapps/dapps.ts";
import { addressGroup } from "../lib/addressGroup.ts";
import { ForbiddenError, NotFoundError } from "../lib/errors.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { mayCall } from "../people/roles.ts";
import type { Service } from "../requests/service.ts";
import { RateLimitedError, type CallCounter, type CountedCall, type TakenCall } from "../lib/rateLimit.ts";
import { type HttpContext, onClose, readHeaderText } from "./context.ts";
import type { HttpLimits } from "../config/httpLimits.ts";
import type { Operation, OperationAccess } from "./operation.ts";
import type { OperatorPart } from "./operatorPart.ts";

/** Admits calls: identifies their dapp, counts them against the key's limits and reports those in headers. */
export interface Guard {
  /**
   * Authenticates a call and counts it for its key until the response ends. Throws `unauthenticated`, `forbidden` if the operation is not
   * for the caller, `key_expired`, `not_found` for a dapp that the person doesn't belong to, or {@link RateLimitedError} when the key's rate
   * or its number of calls in flight is used up.
   */
  admit(ctx: HttpContext, operation: Pick<Operation, "id" | "access" | "method">): Promise<void>;
  /** Counts a call without a valid key against its address. Throws {@link RateLimitedError}. */
  countAnonymous(ctx: HttpContext): Promise<void>;
  /** Returns the id of a call's key, for calls that need none; `undefined` without a valid one. */
  findKeyId(ctx: HttpContext): Promise<string | undefined>;
}

/** Header in which an operator names the dapp to act for. */
const DAPP_HEADER = "Tyche-Dapp";

/** Creates the guard. */
export function createGuard(options: {
  readonly service: Service;
  readonly operator: Pick<OperatorPart, "access" | "dapps">;
  readonly limits: HttpLimits;
  readonly counter: CallCounter;
}): Guard {
  const { service, operator, limits, counter } = options;
  const windowSeconds = limits.rateWindowSeconds;
  const keys: Policy = { name: "key", quota: limits.rateLimit, windowSeconds, counter };
  const addresses: Policy = { name: "address", quota: limits.anonymousRateLimit, windowSeconds, counter };
  const findDapp = (credential: string): Promise<Dapp | undefined> =>
    service.authenticate(credential).catch((error: unknown) => {
      if (error instanceof UnauthenticatedError || error instanceof KeyExpiredError) return undefined;
      throw error;
    });
  /** Whether a credential still counts, and its caller may still do the operation. */
  const isStillAdmitted = async (credential: string, operation: OperationId, dappId: string | undefined) => {
    const caller = await operator.access.recognize(credential);
    if (caller !== undefined) return mayCall(caller, operation, dappId) === "yes";
    return (await findDapp(credential)) !== undefined;
  };

  return {
    async admit(ctx, { id: operation, method, access = "dapp" }) {
      const credential = readKey(ctx);
      const caller = await operator.access.recognize(credential);
      let keyId = caller?.id;
      if (caller !== undefined) {
        const dapp = await findNamedDapp(ctx, operator.dapps, access);
        ctx.state.caller = caller;
        if (dapp !== undefined) ctx.state.dapp = { ...dapp, keyId: caller.id };
      } else {
        const dapp = await service.authenticate(credential);
        if (access === "operator")
          throw new ForbiddenError(
            "this call is for people who are signed in, or the operator token in the Authorization header; a dapp's API key is not enough",
          );
        ctx.state.dapp = dapp;
        keyId = dapp.keyId;
      }
      const call = await counter.begin(callOf(keys, keyId!), limits.maxConcurrent);
      onClose(ctx, () => call.end());
      tell(ctx, keys, call, "key");
      if (!call.hasPlace)
        throw new RateLimitedError(
          `This key has ${limits.maxConcurrent} calls in progress, which is its limit: wait for one to end`,
          1000,
        );
      if (ctx.state.dapp?.keyAccess === "read" && method !== "get")
        throw new ForbiddenError(
          'this API key may only read (GET): send one with access "full", which owners add on the dapp\'s tab Keys',
        );
      const answer = caller === undefined ? "yes" : mayCall(caller, operation, ctx.state.dapp?.id);
      if (answer === "hidden") throw new NotFoundError(`dapp ${ctx.state.dapp!.id}`);
      if (answer === "no")
        throw new ForbiddenError("your role does not allow this: ask an owner of the dapp, or the operator");
      ctx.state.isStillAdmitted = () => isStillAdmitted(credential, operation, ctx.state.dapp?.id);
    },
    async countAnonymous(ctx) {
      if (ctx.state.isCounted === true) return;
      await countCall(ctx, addresses);
    },
    async findKeyId(ctx) {
      const credential = readKey(ctx);
      if (credential === "") return undefined;
      return (await operator.access.recognize(credential))?.id ?? (await findDapp(credential))?.keyId;
    },
  };
}

/** Finds the dapp that an operator acts for, from the path or the header. Throws if one is required but none is named. */
async function findNamedDapp(
  ctx: HttpContext,
  dapps: DappDirectory,
  access: OperationAccess,
): Promise<Omit<Dapp, "keyId"> | undefined> {
  const params = ctx["params"] as Readonly<Record<string, string>> | undefined;
  const id = params?.["dappId"] ?? readHeaderText(ctx.get(DAPP_HEADER));
  if (id !== "") {
    const { name, facilities } = await dapps.get(id);
    return { id, name, facilities: facilities as readonly Facility[] };
  }
  if (access === "operator" || access === "anybody") return undefined;
  throw new InvalidParameterError([
    {
      path: `/${DAPP_HEADER}`,
      message: "with the operator token, this header must name the dapp to act for",
    },
  ]);
}

/** A quota of calls per window, and the counter for it. */
export interface Policy {
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly counter: CallCounter;
}

/** Counts a call against its key's quota, or its address's without one. Throws {@link RateLimitedError} above it. */
export async function countCall(ctx: Context | HttpContext, policy: Policy, keyId?: string): Promise<void> {
  const call = await policy.counter.take(callOf(policy, keyId ?? addressGroup(ctx.ip)));
  tell(ctx, policy, call, keyId === undefined ? "address" : "key");
}

function callOf({ name, quota, windowSeconds }: Policy, who: string): CountedCall {
  return { policy: name, who, quota, windowSeconds };
}

/** Sets the headers of draft-ietf-httpapi-ratelimit-headers. Throws {@link RateLimitedError} if the quota is used up. */
function tell(
  ctx: Context | HttpContext,
  policy: Policy,
  { consumed, resetMs }: TakenCall,
  who: "key" | "address",
): void {
  const { name, quota, windowSeconds } = policy;
  ctx.state.isCounted = true;
  ctx.set("RateLimit-Policy", `"${name}";q=${quota};w=${windowSeconds}`);
  ctx.set("RateLimit", `"${name}";r=${Math.max(0, quota - consumed)};t=${Math.ceil(resetMs / 1000)}`);
  if (consumed > quota)
    throw new RateLimitedError(
      `More than ${quota} calls in ${windowSeconds} seconds from this ${who}`,
      resetMs,
    );
}

/** Reads the key from `Authorization: <key>` or `Authorization: Bearer <key>`; empty if there is none. */
function readKey(ctx: HttpContext): string {
  return ctx
    .get("Authorization")
    .replace(/^Bearer(?: +|$)/i, "")
    .trim();
}
