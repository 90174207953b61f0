import { Type } from "typebox";
import { decimal, nullable } from "./common.ts";

const day = (description: string) => Type.String({ format: "date", description });
const number = (description: string) => Type.Integer({ minimum: 0, description });

/** What a dapp used on one network and one day. */
export const UsageDay = Type.Object({
  day: day("Day in UTC. A request counts on the day on which it was accepted."),
  network: nullable(Type.String(), "`null` for dry runs that name no network."),
  requests: Type.Object(
    {
      preset: number("Presets."),
      function: number("Functions."),
      random: number("Requests for random numbers."),
      consumer: number("Contracts linked."),
      unlink: number("Contracts unlinked."),
    },
    { description: "Requests accepted, by kind." },
  ),
  fulfilled: number("Of these, how many were fulfilled."),
  failed: number("Of these, how many failed. The rest are in progress."),
  refused: number("Calls refused after their dry run; nothing was sent to a chain."),
  dryRuns: number("Dry runs requested."),
  words: number("Random words delivered."),
  gasUsed: decimal(
    "Gas of the service's own transactions; requests that share a transaction share it equally. The oracle's gas is part of what is charged.",
  ),
  linkJuels: decimal("LINK charged to the subscriptions for the requests that have ended, in juels (1e-18)."),
  coinWei: decimal("Coin charged where words are paid for in coin instead, in wei."),
  toppedUpJuels: decimal(
    "LINK that the service topped up the subscriptions with, in juels, on the day it did so. Covers what the dapp's own contracts spend; counts against the dapp's daily budget.",
  ),
  toppedUpWei: decimal("Coin that the service topped up a subscription with, in wei."),
});

/** Usage of a dapp: a row for each day and network with any usage. */
export const UsageReport = Type.Object({
  from: day("First day."),
  to: day("Last day."),
  items: Type.Array(UsageDay, { description: "Oldest first." }),
});
