import { beaconTermsOf } from "../../src/config/beaconSchema.ts";
import { QUICKNET } from "../../src/beacon/drand.ts";
import { ownDrandChain } from "../support/drandRelay.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeConfigSchema } from "../../src/config/configSchema.ts";
import { hideSecrets } from "../../src/config/hideSecrets.ts";
import { ConfigError, readConfig } from "../../src/config/readConfig.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-networks-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function read(networks: unknown) {
  const file = path.join(folder, "tyche.json");
  writeFileSync(file, JSON.stringify({ networks }));
  return readConfig({ dataDir: folder, environment: {}, file }).config;
}

function violationsOf(networks: unknown): Record<string, string> {
  try {
    read(networks);
  } catch (error) {
    if (error instanceof ConfigError)
      return Object.fromEntries(error.details.map(({ path: at, message }) => [at, message]));
    throw error;
  }
  throw new Error("nothing was thrown");
}

const SEPOLIA = {
  rpcUrls: ["ws://127.0.0.1:9545", "https://user:pass@rpc.example.org/v3/0123456789abcdef?key=secret"],
  contracts: "contracts/sepolia.json",
  operatorKey: { env: "TYCHE_SEPOLIA_KEY" },
  maxFeeGwei: "80",
};
const MYCHAIN = {
  chainId: 31_337,
  title: "My chain",
  rpcUrls: ["http://127.0.0.1:9547"],
  finalityDepth: 12,
  contracts: "/srv/mychain.json",
  operatorKey: { keystore: "key.json", passwordFile: "key.pass" },
};

test("embedded networks and networks with nodes of their own stand side by side", () => {
  const { networks } = read({ fuji: "embedded", sepolia: SEPOLIA, mychain: MYCHAIN });
  expect(networks["fuji"]).toBe("embedded");
  expect(networks["sepolia"]).toEqual({ ...SEPOLIA, contracts: path.join(folder, "contracts/sepolia.json") });
  expect(networks["mychain"]).toEqual({
    ...MYCHAIN,
    operatorKey: { keystore: path.join(folder, "key.json"), passwordFile: path.join(folder, "key.pass") },
  });
});

test("what is shown of a configuration holds of each URL scheme and host alone", () => {
  const remote = {
    remote: { url: "http://signer.example.org:9000/secret-path", address: `0x${"5a".repeat(20)}` },
  };
  const text = JSON.stringify(hideSecrets(read({ sepolia: { ...SEPOLIA, operatorKey: remote } })));
  expect(text).toContain("ws://127.0.0.1:9545");
  expect(text).toContain("https://rpc.example.org/…");
  expect(text).toContain("http://signer.example.org:9000/…");
  expect(text).not.toMatch(/pass|0123456789abcdef|secret/);
});

test("every violation of every network is named at once", () => {
  const found = violationsOf({
    polygon_amoy: "embedded",
    Sepolia: "embedded",
    fuji: { rpcUrls: ["ftp://x"], contracts: "x", vrf: "v3", maxFeeGwei: "1e9" },
    sepolia: { ...SEPOLIA, chainId: 1, operatorKey: { env: "A", keystore: "key.json" } },
    mychain: { ...MYCHAIN, chainId: undefined, operatorKey: { keystore: "key.json" }, rpcUrl: "http://x" },
    nothing: {},
    twofold: {
      ...MYCHAIN,
      coordinator: `0x${"5a".repeat(20)}`,
      presetConsumer: `0x${"5b".repeat(20)}`,
    },
  });
  expect(Object.keys(found).toSorted()).toEqual(
    [
      "/networks/Sepolia",
      "/networks/fuji/maxFeeGwei",
      "/networks/fuji/rpcUrls/0",
      "/networks/fuji/vrf",
      "/networks/mychain/chainId",
      "/networks/mychain/operatorKey/passwordFile",
      "/networks/mychain/rpcUrl",
      "/networks/nothing/chainId",
      "/networks/nothing/contracts",
      "/networks/nothing/rpcUrls",
      "/networks/polygon_amoy",
      "/networks/sepolia/chainId",
      "/networks/sepolia/operatorKey",
      "/networks/twofold/coordinator",
      "/networks/twofold/presetConsumer",
    ].toSorted(),
  );
  expect(found["/networks/fuji/rpcUrls/0"]).toContain("must be a ws:, wss:, http: or https: URL");
  expect(found["/networks/sepolia/chainId"]).toContain("must be 11155111, the chain id of sepolia; got 1");
  expect(found["/networks/sepolia/operatorKey"]).toContain("exactly one of env, keystore and remote");
  expect(found["/networks/mychain/chainId"]).toContain("is required");
});

test("the schema for editors asks for what a network with nodes of its own can't do without", () => {
  const validate = new Ajv2020({ strict: false }).compile(describeConfigSchema());
  expect(validate({ networks: { sepolia: SEPOLIA, fuji: "embedded" } })).toBe(true);
  expect(validate({ networks: { sepolia: { contracts: "x" } } })).toBe(false);
  expect(validate({})).toBe(true);
});

test("Chainlink's own oracle is taken where it is known, or named", () => {
  const vrf = { chainlink: true };
  const named = { ...vrf, coordinator: `0x${"5a".repeat(20)}`, keyHash: `0x${"7b".repeat(32)}` };
  const { networks } = read({ sepolia: { ...SEPOLIA, vrf }, mychain: { ...MYCHAIN, vrf: named } });
  expect([networks["sepolia"], networks["mychain"]]).toMatchObject([{ vrf }, { vrf: named }]);
  const missing = "is required, as Chainlink's VRF v2.5 is not known on this chain";
  expect(violationsOf({ mychain: { ...MYCHAIN, vrf } })).toEqual({
    "/networks/mychain/vrf/coordinator": missing,
    "/networks/mychain/vrf/keyHash": missing,
  });
});

test("what random words are paid with, and at which gas price, goes with VRF v2.5 alone", () => {
  const terms = { nativePayment: true, coinPerSubscription: "0.5" };
  const own = { ...MYCHAIN, vrf: "v2.5", ...terms, laneMaxGasGwei: "500" };
  const theirs = { ...SEPOLIA, vrf: { chainlink: true }, ...terms };
  const { networks } = read({ mychain: own, sepolia: theirs });
  expect([networks["mychain"], networks["sepolia"]]).toMatchObject([
    { ...terms, laneMaxGasGwei: "500" },
    terms,
  ]);
  expect(
    violationsOf({
      mychain: { ...MYCHAIN, nativePayment: true, laneMaxGasGwei: "500" },
      sepolia: { ...theirs, nativePayment: false, laneMaxGasGwei: "500" },
      fuji: { embedded: true, nativePayment: true },
    }),
  ).toEqual({
    "/networks/fuji/nativePayment": expect.stringContaining("needs VRF v2.5"),
    "/networks/mychain/nativePayment": expect.stringContaining("needs VRF v2.5"),
    "/networks/mychain/laneMaxGasGwei": expect.stringContaining("needs our own VRF v2.5 coordinator"),
    "/networks/sepolia/laneMaxGasGwei": expect.stringContaining("needs our own VRF v2.5 coordinator"),
    "/networks/sepolia/coinPerSubscription": 'needs "nativePayment": true',
  });
});

test("rounds of drand are quicknet's unless another chain is named, and relays are URLs", () => {
  const beacon = { relays: ["https://relay.example.org"], marginSeconds: 10, chain: ownDrandChain() };
  const { networks } = read({ mychain: { ...MYCHAIN, beacon }, fuji: { embedded: true, beacon } });
  expect([networks["mychain"], networks["fuji"]]).toMatchObject([{ beacon }, { beacon }]);
  expect(beaconTermsOf(undefined, 45)).toMatchObject({ chain: QUICKNET, marginSeconds: 45 });
  expect(beaconTermsOf({ relays: ["https://relay.example.org/drand//"] }, 45).relays).toEqual([
    "https://relay.example.org/drand",
  ]);
  const wrong = { relays: ["relay.example.org"], marginSeconds: 0, chain: { publicKey: "0x83" } };
  expect(Object.keys(violationsOf({ fuji: { embedded: true, beacon: wrong } }))).toEqual(
    expect.arrayContaining([
      "/networks/fuji/beacon/relays/0",
      "/networks/fuji/beacon/marginSeconds",
      "/networks/fuji/beacon/chain/publicKey",
    ]),
  );
});

test.each(["https://user:pass@oracle.example", "https://oracle.example/?key=1", "http://"])(
  "an oracleUrl that no request can be made to, or that shows a key: %s",
  (oracleUrl) => {
    expect(violationsOf({ mychain: { ...MYCHAIN, oracleUrl } })).toEqual({
      "/networks/mychain/oracleUrl":
        "must be an http: or https: URL without user, password, query and fragment",
    });
  },
);
