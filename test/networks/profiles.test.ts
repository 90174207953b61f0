import { isAddress, isHash } from "viem";
import { describe, expect, test } from "vitest";
import {
  NETWORKS,
  NETWORK_NAMES,
  PROFILE_NAMES,
  findProfile,
  profileOf,
} from "../../src/networks/profiles.ts";
import { VRF25_NETWORKS } from "../../src/networks/vrf25.ts";

describe.each(NETWORK_NAMES)("%s", (name) => {
  const network = NETWORKS[name];

  test("the profile is the one of its name", () => {
    expect(network.name).toBe(name);
  });

  test("the address of LINK has its checksum, and the DON id fits 32 bytes", () => {
    expect(isAddress(network.link!, { strict: true })).toBe(true);
    expect(Buffer.byteLength(network.functions.donId)).toBeLessThanOrEqual(32);
  });
});

test("a network is final after as many blocks as its nodes may replace", () => {
  expect(NETWORK_NAMES.map((name) => NETWORKS[name].finalityDepth)).toEqual([500, 96, 10, 50]);
});

test("no two networks share a chain id", () => {
  expect(NETWORK_NAMES.map((name) => NETWORKS[name].chainId)).toEqual([80001, 11155111, 43113, 4002]);
});

test("a name, or a chain id under any name, finds what is known of a network", () => {
  expect(findProfile("base_sepolia")).toMatchObject({ chainId: 84_532, hasFinalizedTag: true });
  expect(findProfile("nowhere")).toBeUndefined();
  const own = profileOf({ name: "my_amoy", chainId: 80_002, finalityDepth: 9 });
  expect(own).toMatchObject({ name: "my_amoy", title: "Polygon Amoy", finalityDepth: 9 });
  expect(own.gas).toEqual({ minTipWei: 25_000_000_000n, replacementPercent: 20 });
  const unknown = profileOf({ name: "mychain", chainId: 31_337, title: "My chain" });
  expect(unknown).toMatchObject({ title: "My chain", finalityDepth: 96, vrf: { minConfirmations: 1 } });
  expect(unknown).not.toHaveProperty("link");
});

test("networks whose block hashes are not those of Ethereum headers are known, also by chain id", () => {
  const others = NETWORK_NAMES.filter((name) => !NETWORKS[name].hasEthereumBlocks);
  expect(others).toEqual(["fuji", "fantom_testnet"]);
  expect(profileOf({ name: "my_avalanche", chainId: 43_114 }).hasEthereumBlocks).toBe(false);
  expect(profileOf({ name: "mychain", chainId: 31_337 }).hasEthereumBlocks).toBe(true);
});

test("VRF v2.5 is known by chain id, for one address is two coordinators", () => {
  expect(new Set(PROFILE_NAMES).size).toBe(PROFILE_NAMES.length);
  const base = findProfile("base_sepolia")?.vrf25;
  const fuji = findProfile("fuji")?.vrf25;
  expect(base?.coordinator).toBe(fuji?.coordinator);
  expect(base?.keyHash).not.toBe(fuji?.keyHash);
  for (const { coordinator, link, keyHash } of Object.values(VRF25_NETWORKS)) {
    expect([coordinator, link].every((one) => isAddress(one, { strict: true }))).toBe(true);
    expect(isHash(keyHash)).toBe(true);
  }
});
