import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clockModule } from "../../support/clock.ts";
import { signalAll, type Fault } from "../fault.ts";
import type { World } from "../world.ts";

const DAY_MS = 86_400_000;
/** Load that a restarted service gets before its clock moves, in ms. */
const SETTLED_MS = 5_000;
/** The file that fills the disk. */
const FILLER = "filler";

/** Faults of the machine's resources: descriptors, time, disk. */
export const RESOURCE_FAULTS: readonly Fault[] = [
  ...[128, 64].map((descriptors) =>
    startedUnder(`${descriptors} file descriptors`, ["prlimit", `--nofile=${descriptors}:${descriptors}`]),
  ),
  ...[
    { where: "a day ahead", shiftMs: DAY_MS },
    { where: "a day behind", shiftMs: -DAY_MS },
  ].map(({ where, shiftMs }) =>
    startedUnder(`a clock ${where} of its chains'`, ["env", `NODE_OPTIONS=--import=${clockModule(shiftMs)}`]),
  ),
  ...[
    { where: "ten minutes ahead", shiftMs: 600_000 },
    { where: "a day back", shiftMs: -DAY_MS },
  ].map(({ where, shiftMs }): Fault => ({
    name: `wall clock of the running service set ${where}, then right again`,
    lastsMs: 30_000,
    sparesOthers: false,
    async strike(world) {
      await world.tryRestart("SIGTERM", ["env", `NODE_OPTIONS=--import=${clockModule(shiftMs, "SIGUSR2")}`]);
      await sleep(SETTLED_MS);
      moveClock(world);
    },
    async mend(world) {
      moveClock(world);
      await world.restart("SIGKILL");
    },
  })),
  {
    name: "disk full, and room again",
    lastsMs: 20_000,
    sparesOthers: false,
    onSmallDisk: true,
    strike: async ({ dataDir }) => fill(path.join(dataDir, FILLER)),
    async mend(world) {
      rmSync(path.join(world.dataDir, FILLER));
      // It may have exited, as what can't be stored must not be announced; a supervisor would restart it.
      await world.restart("SIGTERM");
    },
  },
];

/** The service runs for a while under a command that takes a resource away. */
function startedUnder(what: string, command: readonly string[]): Fault {
  return {
    name: `service started with ${what}, then without`,
    lastsMs: 20_000,
    sparesOthers: false,
    // It may serve, or exit with a sentence; it must not hang or lose anything.
    strike: (world) => world.tryRestart("SIGTERM", command),
    mend: (world) => world.restart("SIGKILL"),
  };
}

function moveClock(world: World): void {
  signalAll([world.service().pid], "SIGUSR2");
}

function fill(file: string): void {
  const filler = openSync(file, "w");
  const block = Buffer.alloc(65_536);
  try {
    for (;;) writeSync(filler, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(filler);
  }
}
