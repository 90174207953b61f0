import { Type } from "typebox";
import { address, hexBytes, nullable, time } from "./common.ts";

/** A secret as the API shows it, without its value. */
export const SecretView = Type.Object({
  name: Type.String({ description: "Its name, by which a source reads it: `secrets.NAME`." }),
  network: Type.String({ description: "Network whose functions may read it." }),
  version: Type.Integer({ description: "Rises with each change." }),
  size: Type.Integer({ description: "Length of what is encrypted, in bytes." }),
  changedAt: time("When it was set."),
  expiresAt: nullable(time("After this no request can read it.")),
  allowedHosts: nullable(
    Type.Array(Type.String()),
    "Hosts to which a source with it may send requests; empty: any; null: only the oracle knows.",
  ),
  outdated: Type.Boolean({
    description:
      "Whether the network's nodes have another key by now, so that none can read it: set it again.",
  }),
});

/** What a client encrypts a secret to, so that the service never sees it. */
export const SecretsKey = Type.Object({
  network: Type.String({ description: "Network." }),
  thresholdPublicKey: Type.Object(
    {
      Group: Type.String({ description: "`P256`." }),
      G_bar: Type.String({ description: "Second generator: an uncompressed point in base64." }),
      H: Type.String({ description: "Public key: an uncompressed point in base64." }),
    },
    { description: "As `getThresholdPublicKey` of FunctionsCoordinator returns it." },
  ),
  label: Type.String({
    description: "32 bytes in hex, which say that only requests of the dapp's subscription may open it.",
  }),
});

/** Who may upload secrets for a dapp's subscription beside the service. */
export const SecretsSigner = Type.Object({
  network: Type.String({ description: "Network." }),
  functionsSubscriptionId: Type.String({ description: "The dapp's subscription for functions." }),
  signer: address("Account whose uploads its requests may name"),
  transactionHash: nullable(
    hexBytes("Transaction that says so", 32),
    "Transaction that says so; null if the account was the signer already.",
  ),
});
