import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { keccak256, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChainClient } from "../../../src/evm/client.ts";
import { fixedFees, suggestedFees, type Fees } from "../../../src/evm/fees.ts";
import { readContractsFile } from "../../../src/networks/external/contractsFile.ts";
import { deployNetwork, type DeploymentEnd } from "../../../src/networks/external/deployNetwork.ts";
import type { DeployedStep } from "../../../src/networks/external/deployNetwork.ts";
import type { OracleIdentity } from "../../../src/networks/external/oracleIdentity.ts";
import { RpcError } from "../../../src/lib/nodeAnswers.ts";
import { profileOf } from "../../../src/networks/profiles.ts";
import { identityOfOracle } from "../../../src/app/oracle/oracleKeys.ts";
import { deriveOracleKeys } from "../../../src/app/network/networkKeys.ts";
import { startTestChain, testAccount, type TestChain } from "../../support/anvil.ts";

const NETWORK = { network: "mychain", chainId: 31_337 };
const STEPS = 20;
let chain: TestChain;
let folder: string;
beforeAll(async () => {
  chain = await startTestChain();
  folder = mkdtempSync(path.join(tmpdir(), "tyche-deploy-"));
});
afterAll(async () => {
  await chain.close();
  rmSync(folder, { recursive: true, force: true });
});

const oracle: OracleIdentity = identityOfOracle(31_337, deriveOracleKeys(Buffer.alloc(32, 7), 31_337));

function deploy(
  name: string,
  options: {
    readonly account: number;
    readonly client?: ChainClient;
    readonly confirms?: boolean;
    readonly fees?: Fees;
    readonly onStep?: (step: DeployedStep) => void;
  },
): Promise<DeploymentEnd> {
  return deployNetwork({
    profile: profileOf({ name: NETWORK.network, chainId: NETWORK.chainId }),
    client: options.client ?? chain.client,
    operator: testAccount(options.account),
    fees: options.fees ?? fixedFees(chain.gasPriceWei, { synchronous: false }),
    oracle,
    file: path.join(folder, `${name}.json`),
    confirm: async () => options.confirms ?? true,
    onStep: options.onStep ?? (() => {}),
  });
}

/** Creates a node that fails for good after a number of transactions, as if the process had died. */
function goneAfter(transactions: number): ChainClient {
  let sent = 0;
  const guard = <T>(work: () => Promise<T>): Promise<T> =>
    sent > transactions ? Promise.reject(new Error("the process has died")) : work();
  return {
    ...chain.client,
    request(method, parameters) {
      if (method === "eth_sendRawTransaction") sent += 1;
      return guard(() => chain.client.request(method, parameters));
    },
    getReceipt: (hash) => guard(() => chain.client.getReceipt(hash)),
    getNonce: (account, block) => guard(() => chain.client.getNonce(account, block)),
    getHead: (block) => guard(() => chain.client.getHead(block)),
  };
}

test.each([0, 1, 9, 19])(
  "a deployment that dies after %i transactions goes on, and deploys nothing twice",
  async (transactions) => {
    const account = 1 + [0, 1, 9, 19].indexOf(transactions);
    const { address } = testAccount(account);
    const name = `dies-${transactions}`;
    await expect(deploy(name, { account, client: goneAfter(transactions) })).rejects.toThrow("died");
    const file = path.join(folder, `${name}.json`);
    expect({ file: existsSync(file), journal: existsSync(`${file}.journal`) }).toEqual({
      file: false,
      journal: true,
    });
    expect(await deploy(name, { account })).toBe("deployed");
    expect(await chain.client.getNonce(address, "latest")).toBe(STEPS);
    const { contracts, keyHash } = readContractsFile(file, NETWORK);
    for (const contract of Object.values(contracts))
      expect(await chain.client.getCode(contract)).not.toBe("0x");
    expect(keyHash).toBe(oracle.vrf.keyHash);
    expect(existsSync(`${file}.journal`)).toBe(false);
    expect(await deploy(name, { account })).toBe("present");
    expect(await chain.client.getNonce(address, "latest")).toBe(STEPS);
  },
);

test("what a node didn't take is sent again, though no block comes", async () => {
  let sent = 0;
  const client: ChainClient = {
    ...chain.client,
    async request(method, parameters) {
      if (method === "eth_sendRawTransaction" && ++sent === 1) throw new RpcError(method, "no answer");
      return await chain.client.request(method, parameters);
    },
  };
  expect(await deploy("unheard", { account: 6, client })).toBe("deployed");
});

test("what a node took and lost is replaced, though no block comes", async () => {
  let lost: unknown;
  const steps: DeployedStep[] = [];
  const client: ChainClient = {
    ...chain.client,
    async request(method, parameters) {
      if (method === "eth_sendRawTransaction" && (lost ??= parameters?.[0]) === parameters?.[0])
        return undefined;
      return await chain.client.request(method, parameters);
    },
  };
  const onStep = (step: DeployedStep) => void steps.push(step);
  const fees = suggestedFees({ repriceAfterMs: 1_000 });
  expect(await deploy("lost", { account: 8, client, fees, onStep })).toBe("deployed");
  expect(steps[0]!.hash).not.toBe(keccak256(lost as Hex));
});

test("whoever declines has sent nothing", async () => {
  expect(await deploy("declined", { account: 5, confirms: false })).toBe("declined");
  expect(await chain.client.getNonce(testAccount(5).address, "latest")).toBe(0);
  expect(existsSync(path.join(folder, "declined.json"))).toBe(false);
});

test("what block explorers want is beside the contracts file", () => {
  const contracts = JSON.parse(readFileSync(path.join(folder, "dies-0.sources", "contracts.json"), "utf8"));
  expect(contracts).toHaveLength(10);
  expect(contracts[4]).toMatchObject({ compiler: "v0.8.6+commit.11564f7e", input: "vrf.json" });
});

/** Reads a transaction's terms from the chain. */
async function readTransaction(hash: string): Promise<Readonly<Record<string, string>>> {
  return (await chain.client.request("eth_getTransactionByHash", [hash])) as Record<string, string>;
}

test.each([
  ["EIP-1559 where blocks have a base fee", "0x2", 7, () => chain.client],
  ["legacy transactions where they have none", "0x0", 8, withoutBaseFee],
] as const)("a deployment pays by %s", async (_, type, account, client) => {
  const steps: DeployedStep[] = [];
  const fees = suggestedFees({ repriceAfterMs: 1_000 });
  const options = { account, client: client(), fees, onStep: (step: DeployedStep) => steps.push(step) };
  expect(await deploy(`paid-${type}`, options)).toBe("deployed");
  const transactions = await Promise.all(steps.map(({ hash }) => readTransaction(hash)));
  expect(transactions.map((transaction) => transaction["type"])).toEqual(steps.map(() => type));
});

/** Creates a node of a chain without EIP-1559. */
function withoutBaseFee(): ChainClient {
  return {
    ...chain.client,
    async request(method, parameters) {
      if (method === "eth_feeHistory") throw new RpcError(method, "does not exist", { answered: true });
      return await chain.client.request(method, parameters);
    },
  };
}

test("gas above the operator's cap ends it before anything is signed", async () => {
  const fees = suggestedFees({ repriceAfterMs: 1_000, maxFeeWei: 1n });
  await expect(deploy("dear", { account: 6, fees, client: withoutBaseFee() })).rejects.toThrow(
    /at most 0\.000000001 gwei are paid; wait for the price to fall, or raise maxFeeGwei/,
  );
  expect(existsSync(path.join(folder, "dear.json.journal"))).toBe(false);
});

test("an account without coin is named, and the run goes on once it has some", async () => {
  const { address } = testAccount(9);
  await chain.client.request("anvil_setBalance", [address, "0x0"]);
  await expect(deploy("poor", { account: 9 })).rejects.toThrow(`${address} can't pay for it`);
  await chain.client.request("anvil_setBalance", [address, "0xde0b6b3a7640000"]);
  expect(await deploy("poor", { account: 9 })).toBe("deployed");
  expect(await chain.client.getNonce(address, "latest")).toBe(STEPS);
});

test("a transaction that blocks pass over is sent again with a higher price and tip", async () => {
  const { client } = chain;
  await client.request("evm_setAutomine", [false]);
  try {
    let end: DeploymentEnd | undefined;
    let first: DeployedStep | undefined;
    const deployment = deploy("passed-over", {
      account: 0,
      fees: suggestedFees({ repriceAfterMs: 1_000 }),
      onStep: (step) => void (first ??= step),
    }).then((ended) => (end = ended));
    const journal = path.join(folder, "passed-over.json.journal");
    await expect.poll(() => existsSync(journal), { timeout: 60_000 }).toBe(true);
    const [{ signed }] = JSON.parse(readFileSync(journal, "utf8")).steps;
    const mineOn = async (): Promise<DeploymentEnd | undefined> => {
      // The signed transactions pay too little for each of the next blocks, however slowly the deployment looks.
      await client.request("anvil_setNextBlockBaseFeePerGas", ["0x12a05f200"]);
      await client.request("anvil_mine", ["0x1"]);
      return end;
    };
    await expect.poll(mineOn, { timeout: 120_000, interval: 50 }).toBe("deployed");
    await deployment;
    expect(first!.hash).not.toBe(signed[0].hash);
    const repriced = await readTransaction(first!.hash);
    expect(repriced).toMatchObject({ type: "0x2", nonce: "0x0" });
  } finally {
    await client.request("evm_setAutomine", [true]);
  }
});

test("a node of another chain is refused, and both ids are named", async () => {
  const client: ChainClient = {
    ...chain.client,
    request: (method, parameters) =>
      method === "eth_chainId" ? Promise.resolve("0x1") : chain.client.request(method, parameters),
  };
  await expect(deploy("elsewhere", { account: 6, client })).rejects.toThrow(
    /chain 1, and mychain is chain 31337/,
  );
});
