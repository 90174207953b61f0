import { Type } from "typebox";
import type { ParameterViolation } from "../lib/invalidParameter.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { EXPECTED } from "../lib/schemaCheck.ts";
import { STRICT, variableName } from "./schemaParts.ts";
import type { Members } from "./readConfigFile.ts";
import { isObject } from "../lib/isObject.ts";

const text = (description: string) => Type.String({ minLength: 1, [EXPECTED]: "a string", description });

/** The OpenID provider by which people sign in. */
export const IdentityProviderChoice = Type.Object(
  {
    issuer: text("Its URL, as its metadata name it."),
    clientId: text("The id that this service is registered with there."),
    clientSecret: Type.Optional(
      Type.Object(
        {
          env: variableName("Environment variable that holds the secret."),
        },
        {
          ...STRICT,
          [EXPECTED]: 'an object with env, such as {"env": "OIDC_SECRET"}',
          description: "Where to read the client's secret. Default: a public client.",
        },
      ),
    ),
    title: Type.String({
      minLength: 1,
      maxLength: 60,
      default: "single sign-on",
      [EXPECTED]: "a string of 1 to 60 characters",
      description: "What people call it: the button says “Sign in with …”.",
    }),
  },
  {
    ...STRICT,
    [EXPECTED]: 'an object such as {"issuer": "https://login.example.org", "clientId": "tyche"}',
    description:
      "OpenID provider by which people sign in, besides passkeys. It sends them back to `/sign-in/provider` under `publicUrl`, which is required with it.",
  },
);

/** Rejects a provider to which nobody could be sent, or from which nobody could come back. */
export function checkIdentityProvider({ identityProvider, publicUrl }: Members): ParameterViolation[] {
  if (!isObject(identityProvider)) return [];
  const { issuer } = identityProvider;
  const url = typeof issuer === "string" ? URL.parse(issuer) : null;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.host));
  return [
    ...(isSafe || typeof issuer !== "string"
      ? []
      : [
          {
            path: "/identityProvider/issuer",
            message: "must be an https URL; http is only for this machine",
          },
        ]),
    ...(publicUrl === undefined
      ? [{ path: "/publicUrl", message: "is required with identityProvider, which sends people back to it" }]
      : []),
  ];
}
