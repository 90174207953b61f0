/** The contents of one of our transactions, as the journal records them. */
export interface Payload {
  /** `submit`: preset, function and VRF requests; `consumer`: links or unlinks one consumer; `upkeep`: nothing that a caller asked for. */
  readonly kind: "submit" | "consumer" | "upkeep";
  /** Our request ids by entry; a preset entry has one for each item. */
  readonly entries: readonly (readonly string[])[];
}
