import { pbkdf2Sync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAnvil } from "@viem/anvil";
import { createTestClient, http, publicActions, walletActions, type Hex } from "viem";
import { HDKey } from "viem/accounts";
import { type Account, createAccount } from "../../src/evm/account.ts";
import { createChainClient } from "../../src/evm/client.ts";
import { parseReceipt, type Receipt } from "../../src/lib/nodeAnswers.ts";
import {
  EMBEDDED_BLOCK_GAS_LIMIT,
  EMBEDDED_GAS_PRICE_WEI,
  findBinary,
} from "../../src/networks/embedded/process/anvil.ts";

/** Anvil's own mnemonic: its first ten accounts hold 10,000 coins each. */
const MNEMONIC = "test test test test test test test test test test test junk";
/** Past states that Anvil keeps. Of all of them it writes a file each, of up to 2 MB, and leaves them in the home folder for good. */
export const TEST_KEPT_STATES = 512;
/** Start time of a pinned chain, whose block hashes are the same in every run. */
const PINNED_TIMESTAMP = 1_700_000_000;
/** Time limit for Anvil's start, its end and its answers, as a busy machine may be slow; the defaults are ten seconds. */
const PATIENCE_MS = 60_000;

export interface TestChainOptions {
  /** Default 31337. */
  readonly chainId?: number;
  /**
   * Whether the same transactions give the same block hashes in every run: the chain's clock starts in 2023 and
   * advances one second a block. Default false: real time.
   */
  readonly pinned?: boolean;
  /** Unix time in seconds at which the chain's clock starts, and then runs on. Default: the real time. */
  readonly startsAt?: number;
}

/**
 * Starts a fresh chain on a real Anvil, on a free port, with the settings of the embedded chains; close it after use.
 */
export async function startTestChain({ chainId = 31337, pinned = false, startsAt }: TestChainOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "tyche-test-"));
  const ipcPath = join(folder, "ipc");
  const anvil = createAnvil({
    anvilBinary: findBinary(),
    port: 0,
    chainId,
    gasLimit: EMBEDDED_BLOCK_GAS_LIMIT,
    blockBaseFeePerGas: 0,
    gasPrice: EMBEDDED_GAS_PRICE_WEI,
    order: "fifo",
    pruneHistory: TEST_KEPT_STATES,
    ipc: ipcPath,
    startTimeout: PATIENCE_MS,
    stopTimeout: PATIENCE_MS,
    ...(pinned ? { timestamp: PINNED_TIMESTAMP } : {}),
    ...(startsAt === undefined ? {} : { timestamp: startsAt }),
  });
  await anvil.start();
  const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(anvil.logs.join("\n"))?.[1];
  const rpcUrl = `http://127.0.0.1:${port}`;
  const client = createChainClient(ipcPath, { timeoutMs: PATIENCE_MS });
  if (pinned) await client.request("anvil_setBlockTimestampInterval", [1]);
  const viem = createTestClient({
    mode: "anvil",
    transport: http(rpcUrl, { timeout: PATIENCE_MS }),
    chain: {
      id: chainId,
      name: "test",
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [rpcUrl] } },
    },
    pollingInterval: 10,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);

  /** Mines one transaction and returns its receipt, whether it succeeded or not. */
  const send = async (account: Account, call: TestCall): Promise<Receipt> => {
    const { raw } = await account.sign({
      type: "legacy",
      chainId,
      nonce: await client.getNonce(account.address, "latest"),
      gasPrice: call.gasPriceWei ?? EMBEDDED_GAS_PRICE_WEI,
      gas: call.gas ?? 15_000_000n,
      data: call.data,
      value: call.valueWei ?? 0n,
      ...(call.to === undefined ? {} : { to: call.to }),
    });
    return parseReceipt(await client.request("eth_sendRawTransactionSync", [raw]));
  };

  return {
    chainId,
    rpcUrl,
    gasPriceWei: EMBEDDED_GAS_PRICE_WEI,
    client,
    viem,
    send,
    async close(): Promise<void> {
      await client.close();
      await anvil.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type TestChain = Awaited<ReturnType<typeof startTestChain>>;

/** A transaction to send; without `to` it deploys a contract. */
export interface TestCall {
  readonly to?: Hex;
  readonly data: Hex;
  /** Default 15 million. */
  readonly gas?: bigint;
  /** Default 0. */
  readonly valueWei?: bigint;
  /** Default: the chain's gas price, which is constant. */
  readonly gasPriceWei?: bigint;
}

/** The mnemonic's key, from its BIP-39 seed: derived once, as it takes 2,048 rounds. */
const mnemonicKey = HDKey.fromMasterSeed(pbkdf2Sync(MNEMONIC, "mnemonic", 2_048, 64, "sha512"));

type TestAccount = Account & { readonly secretKey: Uint8Array };
const accounts: TestAccount[] = [];

/** Returns an account of Anvil's mnemonic; the first ten hold coins. */
export function testAccount(index: number): TestAccount {
  return (accounts[index] ??= deriveAccount(index));
}

function deriveAccount(index: number): TestAccount {
  const secretKey = mnemonicKey.derive(`m/44'/60'/0'/0/${index}`).privateKey;
  if (secretKey === null) throw new Error("the mnemonic gives no key");
  return { ...createAccount(secretKey), secretKey };
}
