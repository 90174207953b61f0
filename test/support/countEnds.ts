/** Returns how often a request has ended, not counting ends that a reorg undid. */
export function countEnds({
  timeline,
}: {
  readonly timeline: readonly { readonly state: string; readonly detail?: string }[];
}): number {
  return timeline.filter(
    ({ state }, i) =>
      (state === "fulfilled" || state === "failed") && !timeline[i + 1]?.detail?.startsWith("a reorg"),
  ).length;
}
