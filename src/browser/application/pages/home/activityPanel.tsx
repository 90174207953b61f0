import type { ActiveHour, Activity } from "../../../../client/index.ts";
import { BarChart } from "../../parts/barChart.tsx";
import { count, groupDigits } from "../../parts/format.tsx";
import { List } from "../../parts/list.tsx";
import { Folded } from "../../parts/parts.tsx";

/** Draws the requests of each hour as a bar. */
export function ActivityPanel({ activity: { hours, maxCounted } }: { readonly activity: Activity }) {
  const most = Math.max(...hours.map(({ requests }) => requests));
  const sumOf = (of: "requests" | "failed"): number => hours.reduce((sum, hour) => sum + hour[of], 0);
  const failed = groupDigits(sumOf("failed"));
  const isMore = hours.some(({ requests }) => requests >= maxCounted);
  const total = `${isMore ? "more than " : ""}${count(sumOf("requests"), "request")}`;
  const bars = hours.map((hour) => ({
    ...hour,
    name: hourOf(hour),
    title: `${hourOf(hour)}: ${count(hour.requests, "request")}, ${groupDigits(hour.failed)} failed`,
  }));
  return (
    <section className="panel" id="activity">
      <h2>Requests of the last 24 hours</h2>
      <BarChart bars={bars} label={`${total} in 24 hours, ${failed} failed, at most ${most} an hour`} />
      <p className="note">
        {total}, {failed} failed; at most {groupDigits(most)} an hour.
      </p>
      <Folded summary="As a table">
        <List
          label="Requests by hour"
          items={hours}
          keyOf={({ from }) => from}
          columns={[
            { head: "Hour (UTC)", cell: hourOf },
            { head: "Requests", kind: "number", cell: ({ requests }) => groupDigits(requests) },
            { head: "Failed", kind: "number", cell: ({ failed }) => groupDigits(failed) },
          ]}
        />
      </Folded>
    </section>
  );
}

function hourOf({ from }: ActiveHour): string {
  return from.slice(11, 16);
}
