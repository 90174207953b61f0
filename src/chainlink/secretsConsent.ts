import { verifyMessage, type Hex } from "viem";

/** An account's consent that requests which a subscription of SubscriptionOwner's pays for may name its secrets. */
export interface SecretsConsent {
  readonly chainId: number;
  readonly subscriptionOwner: Hex;
  readonly subscriptionId: bigint;
  readonly signer: Hex;
  /** As SubscriptionOwner counts the account's consents for the subscription. */
  readonly number: bigint;
}

/** Returns the personal message (EIP-191) that the account signs, as SubscriptionOwner `setSecretsSigner` composes it. */
export function consentMessage(consent: SecretsConsent): string {
  const { chainId, subscriptionId, number } = consent;
  const [signer, owner] = [consent.signer.toLowerCase(), consent.subscriptionOwner.toLowerCase()];
  return `Requests of Functions subscription ${subscriptionId} may read all secrets that I, ${signer}, upload (SubscriptionOwner ${owner}, chain ${chainId}, consent ${number})`;
}

/** Whether a signature is the account's consent. Never throws. */
export async function isConsent(consent: SecretsConsent, signature: Hex): Promise<boolean> {
  const message = consentMessage(consent);
  return await verifyMessage({ address: consent.signer, message, signature }).catch(() => false);
}
