/** What a transaction of ours carries, for the journal. */
export interface Payload {
  /** `submit`: requests of presets, functions and words; `consumer`: one linking or unlinking; `upkeep`: nothing of a caller's. */
  readonly kind: "submit" | "consumer" | "upkeep";
  /** Our request ids by entry; a preset entry holds one for each item. */
  readonly entries: readonly (readonly string[])[];
}
