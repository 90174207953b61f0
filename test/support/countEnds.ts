/** How often a request has ended, but for the ends that a reorganisation has taken back. */
export function countEnds({
  timeline,
}: {
  readonly timeline: readonly { readonly state: string; readonly detail?: string }[];
}): number {
  return timeline.filter(
    ({ state }, i) =>
      (state === "fulfilled" || state === "failed") &&
      !timeline[i + 1]?.detail?.startsWith("a reorganisation"),
  ).length;
}
