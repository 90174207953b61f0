const EC_ALGORITHMS: Readonly<Record<string, string>> = {
  "P-256": "ES256",
  "P-384": "ES384",
  "P-521": "ES512",
};
const JWK_ORDER = [
  "kty",
  "alg",
  "pub",
  "priv",
  "crv",
  "x",
  "y",
  "n",
  "e",
  "d",
  "p",
  "q",
  "dp",
  "dq",
  "qi",
  "k",
  "key_ops",
  "ext",
];

/** Orders the members of a JSON Web Key as Deno does, and adds `alg` to ECDSA keys. */
export function orderJwk(jwk: Record<string, unknown>, algorithm: string | undefined): object {
  const named = algorithm === "ECDSA" ? { alg: EC_ALGORITHMS[String(jwk["crv"])], ...jwk } : jwk;
  const keys = Object.keys(named).sort((a, b) => JWK_ORDER.indexOf(a) - JWK_ORDER.indexOf(b));
  return Object.fromEntries(keys.map((key) => [key, named[key]]));
}
