import { setTimeout as pause } from "node:timers/promises";
import type { NetworkConnection } from "hardhat/types/network";
import type { HardhatPlugin } from "hardhat/types/plugins";
import {
  createClient,
  TycheClientError,
  type ContractRequestView,
  type TycheClient,
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
/** Between two looks at what contracts requested. */
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
          const served = (await connect()?.networks()) ?? [];
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

function connect(): TycheClient | undefined {
  const { TYCHE_URL: baseUrl, TYCHE_API_KEY: apiKey } = process.env;
  return baseUrl ? createClient({ baseUrl, apiKey: apiKey ?? "" }) : undefined;
}

function createConnection({ networkName: network, provider }: NetworkConnection<string>): TycheConnection {
  const client = connect();
  if (client === undefined)
    throw new TycheClientError(
      "invalid_option",
      "set TYCHE_URL and TYCHE_API_KEY as tyche start prints them",
    );
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
  /** Returns what was requested in a transaction; `undefined` while its block has not been searched. */
  const find = async (
    kind: ContractRequestView["kind"],
    hash: string,
    block: bigint,
  ): Promise<ContractRequestView | undefined> => {
    let isSearched = false;
    for (let before: string | undefined; ;) {
      const { items, searched, older } = await client.contractRequests({ network, before });
      const found = items.find((one) => one.kind === kind && one.transactionHash === hash.toLowerCase());
      if (found !== undefined || searched === null) return found;
      isSearched ||= BigInt(searched.to) >= block;
      if (older !== null && BigInt(searched.from) >= block) before = older;
      else if (!isSearched) return undefined;
      else
        throw new TycheClientError(
          "not_found",
          `no linked contract requested ${kind === "random" ? "random words" : "a function"} in ${hash}`,
        );
    }
  };
  /** Returns a transaction's request once it is fulfilled. */
  const fulfilled = async (kind: ContractRequestView["kind"], hash: string): Promise<ContractRequestView> => {
    const block = await mined(hash);
    for (;;) {
      const request = await find(kind, hash, block);
      if (request?.state === "failed")
        throw new TycheClientError("request_failed", request.error ?? "the request failed");
      if (request?.state === "fulfilled") return request;
      await pause(LOOK_MS);
    }
  };
  return {
    client,
    link: async (consumer) => void (await client.addConsumer({ network, consumer })),
    words: async (hash) => ((await fulfilled("random", hash)).words ?? []).map(BigInt),
    functionResult: async (hash) => (await fulfilled("function", hash)).response ?? "0x",
  };
}
