import { setTimeout as sleep } from "node:timers/promises";
import { STRUCK, signalAll, type Fault } from "../fault.ts";
import type { World } from "../world.ts";

const chain = (signal: NodeJS.Signals) => async (world: World) => signalAll(world.anvils(STRUCK), signal);
const children = (signal: NodeJS.Signals) => async (world: World) =>
  signalAll(world.sandboxChildren(), signal);
const service = (signal: NodeJS.Signals) => async (world: World) => signalAll([world.service().pid], signal);

/** Each process of the service, killed and suspended. */
export const PROCESS_FAULTS: readonly Fault[] = [
  {
    name: "service killed (SIGKILL) and started again",
    lastsMs: 0,
    sparesOthers: false,
    strike: (world) => world.restart("SIGKILL"),
  },
  {
    name: "service ended (SIGTERM) and started again",
    lastsMs: 0,
    sparesOthers: false,
    strike: (world) => world.restart("SIGTERM"),
  },
  {
    name: "service stopped (SIGSTOP) and continued",
    lastsMs: 40_000,
    testLastsMs: 1_500,
    sparesOthers: false,
    strike: service("SIGSTOP"),
    mend: service("SIGCONT"),
  },
  {
    name: "Anvil killed (SIGKILL)",
    lastsMs: 0,
    sparesOthers: true,
    strike: chain("SIGKILL"),
  },
  {
    name: "Anvil stopped (SIGSTOP)",
    lastsMs: 40_000,
    testLastsMs: 1_500,
    sparesOthers: true,
    told: "not ready",
    strike: chain("SIGSTOP"),
    mend: chain("SIGCONT"),
  },
  {
    name: "Anvil stopped for a minute, and each that takes its place",
    lastsMs: 0,
    sparesOthers: true,
    told: "not ready",
    async strike(world) {
      for (const end = Date.now() + 60_000; Date.now() < end; await sleep(500)) await chain("SIGSTOP")(world);
    },
    mend: chain("SIGCONT"),
  },
  {
    name: "all sandbox processes killed (SIGKILL), eight times",
    lastsMs: 0,
    sparesOthers: false,
    async strike(world) {
      for (let times = 0; times < 8; times += 1) {
        await children("SIGKILL")(world);
        await sleep(150);
      }
    },
  },
  {
    name: "all sandbox processes stopped (SIGSTOP)",
    lastsMs: 40_000,
    testLastsMs: 1_500,
    sparesOthers: false,
    strike: children("SIGSTOP"),
    mend: children("SIGCONT"),
  },
];
