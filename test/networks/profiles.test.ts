import { isAddress, isHash } from "viem";
import { describe, expect, test } from "vitest";
import { NETWORKS, NETWORK_NAMES, finalityDepthOf, minConfirmationsOf } from "../../src/networks/profiles.ts";

describe.each(NETWORK_NAMES)("%s", (name) => {
  const network = NETWORKS[name];

  test("default: the profile is the one of its name", () => {
    expect(network.name).toBe(name);
  });

  test("behaviour: every address has its checksum, every hash its length", () => {
    const addresses = [network.link, network.vrf.coordinator, network.functions.router].filter(
      (address) => address !== undefined,
    );
    expect(addresses.filter((address) => !isAddress(address, { strict: true }))).toEqual([]);
    expect(isHash(network.vrf.keyHash)).toBe(true);
    expect(Buffer.byteLength(network.functions.donId)).toBeLessThanOrEqual(32);
  });

  test("behaviour: an embedded chain takes one confirmation, the public one its own minimum", () => {
    expect(minConfirmationsOf(network, "embedded")).toBe(1);
    expect(minConfirmationsOf(network, "public")).toBe(network.vrf.minConfirmations);
  });
});

test("behaviour: a network is final after as many blocks as its nodes may replace", () => {
  const depths = NETWORK_NAMES.map((name) => finalityDepthOf(NETWORKS[name], "public"));
  expect(depths).toEqual([500, 96, 10, 50]);
  expect(finalityDepthOf(NETWORKS.sepolia, "embedded")).toBe(2_048);
});

test("behaviour: no two networks share a chain id", () => {
  expect(NETWORK_NAMES.map((name) => NETWORKS[name].chainId)).toEqual([80001, 11155111, 43113, 4002]);
});
