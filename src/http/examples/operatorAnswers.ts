import type { Static } from "typebox";
import type { NetworkConfigVars } from "../../dapps/configVars.ts";
import { MAX_COUNTED } from "../../requests/read/activity.ts";
import type { Readiness } from "../../requests/read/views.ts";
import type {
  ActivityView,
  BalancesView,
  ConsumersView,
  DappView,
  KeyView,
  NewKeyView,
  PresetProblemView,
} from "../routes/operatorViews.ts";
import {
  DAPP_ID,
  FUNCTIONS_ROUTER,
  GAME_CONTRACT,
  KEY_HASH,
  LINK_TOKEN,
  LINK_TX,
  VRF_COORDINATOR,
  VRF_NODE,
} from "./values.ts";

/** A dapp. */
export const dappAnswer: DappView = {
  id: DAPP_ID,
  name: "My game",
  facilities: ["presets", "functions"],
  createdAt: "2026-11-24T23:38:00.560Z",
};

/** A key that has just been created. */
export const newKeyAnswer: NewKeyView = {
  id: "key_01m87yrsha06e6q02jw0dgzqsd",
  name: "production",
  ending: "srGA",
  createdAt: "2026-11-24T23:38:00.618Z",
  lastUsedAt: null,
  revokedAt: null,
  dailyLimit: 1000,
  apiKey: "tyche_2E9CMzxt7AjRRz346PnTyvSjpc8lPHapO3bsrGA",
};

/** A key in use. */
export const keyAnswer: KeyView = {
  id: "key_01m87yrsha06e6q02jw0dgzqsd",
  name: "production",
  ending: "srGA",
  createdAt: "2026-11-24T23:38:00.618Z",
  lastUsedAt: "2026-11-24T23:41:00.000Z",
  revokedAt: null,
  dailyLimit: 1000,
};

/** A key that was revoked. */
export const revokedKeyAnswer: KeyView = {
  ...keyAnswer,
  ending: null,
  revokedAt: "2026-11-24T23:52:10.643Z",
};

/** The values that a contract is deployed with. */
export const configVars: NetworkConfigVars = {
  network: "sepolia",
  title: "Ethereum Sepolia (local chain)",
  chainId: 11155111,
  rpcUrl: "http://127.0.0.1:8546",
  vrfSubscriptionId: "1",
  functionsSubscriptionId: "1",
  keyHash: KEY_HASH,
  donId: "fun-ethereum-sepolia-1",
  contracts: { vrfCoordinator: VRF_COORDINATOR, functionsRouter: FUNCTIONS_ROUTER, link: LINK_TOKEN },
  donIdBytes32: "0x66756e2d657468657265756d2d7365706f6c69612d3100000000000000000000",
  consumers: [GAME_CONTRACT],
};

/** Balances on one network. */
export const balanceList: { readonly items: readonly Static<typeof BalancesView>[] } = {
  items: [
    {
      network: "sepolia",
      vrfJuels: "9998861474800000000000",
      vrfWei: "0",
      functionsJuels: "9999875264000000000000",
    },
  ],
};

/** A linked contract. */
export const consumersAnswer: ConsumersView = {
  linked: [
    {
      network: "sepolia",
      address: GAME_CONTRACT,
      onChain: { vrf: true, functions: true },
      linkedAt: "2026-11-24T23:37:59.797Z",
      transactionHash: LINK_TX,
    },
  ],
};

const REQUESTS_BY_HOUR = [
  3, 0, 0, 1, 0, 0, 4, 12, 31, 27, 44, 38, 29, 41, 52, 47, 35, 28, 19, 22, 16, 9, 11, 8,
];

/** Requests of all dapps by hour. */
export const activityAnswer: Static<typeof ActivityView> = {
  hours: REQUESTS_BY_HOUR.map((requests, hour) => ({
    from: new Date(Date.UTC(2026, 10, 24, hour)).toISOString(),
    requests,
    failed: hour === 10 ? 1 : 0,
  })),
  maxCounted: MAX_COUNTED,
};

/** A service that is ready. */
export const readinessAnswer: Readiness = {
  ready: true,
  sandbox: { ready: true, layers: ["system-calls", "landlock", "user", "network", "permissions"] },
  networks: {
    sepolia: {
      ready: true,
      rpcReachable: true,
      rpcLatencyMs: 24.56,
      blockNumber: 41,
      headAgeMs: 1171,
      operatorBalanceWei: "999999997797161000000000",
      subscriptions: {
        count: 1,
        lowestVrfJuels: "9998861474800000000000",
        lowestFunctionsJuels: "9999875264000000000000",
        reserveJuels: "99980000000000000000000000",
      },
      pendingRequests: 0,
      queuedRequests: 0,
      damagedRequests: 0,
      oracleLagMs: 0,
      oracle: {
        caughtUp: true,
        blockNumber: 41,
        pendingWords: 0,
        pendingFunctions: 0,
        lowestAccounts: {
          vrf: { address: VRF_NODE, balanceWei: "999999999483825000000000" },
          transmitter: {
            address: "0x33f5ba85547EF6360ed2C26ECae305142Ac5b301",
            balanceWei: "999999999818471000000000",
          },
        },
      },
      warnings: [],
    },
  },
};

/** A preset that isn't served. */
export const presetProblemList: { readonly items: readonly Static<typeof PresetProblemView>[] } = {
  items: [
    {
      preset: "dice",
      file: "preset.json",
      line: 2,
      column: 11,
      reason: 'must be the folder\'s name, "dice", not "Dice"',
    },
  ],
};
