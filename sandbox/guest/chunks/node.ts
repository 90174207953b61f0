import type { Internals } from "../internals.ts";
import { createAssert } from "../node/assert.ts";
import { createEvents } from "../node/events.ts";
import { createPath } from "../node/path.ts";
import { createQuerystring } from "../node/querystring.ts";
import * as small from "../node/small.ts";
import { createStringDecoder } from "../node/stringDecoder.ts";
import { createUtil } from "../node/util.ts";

/** Node's modules that need nothing from the system; each member creates its module on first use. */
export default function nodeChunk(internals: Internals): Readonly<Record<string, unknown>> {
  const makers: Readonly<Record<string, () => Readonly<Record<string, unknown>>>> = {
    assert: createAssert,
    assertStrict: () => {
      const strict = members["assert"]?.["strict"] as Record<string, unknown>;
      return { ...strict, default: strict };
    },
    asyncHooks: small.createAsyncHooks,
    events: () => createEvents(internals),
    path: createPath,
    perfHooks: () => small.createPerfHooks(internals),
    punycode: () => small.createPunycode(internals),
    querystring: createQuerystring,
    streamWeb: () => ({ ...internals.load("streams") }),
    stringDecoder: () => createStringDecoder(internals),
    timers: small.createTimersModule,
    timersPromises: () => small.createTimersPromises(internals),
    url: () => small.createUrl(internals),
    util: () => createUtil(internals),
    utilTypes: () => {
      const types = members["util"]?.["types"] as Record<string, unknown>;
      return { ...types, default: types };
    },
    zlib: () => small.createZlib(internals),
  };
  const members: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const [name, make] of Object.entries(makers)) {
    let made: Readonly<Record<string, unknown>> | undefined;
    Object.defineProperty(members, name, { get: () => (made ??= make()), enumerable: true });
  }
  return members;
}
