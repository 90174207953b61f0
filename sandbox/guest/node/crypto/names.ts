/** The names that Deno's `node:crypto` knows: the host's library has more, which the nodes would refuse. */

export const HASHES: readonly string[] =
  "RSA-MD4 RSA-MD5 RSA-RIPEMD160 RSA-SHA1 RSA-SHA1-2 RSA-SHA224 RSA-SHA256 RSA-SHA3-224 RSA-SHA3-256 RSA-SHA3-384 RSA-SHA3-512 RSA-SHA384 RSA-SHA512 RSA-SHA512/224 RSA-SHA512/256 RSA-SM3 blake2b512 blake2s256 dss1 id-rsassa-pkcs1-v1_5-with-sha3-224 id-rsassa-pkcs1-v1_5-with-sha3-256 id-rsassa-pkcs1-v1_5-with-sha3-384 id-rsassa-pkcs1-v1_5-with-sha3-512 md4 md4WithRSAEncryption md5 md5-sha1 md5WithRSAEncryption ripemd ripemd160 ripemd160WithRSA rmd160 sha1 sha1WithRSAEncryption sha224 sha224WithRSAEncryption sha256 sha256WithRSAEncryption sha3-224 sha3-256 sha3-384 sha3-512 sha384 sha384WithRSAEncryption sha512 sha512-224 sha512-224WithRSAEncryption sha512-256 sha512-256WithRSAEncryption sha512WithRSAEncryption shake128 shake256 sm3 sm3WithRSAEncryption ssl3-md5 ssl3-sha1".split(
    " ",
  );

export const CURVES: readonly string[] = "prime256v1 secp224r1 secp256k1 secp384r1 secp521r1".split(" ");

/** Ciphers that Deno describes and lacks. */
export const DESCRIBED: readonly Cipher[] = [
  ["aes-192-cbc", "aes-192-cbc", 423, 16, 16, 24],
  ["aes-192-gcm", "aes-192-gcm", 898, 1, 12, 24],
];

type Cipher = readonly [string, string, number, number, number, number];

/** Each cipher's name, that in its description, its number, and in bytes its block, initialization vector and key. */
export const CIPHERS: readonly Cipher[] = [
  ["aes-128-cbc", "aes-128-cbc", 419, 16, 16, 16],
  ["aes-128-ctr", "aes-128-ctr", 904, 1, 16, 16],
  ["aes-128-ecb", "aes-128-ecb", 418, 16, 0, 16],
  ["aes-128-gcm", "aes-128-gcm", 895, 1, 12, 16],
  ["aes-192-ctr", "aes-192-ctr", 905, 1, 16, 24],
  ["aes-192-ecb", "aes-192-ecb", 422, 16, 0, 24],
  ["aes-256-cbc", "aes-256-cbc", 427, 16, 16, 32],
  ["aes-256-ctr", "aes-256-ctr", 906, 1, 16, 32],
  ["aes-256-ecb", "aes-256-ecb", 426, 16, 0, 32],
  ["aes-256-gcm", "aes-256-gcm", 901, 1, 12, 32],
  ["aes128", "aes-128-cbc", 419, 16, 16, 16],
  ["aes128-wrap", "aes128-wrap", 788, 8, 8, 16],
  ["aes192-wrap", "aes192-wrap", 789, 8, 8, 24],
  ["aes256", "aes-256-cbc", 427, 16, 16, 32],
  ["aes256-wrap", "aes256-wrap", 790, 8, 8, 32],
  ["chacha20", "chacha20", 1019, 1, 16, 32],
  ["chacha20-poly1305", "chacha20-poly1305", 1018, 1, 12, 32],
  ["des-ede3-cbc", "des-ede3-cbc", 44, 8, 8, 24],
  ["id-aes128-wrap-pad", "id-aes128-wrap-pad", 897, 8, 4, 16],
  ["id-aes192-wrap-pad", "id-aes192-wrap-pad", 900, 8, 4, 24],
  ["id-aes256-wrap-pad", "id-aes256-wrap-pad", 903, 8, 4, 32],
];
