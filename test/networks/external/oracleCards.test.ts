import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deriveNodeKeys, deriveVrfKeys } from "../../../src/app/oracle/oracleRole.ts";
import { encodeNodeUrls, isNodeUrl, parseNodeUrls } from "../../../src/chainlink/offchainConfig.ts";
import { parseIdentity } from "../../../src/networks/external/oracleIdentity.ts";
import { isCardFile, readOracleCards, type OracleCard } from "../../../src/networks/external/oracleCards.ts";

const CHAIN = 31_337;
const NODES = [0, 1, 2, 3];
const masterKey = (index: number): Uint8Array => new Uint8Array(32).fill(1 + index);
const urlOf = (index: number): string => `https://node${index}.example`;
const nodeCard = (index: number, url = urlOf(index)): OracleCard =>
  deriveNodeKeys(masterKey(index), CHAIN).card(CHAIN, url);
const vrfCard = (index = 40): OracleCard => deriveVrfKeys(masterKey(index), CHAIN).card(CHAIN);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-cards-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function write(content: unknown): string {
  const file = path.join(folder, `${(files += 1)}.json`);
  writeFileSync(file, JSON.stringify(content));
  return file;
}
const fileOf = (card: unknown): string => write({ version: 1, cards: [card] });
const filesOf = (...cards: readonly unknown[]): string[] => cards.map((card) => fileOf(card));
const fourNodes = (): OracleCard[] => NODES.map((index) => nodeCard(index));

test("the cards of four nodes and a VRF operator are one oracle, in their order", () => {
  const cards = fourNodes().toReversed();
  const vrf = vrfCard();
  const { functions, ...rest } = readOracleCards(filesOf(...cards, vrf), CHAIN);
  expect(rest).toMatchObject({ chainId: CHAIN, vrf: { keyHash: (vrf as { keyHash: string }).keyHash } });
  const keys = [3, 2, 1, 0].map((index) => deriveNodeKeys(masterKey(index), CHAIN));
  expect(functions.signers).toEqual(keys.map(({ signer }) => signer.address));
  expect(functions.transmitters).toEqual(keys.map(({ transmitter }) => transmitter.address));
  expect(parseNodeUrls(functions.offchainConfig!, 4)).toEqual([3, 2, 1, 0].map(urlOf));
});

test("a file may hold cards of several chains, and the chain's own is read", () => {
  const others = [1, 2].map((chainId) => deriveNodeKeys(masterKey(0), chainId).card(chainId, urlOf(0)));
  const file = write({ version: 1, cards: [...others, nodeCard(0)] });
  const paths = [file, ...filesOf(...fourNodes().slice(1), vrfCard())];
  expect(readOracleCards(paths, CHAIN).functions.signers).toHaveLength(4);
  expect(() => readOracleCards(paths, 5)).toThrow(/has no card of chain 5; print it with --chain-id 5/);
});

test("a network that has its VRF operator needs no card of it, and takes no other's", () => {
  const network = readOracleCards(filesOf(...fourNodes(), vrfCard()), CHAIN);
  expect(readOracleCards(filesOf(...fourNodes()), CHAIN, network).vrf).toEqual(network.vrf);
  expect(() => readOracleCards(filesOf(...fourNodes(), vrfCard(41)), CHAIN, network)).toThrow(
    /only its nodes can change\. For other VRF keys, deploy a network of another name/,
  );
});

test("several VRF operators, the first of whom is the default", () => {
  const cards = [vrfCard(), vrfCard(41), vrfCard(42)];
  const found = readOracleCards(filesOf(...fourNodes(), ...cards), CHAIN);
  const keyHashes = cards.map((card) => (card as { keyHash: string }).keyHash);
  expect(found.vrf.keyHash).toBe(keyHashes[0]);
  expect(found.furtherVrf!.map(({ keyHash }) => keyHash)).toEqual(keyHashes.slice(1));
  expect(parseIdentity("identity", JSON.parse(JSON.stringify(found)))).toEqual(found);
  const changed = readOracleCards(filesOf(...fourNodes(), cards[2]), CHAIN, found);
  expect([changed.vrf, changed.furtherVrf]).toEqual([found.vrf, found.furtherVrf]);
});

test("cards are told from the identity of an oracle with all keys", () => {
  expect([isCardFile(fileOf(nodeCard(0))), isCardFile(write({ version: 1, oracles: [] }))]).toEqual([
    true,
    false,
  ]);
});

test.each<[string, () => readonly unknown[], RegExp]>([
  ["three nodes", () => [...fourNodes().slice(1), vrfCard()], /cards of 3 nodes; 4 to 31 are needed/],
  ["no VRF operator", fourNodes, /hold no VRF card; at least one is needed/],
  [
    "a VRF operator twice",
    () => [...fourNodes(), vrfCard(), vrfCard()],
    /hold 0x[0-9a-f]{64} more than once/,
  ],
  [
    "a node twice",
    () => [...fourNodes(), nodeCard(0, "https://other.example"), vrfCard()],
    /more than once; each operator needs keys of its own/,
  ],
  [
    "two nodes at one URL",
    () => [...fourNodes().slice(1), nodeCard(0, urlOf(1)), vrfCard()],
    /hold https:\/\/node1\.example\/ more than once/,
  ],
])("%s are refused", (_, cards, why) => {
  expect(() => readOracleCards(filesOf(...cards()), CHAIN)).toThrow(why);
});

test.each<[string, (card: OracleCard) => object, RegExp]>([
  ["another URL", (card) => ({ ...card, url: "https://thief.example" }), /not signed by its own keys/],
  [
    "another transmitter",
    (card) => ({ ...card, transmitter: deriveNodeKeys(masterKey(9), CHAIN).transmitter.address }),
    /not signed by its own keys/,
  ],
  [
    "one signature",
    ({ signatures, ...card }) => ({ ...card, signatures: signatures.slice(0, 1) }),
    /not signed by/,
  ],
  ["signatures of another form", (card) => ({ ...card, signatures: ["0x00", 7] }), /not signed by/],
  [
    "signatures in the other order",
    ({ signatures, ...card }) => ({ ...card, signatures: signatures.toReversed() }),
    /not signed by/,
  ],
  ["no signatures", (card) => ({ ...card, signatures: undefined }), /signatures must be an array/],
  ["another role", (card) => ({ ...card, role: "admin" }), /role must be node or vrf/],
  ["no URL", (card) => ({ ...card, url: "" }), /url must be a string/],
  [
    "a URL of another scheme",
    (card) => ({ ...card, url: "file:///etc" }),
    /url must be an http: or https: URL/,
  ],
])("a card with %s is refused", (_, change, why) => {
  const cards = [change(nodeCard(0)), ...fourNodes().slice(1), vrfCard()];
  expect(() => readOracleCards(filesOf(...cards), CHAIN)).toThrow(why);
});

test("a VRF card whose key hash is another key's is refused", () => {
  const changed = { ...vrfCard(), keyHash: `0x${"11".repeat(32)}` };
  expect(() => readOracleCards(filesOf(...fourNodes(), changed), CHAIN)).toThrow(/keyHash its hash/);
});

test.each([
  "ftp://a.example",
  "https://user:word@a.example",
  "https://a.example/?q",
  "https://a.example/#f",
  "https://a.example/\u001B[31m",
  "https://a.ex\nample",
  `https://a.example/${"a".repeat(256)}`,
  "a.example",
  7,
])("%j is no URL of a node, in a card and on chain", (url) => {
  expect(isNodeUrl(url)).toBe(false);
  expect(parseNodeUrls(encodeNodeUrls([url as string]), 1)).toBeUndefined();
});
