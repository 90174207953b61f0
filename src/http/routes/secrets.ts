import type { Checked } from "../../api/parameters/requestSchemas.ts";
import { SecretsKey, SecretsSigner, SecretView } from "../../api/secrets.ts";
import { listOf } from "../../api/common.ts";
import { SECRET_NAME } from "../../domain/vocabulary.ts";
import { InvalidParameterError, type ParameterViolation } from "../../lib/invalidParameter.ts";
import type { SecretParams, Secrets } from "../../requests/secrets.ts";
import type { HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";

const ONE = "/api/secrets/:name";

/** The secrets of the key's dapp. */
export function secretOperations(deps: HttpDeps, secrets: Secrets): readonly Operation[] {
  const operation = createOperations(deps, { tag: "Secrets" });
  return [
    operation({
      id: "setSecret",
      method: "put",
      path: ONE,
      summary: "Set a secret",
      description:
        "Stores a value that functions of the dapp can read as `secrets.NAME`, and nobody else. The value is encrypted to the network's oracle at " +
        "once and kept nowhere; `tyche/client` encrypts it before it is sent, as `ciphertext`. Replaces the secret of that name; requests that were " +
        "sent before read the old one for up to an hour. At most 100 on a network, 2,048 bytes each, 27,648 bytes together.",
      request: "setSecret",
      example: { value: "s3cr3t-value", allowedHosts: ["api.example.com"] },
      answer: SecretView,
      run: ({ dapp, param, values }) => secrets.put(dapp, assertName(param("name")), parseSecret(values)),
    }),
    operation({
      id: "listSecrets",
      path: "/api/secrets",
      summary: "List secrets",
      description: "The names of the dapp's secrets, never their values.",
      request: "listSecrets",
      answer: listOf(SecretView),
      run: async ({ dapp, values: { network } }) => ({ items: await secrets.list(dapp, network) }),
    }),
    operation({
      id: "deleteSecret",
      method: "delete",
      path: ONE,
      summary: "Delete a secret",
      description: "Deletes a secret at once: requests that were sent with it fail if they have not run.",
      request: "secretNetwork",
      answer: SecretView,
      run: ({ dapp, param, values: { network } }) => secrets.delete(dapp, assertName(param("name")), network),
    }),
    operation({
      id: "getSecretsKey",
      path: "/api/secretsKey",
      summary: "Read the key for secrets",
      description:
        "What a client encrypts a secret to before it sends it, so that the service never sees it: `tyche/client` does. Compare the key with " +
        "`getThresholdPublicKey` of FunctionsCoordinator.",
      request: "secretNetwork",
      answer: SecretsKey,
      run: ({ dapp, values: { network } }) => secrets.key(dapp, network),
    }),
    operation({
      id: "setSecretsSigner",
      method: "post",
      path: "/api/secretsSigner",
      summary: "Name who uploads secrets",
      description:
        "Lets an account of yours upload secrets with `SecretsManager` of functions-toolkit for requests that the dapp's subscription pays for, as " +
        "the owner of a subscription can. There is one such account; another replaces it. It consents by its signature, since the dapp can then read what it has uploaded; SubscriptionOwner records that, and the account can withdraw it there. What the service holds for the dapp is not affected.",
      request: "secretsSigner",
      example: { address: "0x0000000000000000000000000000000000000000" },
      answer: SecretsSigner,
      run: ({ dapp, values: { network, address, signature } }) =>
        secrets.setSigner(dapp, network, { signer: address, signature }),
    }),
  ];
}

function assertName(name: string): string {
  if (SECRET_NAME.test(name)) return name;
  const message = "must be 1 to 100 letters, digits and underscores, and begin with no digit";
  throw new InvalidParameterError([{ path: "/name", message }]);
}

/** Checks what a schema can't express. */
function parseSecret({
  network,
  value,
  ciphertext,
  allowedHosts,
  expiresAt,
}: Checked<"setSecret">): SecretParams {
  const violations: ParameterViolation[] = [];
  if ((value === undefined) === (ciphertext === undefined))
    violations.push({ path: "/value", message: "give either value or ciphertext" });
  if (ciphertext !== undefined && allowedHosts !== undefined)
    violations.push({
      path: "/allowedHosts",
      message: "is inside the ciphertext; leave it out",
    });
  const hosts = allowedHosts?.map((host) => host.toLowerCase());
  if (violations.length > 0) throw new InvalidParameterError(violations);
  return {
    network,
    ...(value === undefined ? {} : { value }),
    ...(ciphertext === undefined ? {} : { ciphertext }),
    ...(hosts === undefined ? {} : { allowedHosts: hosts }),
    ...(expiresAt === undefined ? {} : { expiresAt: Date.parse(expiresAt) }),
  };
}
