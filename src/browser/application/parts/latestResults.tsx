import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { useExplorer } from "../services.tsx";
import { refetchUnlessRefused } from "../refetch.ts";
import { listed, RequestList } from "./requestList.tsx";

/** Results that a page lists. */
const MAX_RESULTS = 5;
const REFRESH_MS = 5_000;

/** What was drawn of late with a preset, or as random numbers; nothing if nothing was. */
export function LatestResults({
  of,
  all,
}: {
  readonly of: { readonly preset: string } | { readonly kind: "random" };
  /** Text of the link to the others. */
  readonly all: string;
}) {
  const explorer = useExplorer();
  const { data: { items } = { items: [] } } = useQuery({
    queryKey: ["explorer requests", "latest", of],
    queryFn: () => explorer.requests(of),
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  if (items.length === 0) return null;
  return (
    <section className="panel" id="latest">
      <h2>Latest results</h2>
      <RequestList label="Latest results" requests={items.slice(0, MAX_RESULTS).map(listed)} />
      <p className="pages">
        <Link href={`/explorer/requests?${new URLSearchParams(of)}`}>{all}</Link>
      </p>
    </section>
  );
}
