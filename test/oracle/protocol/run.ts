/** `npm run test:protocol -- [schedules] [first seed]`: runs schedules of the protocol between oracle nodes; default 100,000 from seed 1. */
import { DERIVED, ROUND } from "./protocols.ts";
import { runSchedule } from "./simulator.ts";

const [schedules = 100_000, first = 1] = process.argv.slice(2).map(Number);
const start = performance.now();
let events = 0;
for (let seed = first; seed < first + schedules; seed += 1) {
  const outcome = runSchedule(seed % 2 === 0 ? DERIVED : ROUND, seed);
  events += outcome.events;
  if (outcome.violation === undefined) continue;
  console.error(`seed ${seed}: ${outcome.violation}`);
  process.exit(1);
}
const seconds = (performance.now() - start) / 1_000;
console.log(`${schedules} schedules, ${events} events, no invariant broken, in ${seconds.toFixed(1)} s`);
