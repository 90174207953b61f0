import type { ChainClient } from "../../src/evm/client.ts";
import { deployStack } from "../../src/chainlink/deploy.ts";
import type { StackPlan } from "../../src/chainlink/stackPlan.ts";
import { createProvingKey } from "../../src/vrf/proof.ts";
import { startTestChain, testAccount, type TestChainOptions } from "./anvil.ts";

/** The roles of the test stack: fixed accounts, all but the signers with coins to pay for gas. */
export const TEST_ROLES = {
  deployer: testAccount(0),
  operator: testAccount(1),
  vrfOracle: testAccount(2),
  transmitters: [3, 4, 5, 6].map(testAccount),
  signers: [10, 11, 12, 13].map(testAccount),
} as const;

/** The tests' VRF key. */
export const TEST_PROVING_KEY = createProvingKey(testAccount(14).secretKey);

/** Additional VRF keys, for stacks that ask for them. */
export const FURTHER_PROVING_KEYS = [15, 16, 17].map((i) => createProvingKey(testAccount(i).secretKey));

/** Starts a chain and deploys all contracts on it, with {@link TEST_ROLES}. */
export async function startTestStack({
  vrfVersion = "v2",
  nativePayment = false,
  laneMaxGasWei,
  supplyJuels,
  vrfKeys = 1,
  ...options
}: TestChainOptions &
  Pick<StackPlan, "vrfVersion" | "nativePayment" | "laneMaxGasWei" | "supplyJuels"> & {
    /** Number of proving keys registered with the coordinator, 1 to 4. Default 1. */
    readonly vrfKeys?: number;
  } = {}) {
  const chain = await startTestChain(options);
  const { deployer, operator, vrfOracle, signers, transmitters } = TEST_ROLES;
  const addresses = await deployStack({
    client: options.pinned === true ? oneByOne(chain.client) : chain.client,
    chainId: chain.chainId,
    deployer,
    gasPriceWei: chain.gasPriceWei,
    synchronous: true,
    donName: "fun-test-1",
    minConfirmations: 1,
    premiumLinkPpm: 250_000,
    vrfVersion,
    nativePayment,
    ...(laneMaxGasWei === undefined ? {} : { laneMaxGasWei }),
    ...(supplyJuels === undefined ? {} : { supplyJuels }),
    roles: {
      operator: operator.address,
      vrf: [TEST_PROVING_KEY, ...FURTHER_PROVING_KEYS].slice(0, vrfKeys).map(({ publicKey: { x, y } }) => ({
        oracle: vrfOracle.address,
        publicKey: [x, y],
      })),
      functions: {
        signers: signers.map(({ address }) => address),
        transmitters: transmitters.map(({ address }) => address),
        donPublicKey: "0x01",
        thresholdPublicKey: "0x02",
      },
    },
  });
  return { ...chain, addresses };
}

export type TestStack = Awaited<ReturnType<typeof startTestStack>>;

/** Sends transactions one by one, so that each gets a block of its own; sent together, they may or may not share blocks. */
function oneByOne(client: ChainClient): ChainClient {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...client,
    request(method, parameters) {
      if (method !== "eth_sendRawTransaction") return client.request(method, parameters);
      last = last.then(() => client.request("eth_sendRawTransactionSync", parameters));
      return last;
    },
  };
}
