import { generateKeyPairSync, sign } from "node:crypto";

/**
 * Creates a self-signed certificate for one DNS name, valid from 2020 to 2049 (RFC 5280), with a fresh P-256 key. It is created in the test
 * so that the repository contains no private key and no certificate that expires.
 */
export function selfSigned(dnsName: string): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsaWithSha256 = sequence(objectId("2a8648ce3d040302"));
  const name = sequence(der(0x31, sequence(objectId("550403"), der(0x0c, Buffer.from(dnsName)))));
  const validity = sequence(der(0x17, Buffer.from("200101000000Z")), der(0x17, Buffer.from("491231235959Z")));
  const alternativeName = sequence(der(0x82, Buffer.from(dnsName)));
  const basicConstraints = sequence(der(0x01, Buffer.from([0xff])));
  const extensions = sequence(
    sequence(objectId("551d11"), der(0x04, alternativeName)),
    sequence(objectId("551d13"), der(0x01, Buffer.from([0xff])), der(0x04, basicConstraints)),
  );
  const version3 = der(0xa0, der(0x02, Buffer.from([2])));
  const serial = der(0x02, Buffer.from([1]));
  const spki = publicKey.export({ type: "spki", format: "der" });
  const body = sequence(version3, serial, ecdsaWithSha256, name, validity, name, spki, der(0xa3, extensions));
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)]));
  const certificate = sequence(body, ecdsaWithSha256, signature);
  const lines = certificate.toString("base64").replace(/.{64}/g, "$&\n");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

/** Encodes one DER element: tag, length in short or long form, content. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}

function sequence(...elements: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(elements));
}

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}
