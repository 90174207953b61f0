import { setTimeout as pause } from "node:timers/promises";
import type { NetworkConnection } from "hardhat/types/network";
import type { HardhatPlugin } from "hardhat/types/plugins";
import { awaitContractRequest } from "../client/awaitContractRequest.ts";
import {
  createClient,
  createExplorer,
  TycheClientError,
  type ContractRequestView,
  type TycheClient,
  type TycheExplorer,
} from "../client/index.ts";

/** What a connection to one of the service's networks has as `tyche`. */
export interface TycheConnection {
  /** The API, with the key in `TYCHE_API_KEY`. */
  readonly client: TycheClient;
  /** Links a contract to the dapp's subscriptions: its requests are answered and paid for from then on. */
  link(address: string): Promise<void>;
  /** Resolves with the random words that a contract requested in a transaction, once its callback has had them. */
  words(transactionHash: string): Promise<readonly bigint[]>;
  /** Resolves with the bytes (hex) that a contract's function returned; throws with its error. */
  functionResult(transactionHash: string): Promise<`0x${string}`>;
}

declare module "hardhat/types/network" {
  // eslint-disable-next-line typescript/no-unused-vars, typescript/no-redundant-type-constituents -- declarations that merge have the same parameters
  interface NetworkConnection<ChainTypeT extends ChainType | string = DefaultChainType> {
    /** Throws without `TYCHE_URL`; its calls are refused where the service doesn't serve the network. */
    readonly tyche: TycheConnection;
  }
}

/** The mnemonic whose accounts have coin on every embedded chain. */
const MNEMONIC = "test test test test test test test test test test test junk";
/** Between two looks for a receipt. */
const LOOK_MS = 100;

/**
 * Plugin for Hardhat 3. Adds the networks of the service at `TYCHE_URL` to the configuration, with accounts that have coin, and `tyche` to
 * connections to them. Without `TYCHE_URL` it does nothing.
 */
export const tyche: HardhatPlugin = {
  id: "tyche",
  npmPackage: "tyche",
  hookHandlers: {
    config: async () => ({
      default: async () => ({
        async extendUserConfig(config, next) {
          const served = (await connect()?.client.networks()) ?? [];
          const networks = served.flatMap(({ name, chainId, rpcUrl }) =>
            rpcUrl === undefined
              ? []
              : [[name, { type: "http", chainId, url: rpcUrl, accounts: { mnemonic: MNEMONIC } }] as const],
          );
          return next({ ...config, networks: { ...Object.fromEntries(networks), ...config.networks } });
        },
      }),
    }),
    network: async () => ({
      default: async () => ({
        async newConnection(context, next) {
          const connection = await next(context);
          return Object.defineProperty(connection, "tyche", { get: () => createConnection(connection) });
        },
      }),
    }),
  },
};

function connect(): { readonly client: TycheClient; readonly explorer: TycheExplorer } | undefined {
  const { TYCHE_URL: baseUrl, TYCHE_API_KEY: apiKey = "" } = process.env;
  if (!baseUrl) return undefined;
  return { client: createClient({ baseUrl, apiKey }), explorer: createExplorer({ baseUrl, apiKey }) };
}

function createConnection({ networkName: network, provider }: NetworkConnection<string>): TycheConnection {
  const connected = connect();
  if (connected === undefined)
    throw new TycheClientError(
      "invalid_option",
      "set TYCHE_URL and TYCHE_API_KEY as tyche start prints them",
    );
  const { client, explorer } = connected;
  /** Returns the block that a transaction is in, once it is mined. */
  const mined = async (hash: string): Promise<bigint> => {
    for (;;) {
      const found = await provider.request({ method: "eth_getTransactionReceipt", params: [hash] });
      const receipt = found as { readonly status: string; readonly blockNumber: string } | null;
      if (receipt?.status === "0x0") throw new TycheClientError("request_failed", `${hash} reverted`);
      if (receipt !== null) return BigInt(receipt.blockNumber);
      await pause(LOOK_MS);
    }
  };
  /** Returns a transaction's request once it is fulfilled. */
  const fulfilled = async (kind: ContractRequestView["kind"], transactionHash: string) =>
    awaitContractRequest(client, explorer, {
      network,
      transactionHash,
      kind,
      block: await mined(transactionHash),
    });
  return {
    client,
    link: async (consumer) => void (await client.addConsumer({ network, consumer })),
    words: async (hash) => ((await fulfilled("random", hash)).words ?? []).map(BigInt),
    functionResult: async (hash) => (await fulfilled("function", hash)).response ?? "0x",
  };
}
