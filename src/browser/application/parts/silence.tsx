import { useEffect, useRef } from "react";
import type { ExplorerNetwork } from "../../../client/index.ts";
import { announce } from "../announce.ts";
import { useNetworks } from "../services.tsx";
import { durationOf, groupDigits, Time } from "./format.tsx";

/** How often is read which block each network is at, in ms. */
const HEADS_MS = 1_000;
/** Every node is asked for its newest block once a second or more often: one that has named none for so long doesn't answer, in ms. */
const SILENT_MS = 2_000;

/** The networks that a page is about. */
export type Chains = "all" | readonly string[];

/** Returns the networks that are served although their nodes don't answer now. */
export function useSilent(chains: Chains): readonly ExplorerNetwork[] {
  const { data = [] } = useNetworks(HEADS_MS);
  return data.filter((one) => isSilent(one) && (chains === "all" || chains.includes(one.name)));
}

/** Whether the node of a network that is served has named no block for a while. */
export function isSilent({ status, head }: ExplorerNetwork): boolean {
  return status === "serving" && head !== undefined && head.agoMs >= SILENT_MS;
}

/** Says which chains don't answer, since when, and how old is what is known of them; nothing while all do. */
export function Silence({ chains }: { readonly chains: Chains }) {
  const silent = useSilent(chains);
  const titles = silent.map(({ title }) => title).join(", ");
  // Its seconds pass by in the notice, which screen readers would read each time.
  const before = useRef("");
  useEffect(() => {
    if (titles !== before.current)
      announce(titles === "" ? `${before.current} answers again` : `No answer from ${titles}`);
    before.current = titles;
  }, [titles]);
  if (silent.length === 0) return null;
  return (
    <div className="notice" id="silence">
      {silent.map(({ name, title, head }) => (
        <p key={name}>
          {title} has not answered for {durationOf(Math.round(head!.agoMs / 1000))}. What is shown of it is
          from block {groupDigits(head!.number)} of <Time iso={head!.at} /> or earlier. This page goes on by
          itself once it answers.
        </p>
      ))}
    </div>
  );
}
