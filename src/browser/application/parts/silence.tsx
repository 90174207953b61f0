import { useEffect } from "react";
import type { ExplorerNetwork } from "../../../client/index.ts";
import { announce } from "../announce.ts";
import { useNetworks, useShortTitleOf } from "../services.tsx";
import { Age, durationOf, groupDigits } from "./format.tsx";

/**
 * A service asks each node for its newest block once or twice a second; a slow answer takes another second or two. One that has named none for
 * this long doesn't answer, in ms. The service's own reads of a remote one wait longer before they are refused (`src/explorer/explorer.ts`).
 */
const SILENT_MS = 4_000;
/** How often a page with nothing to wait for reads which block each network is at, in ms. */
const LOOK_MS = 4_000;
/** The same while a network doesn't answer, or a page waits for one that may not, in ms. */
export const AWAITED_MS = 1_000;
/** What was read earlier is no reason to say that a network doesn't answer now, in ms. */
const FRESH_MS = 2_000;

/** The networks that a page is about. */
export type Chains = "all" | readonly string[];

/** Titles of the networks that screen readers have been told don't answer. */
const announced = new Set<string>();

/** Returns the networks that are served although their nodes don't answer now. `lookMs`: how often it looks while all answer; `false`: it doesn't. */
export function useSilent(chains: Chains, lookMs?: number | false) {
  return useWatched(chains, lookMs).filter(isSilent);
}

/** Reads the networks again and again; none before they have been read for this page. */
function useWatched(chains: Chains, lookMs: number | false = LOOK_MS): readonly ExplorerNetwork[] {
  const isOf = ({ name }: ExplorerNetwork): boolean => chains === "all" || chains.includes(name);
  const { data, isStale, isFetchedAfterMount } = useNetworks({
    freshMs: FRESH_MS,
    refreshMs: (networks) => (networks.some((one) => isOf(one) && isSilent(one)) ? AWAITED_MS : lookMs),
  });
  return data === undefined || (isStale && !isFetchedAfterMount) ? [] : data.filter(isOf);
}

/** Whether the node of a network that is served has named no block for a while. */
export function isSilent(
  network: ExplorerNetwork,
): network is ExplorerNetwork & { readonly head: NonNullable<ExplorerNetwork["head"]> } {
  const { status, head } = network;
  return status === "serving" && head !== undefined && head.agoMs >= SILENT_MS;
}

/** Says which chains don't answer, since when, and how old is what is known of them; nothing while all do. */
export function Silence({
  chains,
  lookMs,
}: {
  readonly chains: Chains;
  readonly lookMs?: number | undefined;
}) {
  const watched = useWatched(chains, lookMs);
  const titleOf = useShortTitleOf();
  const silent = watched.filter(isSilent);
  // Its seconds pass by in the notice, which screen readers would read each time.
  useEffect(() => {
    const changes = watched.flatMap((network) => {
      const { status, title } = network;
      // One that is no longer served doesn't answer again.
      if (status !== "serving" || isSilent(network) === announced.has(title)) return [];
      if (announced.delete(title)) return `${title} answers again`;
      announced.add(title);
      return `No answer from ${title}`;
    });
    if (changes.length > 0) announce(changes.join(". "));
  }, [watched]);
  if (silent.length === 0) return null;
  return (
    <div className="notice" id="silence">
      {silent.map(({ name, head }) => (
        <p key={name}>
          {titleOf(name)} has not answered for {durationOf(Math.round(head.agoMs / 1000))}. Last block:{" "}
          {groupDigits(head.number)}, <Age iso={head.at} isShort />.
        </p>
      ))}
    </div>
  );
}
