import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChainClient } from "../../../src/evm/client.ts";
import { fixedFees } from "../../../src/evm/fees.ts";
import { readContractsFile } from "../../../src/networks/external/contractsFile.ts";
import { deployNetwork, type DeploymentEnd } from "../../../src/networks/external/deployNetwork.ts";
import type { OracleIdentity } from "../../../src/networks/external/oracleIdentity.ts";
import { profileOf } from "../../../src/networks/profiles.ts";
import { identityOfOracle } from "../../../src/app/oracleKeys.ts";
import { deriveOracleKeys } from "../../../src/app/networkKeys.ts";
import { startTestChain, testAccount, type TestChain } from "../../support/anvil.ts";

const NETWORK = { network: "mychain", chainId: 31_337 };
const STEPS = 19;
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
  options: { readonly account: number; readonly client?: ChainClient; readonly confirms?: boolean },
): Promise<DeploymentEnd> {
  return deployNetwork({
    profile: profileOf({ name: NETWORK.network, chainId: NETWORK.chainId }),
    client: options.client ?? chain.client,
    operator: testAccount(options.account),
    fees: fixedFees(chain.gasPriceWei, { synchronous: false }),
    oracle,
    file: path.join(folder, `${name}.json`),
    confirm: async () => options.confirms ?? true,
    onStep: () => {},
  });
}

/** A node that is gone for good after so many transactions: what comes after is as if the process had died. */
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

test.each([0, 1, 9, 18])(
  "behaviour: a deployment that dies after %i transactions goes on, and deploys nothing twice",
  async (transactions) => {
    const account = 1 + [0, 1, 9, 18].indexOf(transactions);
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

test("behaviour: whoever declines has sent nothing", async () => {
  expect(await deploy("declined", { account: 5, confirms: false })).toBe("declined");
  expect(await chain.client.getNonce(testAccount(5).address, "latest")).toBe(0);
  expect(existsSync(path.join(folder, "declined.json"))).toBe(false);
});

test("behaviour: what block explorers want is beside the contracts file", () => {
  const contracts = JSON.parse(readFileSync(path.join(folder, "dies-0.sources", "contracts.json"), "utf8"));
  expect(contracts).toHaveLength(10);
  expect(contracts[4]).toMatchObject({ compiler: "v0.8.6+commit.11564f7e", input: "vrf.json" });
});

test("error: a node of another chain is refused, and both ids are named", async () => {
  const client: ChainClient = {
    ...chain.client,
    request: (method, parameters) =>
      method === "eth_chainId" ? Promise.resolve("0x1") : chain.client.request(method, parameters),
  };
  await expect(deploy("elsewhere", { account: 6, client })).rejects.toThrow(
    /chain 1, and mychain is chain 31337/,
  );
});
