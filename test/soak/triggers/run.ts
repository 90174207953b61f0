import { soakTriggers } from "./soakTriggers.ts";

/* npm run soak:triggers -- [seconds] [seed]: default ten minutes, and a seed from the clock, which is printed. */
const [seconds = "600", seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2);
console.log(`seed ${seed}, ${seconds} seconds`);
const report = await soakTriggers({
  seconds: Number(seconds),
  seed: Number(seed),
  say: (line) => console.log(`${new Date().toISOString()} ${line}`),
});
console.log(JSON.stringify(report, null, 2));
process.exitCode = report.violations.length === 0 ? 0 : 1;
