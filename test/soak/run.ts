import { soak } from "./soak.ts";

/* npm run soak -- [seconds] [seed]: default three minutes, and a seed from the clock, which is printed. */
const [seconds = "180", seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2);
console.log(`seed ${seed}, ${seconds} seconds`);
const report = await soak({
  seconds: Number(seconds),
  seed: Number(seed),
  callers: 8,
  say: (line) => console.log(`${new Date().toISOString()} ${line}`),
});
console.log(JSON.stringify(report, null, 2));
process.exitCode = report.violations.length === 0 ? 0 : 1;
