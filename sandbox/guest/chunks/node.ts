import * as errors from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { createAssert } from "../node/assert.ts";
import { createConsoleModule } from "../node/console.ts";
import { createAsyncHooks } from "../node/asyncHooks.ts";
import { createDiagnostics } from "../node/diagnostics.ts";
import { compareKeysWith } from "../node/deepEqual.ts";
import { createEvents } from "../node/events.ts";
import { createPaths } from "../node/path.ts";
import { createPunycode } from "../node/punycode.ts";
import { createQuerystring } from "../node/querystring.ts";
import { ORDERS, SHAPES } from "../node/shapes.ts";
import * as small from "../node/small.ts";
import { createReadline } from "../node/readline.ts";
import { createStringDecoder } from "../node/stringDecoder.ts";
import { createUtil } from "../node/util.ts";
import { createVm } from "../node/vm.ts";
import { createZlib } from "../node/zlib.ts";
import { at, order, shape } from "../shape.ts";

type Module = Readonly<Record<string, unknown>>;

/** Node's modules that need nothing from the system; each member creates its module on first use. */
export default function nodeChunk(internals: Internals): Module {
  errors.showValuesWith(internals.load);
  compareKeysWith(internals.load);
  const makers: Readonly<Record<string, () => Module>> = {
    assert: () => createAssert(internals),
    assertStrict: () => {
      // In Deno the names are those of `node:assert`: only the default export is strict.
      const whole = members["assert"] as Module;
      const names = Object.entries(whole).filter(([name]) => !["Assert", "CallTracker"].includes(name));
      return { ...Object.fromEntries(names), default: whole["strict"] };
    },
    asyncHooks: () => {
      const { module, bind } = createAsyncHooks();
      members["callbacks"] = { bind };
      return module;
    },
    console: () => createConsoleModule(),
    diagnosticsChannel: () =>
      createDiagnostics((error) =>
        internals.nextTick(() => {
          throw error;
        }),
      ),
    errors: () => errors,
    events: () => createEvents(internals),
    path: () => members["paths"]?.["path"] as Module,
    pathPosix: () => members["paths"]?.["posix"] as Module,
    pathWin32: () => members["paths"]?.["win32"] as Module,
    paths: () => createPaths(internals),
    perfHooks: () => small.createPerfHooks(internals),
    punycode: () => createPunycode(),
    querystring: () => createQuerystring(internals),
    readline: () => members["readlines"]?.["readline"] as Module,
    readlinePromises: () => members["readlines"]?.["promises"] as Module,
    readlines: () => createReadline(internals),
    streamWeb: () => {
      const web: Record<string, unknown> = { ...internals.load("streams") };
      for (const own of ["fields", "teeWith"]) delete web[own];
      return { ...web, default: web };
    },
    stringDecoder: () => createStringDecoder(internals),
    timers: () => small.createTimersModule(members["timersPromises"] as Module),
    timersPromises: () => small.createTimersPromises(internals),
    url: () => small.createUrl(internals, members["querystring"] as Module),
    util: () => createUtil(internals),
    utilTypes: () => {
      const types = members["util"]?.["types"] as Record<string, unknown>;
      return { ...types, default: types };
    },
    vm: () => createVm(internals),
    zlib: () => createZlib(internals),
  };
  const members: Record<string, Module> = {};
  for (const [name, make] of Object.entries(makers)) {
    let made: Module | undefined;
    const get = (): Module => {
      if (made === undefined) {
        made = make();
        const whole = (made["default"] ?? made) as Module;
        shape(whole, SHAPES[name] ?? {});
        for (const [path, names] of Object.entries(ORDERS[name] ?? {}))
          order(at(whole, path) as object, names);
      }
      return made;
    };
    Object.defineProperty(members, name, { get, enumerable: true });
  }
  return members;
}
