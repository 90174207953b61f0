import { runLoad, type LoadCall } from "./load.ts";
import { median } from "./median.ts";

/** Median latency of one turn in milliseconds, for each service. */
export interface Turn {
  readonly service: number;
  readonly naive: number;
}

interface Alternating {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly call: (index: number) => LoadCall;
}

/** Makes one call at a time, alternating between the services every few seconds. */
export async function takeTurns(
  { service, naive }: Readonly<Record<keyof Turn, Alternating>>,
  { count, durationMs }: { readonly count: number; readonly durationMs: number },
): Promise<readonly Turn[]> {
  const measure = async (peer: Alternating): Promise<number> =>
    (await runLoad({ ...peer, inFlight: 1, durationMs })).p50Ms;
  const turns: Turn[] = [];
  for (let turn = 1; turn <= count; turn++) {
    process.stderr.write(`one at a time, turn ${turn} of ${count} …\n`);
    turns.push({ service: await measure(service), naive: await measure(naive) });
  }
  return turns;
}

/** Describes the result of the turns in one line. */
export function describeTurns(turns: readonly Turn[], durationMs: number): string {
  const middle = (of: keyof Turn): string => median(turns.map((turn) => turn[of])).toFixed(1);
  const ratios = turns.map(({ service, naive }) => service / naive).toSorted((a, b) => a - b);
  const [ratio, lowest, highest] = [median(ratios), ratios[0]!, ratios.at(-1)!].map((one) => one.toFixed(2));
  return `One preset at a time, in ${turns.length} turns of ${durationMs / 1000} s each: p50 ${middle("service")} ms, the naive path ${middle("naive")} ms; ratio of a turn ${ratio} (${lowest} to ${highest}).`;
}
