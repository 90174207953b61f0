import { createHash } from "node:crypto";
import type { Router } from "@koa/router";
import { hexToBytes } from "viem";
import { countWithin, type CallCounter } from "../../lib/rateLimit.ts";
import type { DrandRound } from "../../beacon/drand.ts";
import { isObject } from "../../lib/isObject.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import { parseJson } from "../../lib/parseJson.ts";
import type { LateBeaconCalls } from "../../requests/lateBeacons.ts";
import { readTextBody } from "../body.ts";
import type { HttpContext, RequestState } from "../context.ts";
import { sendJson } from "../frame.ts";
import { countCall, type Guard } from "../guard.ts";
import type { PublicGuard } from "../publicGuard.ts";

/** Where drand's relays have a round. */
const PATH = "/beacon/:chainHash/public/:round";
/** Longest body: a relay's answer has some 250 bytes. */
const MAX_BODY_BYTES = 4_096;
/** Signatures of one key, or of one address without a key, that are checked in a minute: each takes some 15 ms of the process's time. */
const CHECKS_PER_MINUTE = 10;
/** The same of all addresses together, some 3 % of a core: one caller may have the 65,536 /64s of an IPv6 /48. Keys don't count here. */
const ALL_CHECKS_PER_MINUTE = 100;
const MAX_ROUND = 2n ** 64n - 1n;

/**
 * Adds the service as a relay of drand for late rounds, and `PUT` at the same path, by which anybody hands one in: callers with a key
 * have limits of their own. The body may be another relay's answer as it is.
 */
export function beaconRoutes(
  router: Router<RequestState>,
  options: {
    readonly lateBeacons: LateBeaconCalls;
    readonly guard: Pick<Guard, "findKeyId">;
    readonly guardPublic: PublicGuard;
    readonly counter: CallCounter;
  },
): void {
  const { lateBeacons, guard, guardPublic, counter } = options;
  const windowSeconds = 60;
  const checks = { name: "rounds", quota: CHECKS_PER_MINUTE, windowSeconds, counter };
  const all = { policy: "rounds", who: "all", quota: ALL_CHECKS_PER_MINUTE, windowSeconds };
  const countCheck = async (ctx: HttpContext): Promise<void> => {
    const keyId = await guard.findKeyId(ctx);
    await countCall(ctx, checks, keyId);
    if (keyId !== undefined) return;
    await countWithin(
      counter,
      all,
      `More than ${all.quota} signatures in ${windowSeconds} seconds from all addresses together: send an API key, which has a limit of its own`,
    );
  };

  router.get(PATH, async (ctx) => {
    await guardPublic(ctx);
    ctx.set("Cache-Control", "no-store");
    const round = parseRound(ctx.params);
    const signature = await lateBeacons.get(round);
    sendJson(ctx, 200, {
      round: Number(round.round),
      randomness: createHash("sha256").update(hexToBytes(signature)).digest("hex"),
      signature: signature.slice(2),
    });
  });

  router.put(PATH, async (ctx) => {
    await guardPublic(ctx);
    ctx.set("Cache-Control", "no-store");
    const round = parseRound(ctx.params);
    const given = await readSignature(ctx);
    const signature = await lateBeacons.handIn(round, given, () => countCheck(ctx));
    const { chainHash } = round;
    sendJson(ctx, 200, { data: { round: String(round.round), chainHash, signature } });
  });
}

function parseRound({ chainHash = "", round = "" }: Readonly<Record<string, string>>): DrandRound {
  // drand's own relays write it without 0x, our answers with it.
  const [, hash] = /^(?:0x)?([0-9a-f]{64})$/i.exec(chainHash) ?? [];
  if (hash === undefined)
    throw new InvalidParameterError([{ path: "/chainHash", message: "must be 64 hex digits" }]);
  if (!/^[1-9][0-9]{0,19}$/.test(round) || BigInt(round) > MAX_ROUND)
    throw new InvalidParameterError([
      { path: "/round", message: "must be a whole number from 1 to 2^64 − 1" },
    ]);
  return { chainHash: `0x${hash.toLowerCase()}`, round: BigInt(round) };
}

async function readSignature(ctx: HttpContext): Promise<string> {
  const body = parseJson(await readTextBody(ctx, MAX_BODY_BYTES), "The body");
  const signature = isObject(body) ? body["signature"] : undefined;
  if (typeof signature === "string") return signature;
  throw new InvalidParameterError([{ path: "/signature", message: "must be a string of hex" }]);
}
