import { isObject } from "../../lib/isObject.ts";
import { isEmbedded } from "./embeddedNetworkSchema.ts";
import { NETWORK_NAMES, PROFILE_NAMES, findProfile } from "../../networks/profiles.ts";
import { VRF25_NETWORKS } from "../../networks/vrf25.ts";
import type { ParameterViolation } from "../../lib/invalidParameter.ts";
import { pointerTo } from "../../lib/parseJson.ts";

/** Checks the rules for networks that the schema can't express: what names imply, and which members go together. */
export function checkNetworks(networks: unknown): ParameterViolation[] {
  if (!isObject(networks)) return [];
  return Object.entries(networks).flatMap(([name, network]) => {
    const path = pointerTo(name, "/networks");
    if (isEmbedded(network))
      return [
        ...checkEmbedded(name, path),
        ...(isObject(network) ? [...checkPayment(network, path), ...checkVrfKeys(network, path)] : []),
      ];
    return isObject(network)
      ? [
          ...checkChainId(name, network, path),
          ...checkContracts(network, path),
          ...checkChainlink(name, network, path),
          ...checkPayment(network, path),
          ...checkKey(network["operatorKey"], `${path}/operatorKey`),
        ]
      : [];
  });
}

function checkEmbedded(name: string, path: string): ParameterViolation[] {
  if ((NETWORK_NAMES as readonly string[]).includes(name)) return [];
  const message = `can't be embedded: only ${NETWORK_NAMES.join(", ")} can; any other needs rpcUrls`;
  return [{ path, message }];
}

function checkChainId(name: string, { chainId }: Members, path: string): ParameterViolation[] {
  const profile = findProfile(name);
  if (profile === undefined && chainId === undefined) {
    const message = `is required, as ${name} is not a network known by name: ${PROFILE_NAMES.join(", ")}`;
    return [{ path: `${path}/chainId`, message }];
  }
  if (profile === undefined || chainId === undefined || chainId === profile.chainId) return [];
  const message = `must be ${profile.chainId}, the chain id of ${name}; got ${JSON.stringify(chainId)}; give another chain another name`;
  return [{ path: `${path}/chainId`, message }];
}

function checkContracts(network: Members, path: string): ParameterViolation[] {
  const { contracts, coordinator } = network;
  if (contracts === undefined && coordinator === undefined)
    return [{ path: `${path}/contracts`, message: "is required; an oracle node may name its coordinator" }];
  if (contracts === undefined) return [];
  return ["coordinator", "presetConsumer"]
    .filter((member) => network[member] !== undefined)
    .map((member) => ({
      path: `${path}/${member}`,
      message: "is for an oracle node that has no contracts file",
    }));
}

/** Chainlink's coordinator is only known for some chains. */
function checkChainlink(name: string, { chainId, vrf }: Members, path: string): ParameterViolation[] {
  if (!isObject(vrf) || VRF25_NETWORKS[Number(chainId ?? findProfile(name)?.chainId)] !== undefined)
    return [];
  return ["coordinator", "keyHash"]
    .filter((member) => vrf[member] === undefined)
    .map((member) => ({
      path: `${path}/vrf/${member}`,
      message: "is required, as Chainlink's VRF v2.5 is not known on this chain",
    }));
}

/** Finds members that have a meaning only alongside others. */
function checkPayment(network: Members, path: string): ParameterViolation[] {
  const { vrf, nativePayment } = network;
  const isOwnV2Plus = vrf === "v2.5";
  const needs: readonly (readonly [string, boolean, string])[] = [
    ["nativePayment", isOwnV2Plus || isObject(vrf), 'VRF v2.5: "vrf": "v2.5", or Chainlink\'s oracle'],
    ["coinPerSubscription", nativePayment === true, '"nativePayment": true'],
    ["coinPerDay", nativePayment === true, '"nativePayment": true'],
    ["laneMaxGasGwei", isOwnV2Plus, 'our own VRF v2.5 coordinator: "vrf": "v2.5"'],
  ];
  return needs
    .filter(([member, isMet]) => network[member] !== undefined && !isMet)
    .map(([member, , what]) => ({ path: `${path}/${member}`, message: `needs ${what}` }));
}

/** Presets can't join words of more keys than the network has. */
function checkVrfKeys({ vrfKeys = 1, presetVrfKeys = 1 }: Members, path: string): ParameterViolation[] {
  if (!(Number(presetVrfKeys) > Number(vrfKeys))) return [];
  const message = `must be at most vrfKeys, ${Number(vrfKeys)}; got ${Number(presetVrfKeys)}`;
  return [{ path: `${path}/presetVrfKeys`, message }];
}

function checkKey(key: unknown, path: string): ParameterViolation[] {
  if (!isObject(key)) return [];
  const given = ["env", "keystore", "remote"].filter((way) => key[way] !== undefined);
  if (given.length !== 1) {
    const found = given.length === 0 ? "none of them" : given.join(" and ");
    return [{ path, message: `must have exactly one of env, keystore and remote; got ${found}` }];
  }
  const needsPassword = key["keystore"] !== undefined;
  if (needsPassword && key["passwordFile"] === undefined)
    return [{ path: `${path}/passwordFile`, message: "is required with keystore" }];
  if (!needsPassword && key["passwordFile"] !== undefined)
    return [{ path: `${path}/passwordFile`, message: "is only for keystore" }];
  return [];
}

type Members = Readonly<Record<string, unknown>>;
