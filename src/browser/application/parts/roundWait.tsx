import type { ReactNode } from "react";
import { capitalize } from "../../../lib/capitalize.ts";
import { BEACON_WAIT_MS, LATE_MS, nameBeacon } from "../../../text/draw.ts";
import { describeNoRound } from "../../../text/sharedResult.ts";
import { Countdown, isUtcHere, LocalTime, useNow } from "./format.tsx";
import { Folded, Why } from "./parts.tsx";

/** When the round that a request waits for is due, by the reader's clock, and what happens if it doesn't come: shown until the result is there or the service waits no longer. */
export function RoundWait({
  beacon,
  isFunction,
  children,
}: {
  readonly beacon: Parameters<typeof nameBeacon>[0] & { readonly time: string };
  readonly isFunction: boolean;
  /** Shown between the two. */
  readonly children?: ReactNode;
}) {
  const { time } = beacon;
  const sinceMs = useNow() - Date.parse(time);
  if (sinceMs > BEACON_WAIT_MS) return children;
  const until = new Date(Date.parse(time) + BEACON_WAIT_MS).toISOString();
  return (
    <>
      <p>
        Due <Countdown iso={time} />
        {/* The sentence above says the time in UTC; one that is over needs no second clock. */}
        {sinceMs < 0 && !isUtcHere(time) && (
          <>
            : <LocalTime iso={time} /> on your clock
          </>
        )}
        .
        {sinceMs >= 0 &&
          sinceMs < LATE_MS &&
          ` ${capitalize(nameBeacon(beacon))} is fetched, then the result is computed.`}
      </p>
      {children}
      {sinceMs >= LATE_MS && beacon.isLocal !== true && (
        <Folded summary="For operators">
          <p>
            If no relay has the round, anybody who has it can hand it in, without a key:{" "}
            <code>tyche beacon {beacon.round} SIGNATURE</code>, or as{" "}
            <a href="/docs/api#states-of-a-request">the API</a> takes it.
          </p>
        </Folded>
      )}
      <p className="note">
        <Why text={describeNoRound(isFunction, until)} />
      </p>
    </>
  );
}
