import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describeMachine, readMachine } from "../../bench/support/machine.ts";
import { FAULTS } from "./catalogue/catalogue.ts";
import { damageFile, prepareStopped } from "./damageRun.ts";
import { DAMAGES, FILES, FILES_OF_KILLED } from "./damages.ts";
import type { Fault } from "./fault.ts";
import { inject, type FaultReport } from "./injector.ts";
import { formatReports, row } from "./report.ts";
import { createWorld } from "./world.ts";

/*
 * npm run soak:faults -- [regular expression]: runs every fault whose name matches, at its full length, then every damage to a file ("file
 * damage" and the file's name), and prints two Markdown tables. Everything takes half an hour; exits with 1 on any breach.
 */
const wanted = new RegExp(process.argv.slice(2).join(" "));
const say = (line: string): void => console.error(`${new Date().toISOString()} ${line}`);
const reports: FaultReport[] = [];
const SHOWN_BREACHES = 10;

async function injectAll(faults: readonly Fault[], dataDir?: string): Promise<void> {
  if (faults.length === 0) return;
  const known = new Set<string>();
  const world = await createWorld(dataDir);
  try {
    for (const fault of faults) {
      say(fault.name);
      const report = await inject(world, fault, { lastsMs: fault.lastsMs, number: reports.length, known });
      reports.push(report);
      for (const breach of report.breaches.slice(0, SHOWN_BREACHES)) say(`  BREACH ${breach}`);
      if (report.breaches.length === 0) continue;
      const file = path.join(tmpdir(), `tyche-fault-${process.pid}-${reports.length}.log`);
      writeFileSync(file, [...report.breaches, world.output()].join("\n"));
      say(`  ${report.breaches.length} breaches; all of them and the service's log are in ${file}`);
    }
  } finally {
    await world.close();
  }
}

/** Damages each file in each way; prints a row as soon as a file is done. */
async function damageAll(files: readonly string[], signal: NodeJS.Signals): Promise<boolean> {
  if (files.length === 0) return true;
  const stopped = await prepareStopped(signal);
  let isHeld = true;
  try {
    for (const file of files) {
      const cells: string[] = [];
      for (const damage of Object.keys(DAMAGES)) {
        const { outcome, said, breaches } = await damageFile(stopped, file, damage);
        say(`${file} ${damage}: ${outcome}; ${said}`);
        for (const breach of breaches) say(`  BREACH ${breach}`);
        if (breaches.length > 0) isHeld = false;
        cells.push(breaches.length === 0 ? outcome : `**broken** (${outcome})`);
      }
      console.log(row([signal === "SIGKILL" ? `${file} of a killed service` : file, ...cells]));
    }
  } finally {
    stopped.remove();
  }
  return isHeld;
}

console.log(`${describeMachine(readMachine())}\n`);
const faults = FAULTS.filter(({ name }) => wanted.test(name));
await injectAll(faults.filter(({ onSmallDisk }) => onSmallDisk !== true));
const onSmallDisk = faults.filter((fault) => fault.onSmallDisk === true);
if (onSmallDisk.length > 0) {
  // Mounting needs root.
  const mount = mkdtempSync(path.join(tmpdir(), "tyche-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", mount]);
  try {
    await injectAll(onSmallDisk, path.join(mount, "data"));
  } finally {
    execFileSync("umount", [mount]);
    rmdirSync(mount);
  }
}
if (reports.length > 0) console.log(formatReports(reports));
let isHeld = reports.every(({ breaches }) => breaches.length === 0);
const isWanted = (file: string): boolean => wanted.test(`file damage ${file}`);
if (FILES.some(isWanted)) {
  const damages = Object.keys(DAMAGES);
  console.log(`\n${row(["File", ...damages])}\n${row(["---", ...damages.map(() => "---")])}`);
  isHeld = (await damageAll(FILES.filter(isWanted), "SIGTERM")) && isHeld;
  isHeld = (await damageAll(FILES_OF_KILLED.filter(isWanted), "SIGKILL")) && isHeld;
}
process.exitCode = isHeld ? 0 : 1;
