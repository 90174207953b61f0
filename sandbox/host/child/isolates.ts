import type ivm from "isolated-vm";
import { TELL } from "../../guest/protocol.ts";
import { DEFAULT_LIMITS } from "../../limits.ts";
import type { RunMessage } from "../messages.ts";
import type { PreparedContext } from "./context.ts";

/** Runs that an isolate shared by a group serves; whatever a run leaves behind goes with the isolate. */
const MAX_RUNS_PER_ISOLATE = 256;
/** The same for runs of pure sources, which leave nothing behind but garbage. */
const MAX_PURE_RUNS_PER_ISOLATE = 8_192;
/** Share of the memory limit that may be in use when a shared isolate takes another run. */
const MAX_SHARED_HEAP = 0.5;
/** Contexts of pure sources in one isolate; the least recently used makes room. Each takes about 0.5 MB. */
const MAX_PURE_CONTEXTS = 16;

/** A group's isolate. */
interface Shared {
  readonly group: string;
  readonly memoryLimitMb: number;
  readonly isolate: ivm.Isolate;
  readonly maxRuns: number;
  runs: number;
  /** Heap in use after its last run. */
  usedBytes: number;
  /** A context in which nothing has run. */
  spare?: PreparedContext;
  /** Contexts by their single source, the least recently used first. */
  readonly pure: Map<string, PreparedContext>;
}

/** Gives each run a context to run in. */
export interface Isolates {
  /** Creates the next run's context while nobody waits for it. */
  readonly prepare: () => void;
  /**
   * Takes a context for a run: in an isolate of its own, or a fresh one in its group's isolate, or, for a pure source, the one that only this source
   * has used.
   */
  readonly take: (message: RunMessage) => PreparedContext;
  /** Returns a context after a run that ended in order. */
  readonly giveBack: (message: RunMessage, prepared: PreparedContext, usedBytes: number) => void;
}

/**
 * Creates the isolates of this process. There is never more than one at a time: each reserves 512 MB for code, which counts against the limit on
 * data.
 */
export function createIsolates(options: {
  readonly createIsolate: (memoryLimitMb: number) => ivm.Isolate;
  readonly createContext: (isolate: ivm.Isolate) => PreparedContext;
}): Isolates {
  const { createIsolate, createContext } = options;
  let spare: PreparedContext | undefined;
  let shared: Shared | undefined;

  function dropSpare(): void {
    spare?.isolate.dispose();
    spare = undefined;
  }

  function dropShared(): void {
    shared?.isolate.dispose();
    shared = undefined;
  }

  function takeOwn(memoryLimitMb: number): PreparedContext {
    dropShared();
    if (memoryLimitMb !== DEFAULT_LIMITS.memoryLimitMb) dropSpare();
    const taken = spare ?? createContext(createIsolate(memoryLimitMb));
    spare = undefined;
    return taken;
  }

  function takeShared(group: string, { isPure, limits }: RunMessage): Shared {
    const { memoryLimitMb } = limits;
    dropSpare();
    if (shared?.group === group && shared.memoryLimitMb === memoryLimitMb && !isWorn(shared)) return shared;
    dropShared();
    shared = {
      group,
      memoryLimitMb,
      isolate: createIsolate(memoryLimitMb),
      maxRuns: isPure ? MAX_PURE_RUNS_PER_ISOLATE : MAX_RUNS_PER_ISOLATE,
      runs: 0,
      usedBytes: 0,
      pure: new Map(),
    };
    return shared;
  }

  /** Gives each source a context of its own, in which only the values passed to a run differ. */
  function takePure({ pure, isolate }: Shared, source: string): PreparedContext {
    let prepared = pure.get(source);
    if (prepared === undefined) {
      prepared = createContext(isolate);
      prepared.dispatch.applySync(undefined, [TELL.freeze]);
    }
    pure.delete(source);
    pure.set(source, prepared);
    const [oldest] = pure;
    if (pure.size > MAX_PURE_CONTEXTS && oldest !== undefined) {
      pure.delete(oldest[0]);
      oldest[1].release();
    }
    return prepared;
  }

  return {
    prepare: () => {
      if (shared === undefined) spare ??= createContext(createIsolate(DEFAULT_LIMITS.memoryLimitMb));
      else if (shared.maxRuns === MAX_RUNS_PER_ISOLATE) shared.spare ??= createContext(shared.isolate);
    },
    take: (message) => {
      const { group, isPure, limits, source } = message;
      if (group === null) return takeOwn(limits.memoryLimitMb);
      const taken = takeShared(group, message);
      taken.runs += 1;
      if (isPure) return takePure(taken, source);
      const prepared = taken.spare ?? createContext(taken.isolate);
      delete taken.spare;
      return prepared;
    },
    giveBack: ({ group, isPure }, prepared, usedBytes) => {
      if (group === null) prepared.isolate.dispose();
      else if (!isPure) prepared.release();
      if (shared !== undefined) shared.usedBytes = usedBytes;
    },
  };
}

function isWorn({ runs, maxRuns, usedBytes, memoryLimitMb }: Shared): boolean {
  return runs >= maxRuns || usedBytes > memoryLimitMb * 1024 * 1024 * MAX_SHARED_HEAP;
}
