/** Which functions of Deno's `node:crypto` differ from ours in their properties, as `shape` reads them. */
export const SHAPES: Readonly<Record<string, string>> = {
  "": "checkPrime/1+ checkPrimeSync/1+ Cipheriv/4+ Decipheriv/4+ createCipheriv/4+ createDecipheriv/4+ createDiffieHellman/4+ createDiffieHellmanGroup/1+ createECDH/1+ DiffieHellman/4+ DiffieHellmanGroup/1+ ECDH/1+ createHash/2+ createHmac/3+ createPrivateKey/1+ createPublicKey/1+ createSecretKey/2+ createSign/2+ createVerify/2+ diffieHellman/2+ getRandomValues/1+ generateKey/3+ generateKeyPair/3+ generateKeyPairSync/2+ generateKeySync/2+ generatePrime/1+ generatePrimeSync/1+ getCipherInfo/2+ getCiphers/0+ getCurves/0+ getDiffieHellman/1+=createDiffieHellmanGroup getFips/0+=getFipsCrypto getHashes/0+ hash/2+ Hash/2+=deprecated hkdf/6+ hkdfSync/5+ Hmac/3+=deprecated pbkdf2/6+ pbkdf2Sync/5+ privateDecrypt/2+ privateEncrypt/2+ publicDecrypt/2+ publicEncrypt/2+ randomBytes/2+ randomFill/4+ randomFillSync/1+ randomInt/3+ randomUUID/1+ scrypt/5+ scryptSync/4+ secureHeapUsed/0+ setEngine/2+ setFips/1+=setFipsCrypto Sign/2+ sign/4+=signOneShot Verify/2+ verify/5+=verifyOneShot X509Certificate/1+",
  "DiffieHellman.prototype": "constructor/4=DiffieHellmanImpl",
  "ECDH.prototype": "constructor/1=ECDHImpl generateKeys/1 getPublicKey/1 setPublicKey/2+=deprecated",
  "Cipheriv.prototype": "final/0+!= getAuthTag/0+!= setAAD/2+!= setAutoPadding/1+!= update/2+!=",
  "Decipheriv.prototype": "final/0+!= setAAD/2+!= setAuthTag/2+!= setAutoPadding/1+!= update/2+!=",
  "Certificate.prototype": "verifySpkac/2+! exportPublicKey/2+! exportChallenge/2+!",
  "Sign.prototype": "constructor/2=SignImpl",
  "Verify.prototype": "constructor/2=VerifyImpl",
  "Hmac.prototype": "constructor/3=HmacImpl",
  "Hash.prototype": "constructor/2=Hash copy/1+! _transform/3+! _flush/1+! update/2+! digest/1+!",
};

/** The order of its names. */
export const ORDER =
  "Certificate checkPrime checkPrimeSync Cipheriv constants createCipheriv createDecipheriv createDiffieHellman createDiffieHellmanGroup createECDH createHash createHmac createPrivateKey createPublicKey createSecretKey createSign createVerify Decipheriv DiffieHellman diffieHellman DiffieHellmanGroup ECDH getRandomValues generateKey generateKeyPair generateKeyPairSync generateKeySync generatePrime generatePrimeSync getCipherInfo getCiphers getCurves getDiffieHellman getFips getHashes hash Hash hkdf hkdfSync Hmac KeyObject pbkdf2 pbkdf2Sync privateDecrypt privateEncrypt publicDecrypt publicEncrypt randomBytes randomFill randomFillSync randomInt randomUUID scrypt scryptSync secureHeapUsed setEngine setFips Sign sign timingSafeEqual Verify verify webcrypto subtle X509Certificate";
