const EC_ALGORITHMS: Readonly<Record<string, string>> = {
  "P-256": "ES256",
  "P-384": "ES384",
  "P-521": "ES512",
};
const JWK_ORDER = "kty alg pub priv crv x y n e d p q dp dq qi k key_ops ext".split(" ");

/** Orders the members of a JSON Web Key as Deno does, which names the algorithm of every key on a curve of NIST and of no other. */
export function orderJwk(jwk: Record<string, unknown>): object {
  const { kty } = jwk;
  const onCurve: Record<string, unknown> = { ...jwk };
  delete onCurve["alg"];
  if (kty === "EC") onCurve["alg"] = EC_ALGORITHMS[String(jwk["crv"])];
  const named = kty === "EC" || kty === "OKP" ? onCurve : jwk;
  const place = (key: string): number =>
    JWK_ORDER.indexOf(key === "d" && named === onCurve ? "crv" : key) + (key === "d" ? 0.5 : 0);
  const keys = Object.keys(named).sort((a, b) => place(a) - place(b));
  return Object.fromEntries(keys.map((key) => [key, named[key]]));
}
