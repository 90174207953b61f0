import { within } from "./limits.ts";
import type { CallOptions } from "./requests.ts";
import type { Call, Transport } from "./transport.ts";

/** Creates what makes a call within the limits of its caller, and returns the answer's `data`. */
export function createSend(transport: Transport) {
  return <Data>(call: Omit<Call, "signal">, options: CallOptions = {}): Promise<Data> =>
    within(options, async (signal) => (await transport.send({ ...call, signal })).data as Data);
}
