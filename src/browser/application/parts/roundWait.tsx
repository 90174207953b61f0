import type { ReactNode } from "react";
import { BEACON_WAIT_MS, LATE_MS } from "../../../lib/drawText.ts";
import { Countdown, isUtcHere, LocalTime, useNow } from "./format.tsx";

/** When the round that a request waits for is due, by the reader's clock, and what happens if it doesn't come; nothing once it is there. */
export function RoundWait({
  time,
  isFunction,
  children,
}: {
  readonly time: string;
  readonly isFunction: boolean;
  /** Shown between the two. */
  readonly children?: ReactNode;
}) {
  const sinceMs = useNow() - Date.parse(time);
  // Right after its time the round is there, mostly, and the request waits for its result.
  if (sinceMs >= 0 && sinceMs < LATE_MS) return children;
  const until = new Date(Date.parse(time) + BEACON_WAIT_MS).toISOString();
  return (
    <>
      <p>
        Due <Countdown iso={time} />
        {!isUtcHere(time) && (
          <>
            : <LocalTime iso={time} /> on your clock
          </>
        )}
        .
      </p>
      {children}
      <p className="note">
        No other round is ever taken in its place.{" "}
        {isFunction ? (
          "If it does not come before the function times out on chain, the request fails."
        ) : (
          <>
            The service waits for it for about 24 hours, until <LocalTime iso={until} />; then the request
            fails.
          </>
        )}
      </p>
    </>
  );
}
