import { soakReplicas } from "./soakReplicas.ts";

/*
 * npm run soak:replicas -- [replicas] [seconds] [seed]: default three replicas, three minutes, and a seed from the clock, which is printed.
 */
const [replicas = "3", seconds = "180", seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2);
console.log(`seed ${seed}, ${replicas} replicas, ${seconds} seconds`);
const report = await soakReplicas({
  replicas: Number(replicas),
  seconds: Number(seconds),
  seed: Number(seed),
  callers: 6,
  say: (line) => console.log(`${new Date().toISOString()} ${line}`),
});
console.log(JSON.stringify(report, null, 2));
process.exitCode = report.violations.length === 0 ? 0 : 1;
