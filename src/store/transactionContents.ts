/** What a dapp's subscriptions are topped up with, in decimal: LINK in juels, coin in wei. */
export interface TopUp {
  readonly dappId: string;
  readonly juels: string;
  readonly wei: string;
}

/** The contents of one of our transactions, as the journal records them. */
export interface Payload {
  /** `submit`: preset, function and VRF requests; `consumer`: links or unlinks one consumer; `upkeep`: nothing that a caller asked for. */
  readonly kind: "submit" | "consumer" | "upkeep";
  /** Our request ids by entry; a preset entry has one for each item. */
  readonly entries: readonly (readonly string[])[];
  /** Set if it tops up a dapp's subscriptions. */
  readonly topUp?: TopUp;
}
