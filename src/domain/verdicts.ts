/** The checks of one request, in the order in which they run; each request has those that concern its kind. */
export const STEP_NAMES = [
  "transactions",
  "contracts",
  "key",
  "proof",
  "join",
  "beacon",
  "source",
  "signers",
  "signatures",
  "delivery",
  "execution",
] as const;

/** What a verification can find, worst first: the verdict on a transaction is the worst of those on its requests. */
export const VERDICTS = ["invalid", "incomplete", "unconfirmed", "conditional", "valid"] as const;

/** Returns the verdict on several requests. */
export function worstVerdict(
  requests: readonly { readonly verdict: (typeof VERDICTS)[number] }[],
): (typeof VERDICTS)[number] {
  return VERDICTS.find((one) => requests.some(({ verdict }) => verdict === one)) ?? "valid";
}
