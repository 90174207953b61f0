import { encodeAbiParameters, encodePacked, keccak256, parseAbiParameters, toHex } from "viem";
import { expect, test } from "vitest";
import { createProvingKey } from "../../src/vrf/proof.ts";
import { keyHash, outputOf, randomWords, requestIdOf, seedOf } from "../../src/vrf/randomWords.ts";

const { publicKey } = createProvingKey(new Uint8Array(32).fill(7));
const blockHash = toHex(123n, { size: 32 });

test("word i is keccak256(abi.encode(output, i))", () => {
  const expected = [0n, 1n, 2n].map((index) =>
    BigInt(keccak256(encodeAbiParameters(parseAbiParameters("uint256, uint256"), [77n, index]))),
  );
  expect(randomWords(77n, 3)).toEqual(expected);
});

test("returns no words if none are asked for", () => {
  expect(randomWords(77n, 0)).toEqual([]);
});

test("the key hash is keccak256(abi.encode(pk))", () => {
  const { x, y } = publicKey;
  expect(keyHash(publicKey)).toBe(keccak256(encodeAbiParameters(parseAbiParameters("uint256[2]"), [[x, y]])));
});

test("the seed is keccak256(abi.encodePacked(preSeed, blockHash))", () => {
  const expected = keccak256(encodePacked(["uint256", "bytes32"], [5n, blockHash]));
  expect(seedOf(5n, blockHash)).toBe(BigInt(expected));
});

test("the request id is keccak256(abi.encode(keyHash, preSeed))", () => {
  const hash = keyHash(publicKey);
  const expected = keccak256(encodeAbiParameters(parseAbiParameters("bytes32, uint256"), [hash, 5n]));
  expect(requestIdOf(hash, 5n)).toBe(BigInt(expected));
});

test("the output is keccak256(abi.encode(3, gamma))", () => {
  const { x, y } = publicKey;
  const expected = keccak256(encodeAbiParameters(parseAbiParameters("uint256, uint256[2]"), [3n, [x, y]]));
  expect(outputOf(publicKey)).toBe(BigInt(expected));
});
