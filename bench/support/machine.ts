import { availableParallelism, cpus, loadavg, release, totalmem } from "node:os";

/** The machine that a measurement was taken on. */
export interface Machine {
  readonly node: string;
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGib: number;
  readonly system: string;
  /** Load average of the last minute when the run began: near 0 on a quiet machine. */
  readonly loadAtStart: number;
  readonly startedAt: string;
}

/** Reads what a run's numbers depend on. */
export function readMachine(): Machine {
  return {
    node: process.version,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${process.arch} ${release()}`,
    loadAtStart: Math.round(loadavg()[0]! * 100) / 100,
    startedAt: new Date().toISOString(),
  };
}

/** Describes the machine in one line, with a warning if it was busy with other work. */
export function describeMachine(machine: Machine): string {
  const { node, cores, cpu, memoryGib, system, loadAtStart } = machine;
  const busy =
    loadAtStart > cores / 2
      ? `\nThe machine was busy as this began (load ${loadAtStart} on ${cores} cores): take the numbers as rough.`
      : "";
  return `node ${node}, ${cores} cores (${cpu}), ${memoryGib} GiB, ${system}${busy}`;
}
