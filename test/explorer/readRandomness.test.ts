import { encodeAbiParameters, parseAbiParameters, type Hex } from "viem";
import { expect, test } from "vitest";
import type { AddressBook } from "../../src/chainlink/addressBook.ts";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import { readRandomness } from "../../src/explorer/readRandomness.ts";
import { toWord } from "../../src/lib/uint256.ts";
import { encodeFulfillment } from "../../src/oracle/vrf/fulfillment.ts";
import { createProvingKey, prove } from "../../src/vrf/proof.ts";
import { keyHash, requestIdOf } from "../../src/vrf/randomWords.ts";

test("a proof that the coordinator has taken isn't refused, although a callback has had it tried again", () => {
  const proof = prove(createProvingKey(new Uint8Array(32).fill(7)), { preSeed: 88n, seed: 88n });
  const requestId = toWord(requestIdOf(keyHash(proof.publicKey), proof.preSeed));
  const request = {
    requestId,
    preSeed: 88n,
    subscriptionId: 5n,
    confirmations: 3,
    callbackGasLimit: 250_000,
    numWords: 1,
    sender: "0x00000000000000000000000000000000000000aa",
    blockNumber: 9n,
    blockHash: toWord(1n),
  } as const;
  const logs = [
    [
      EVENT_TOPICS.RandomWordsFulfilled,
      encodeAbiParameters(parseAbiParameters("uint256, uint96, bool"), [5n, 6n, true]),
    ],
    [EVENT_TOPICS.RawErrorReturned, encodeAbiParameters(parseAbiParameters("bytes"), ["0xed3ba6a6"])],
  ].map(([topic, data]) => ({ topics: [topic as Hex, requestId], data: data as Hex }));
  const book = { party: (address: Hex) => ({ address }) } as AddressBook;
  const [read] = readRandomness(encodeFulfillment([{ request, proof }]), logs, book);
  expect(read).toMatchObject({ requestId, outcome: "fulfilled" });
});
