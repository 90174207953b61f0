import { createRequire } from "node:module";
import type * as Toolkit from "@chainlink/functions-toolkit";
import { encode } from "cborg";
import { vi } from "vitest";
import { compileSolidity } from "./solidity.ts";

/** functions-toolkit 0.3.2 as it is installed, with the version of ethers that it brings. */
const require = createRequire(import.meta.url);
export const toolkit = require("@chainlink/functions-toolkit") as typeof Toolkit;
export const { ethers } = createRequire(require.resolve("@chainlink/functions-toolkit"))("ethers") as {
  // eslint-disable-next-line typescript/no-explicit-any
  readonly ethers: any;
};

const CONSUMER = compileSolidity(
  "Consumer",
  `pragma solidity ^0.8.19;
   interface Router { function sendRequest(uint64 id, bytes calldata data, uint16 version, uint32 gasLimit, bytes32 donId) external returns (bytes32); }
   contract Consumer {
     Router immutable ROUTER;
     bytes32 public requestId;
     bytes public response;
     bytes public err;
     constructor(address router) { ROUTER = Router(router); }
     function send(uint64 id, bytes calldata data, bytes32 donId) external { requestId = ROUTER.sendRequest(id, data, 1, 300000, donId); response = ""; err = ""; }
     function handleOracleFulfillment(bytes32, bytes calldata r, bytes calldata e) external { (response, err) = (r, e); }
   }`,
);

/** A network as its users know it. */
export interface ToolkitNetwork {
  readonly rpcUrl: string;
  readonly donId: string;
  readonly contracts: Readonly<Record<"functionsRouter" | "subscriptionOwner" | "link", string>>;
}

export type ToolkitUser = Awaited<ReturnType<typeof createToolkitUser>>;

/**
 * Creates a user with coin, LINK, a funded subscription of their own, a contract on it, and a SecretsManager.
 *
 * @param fund gives an address coin and at least 5 LINK.
 */
export async function createToolkitUser(
  { rpcUrl, donId, contracts }: ToolkitNetwork,
  fund: (address: string) => Promise<unknown>,
) {
  const provider = new ethers.providers.StaticJsonRpcProvider(rpcUrl);
  provider.pollingInterval = 50;
  const signer = ethers.Wallet.createRandom().connect(provider);
  await fund(signer.address);
  const { functionsRouter: functionsRouterAddress, link: linkTokenAddress } = contracts;
  const subscriptions = new toolkit.SubscriptionManager({ signer, functionsRouterAddress, linkTokenAddress });
  await subscriptions.initialize();
  const factory = new ethers.ContractFactory(CONSUMER.abi, CONSUMER.bytecode, signer);
  const consumer = await (await factory.deploy(functionsRouterAddress)).deployed();
  const subscriptionId = await subscriptions.createSubscription({ consumerAddress: consumer.address });
  await subscriptions.fundSubscription({ subscriptionId, juelsAmount: String(5n * 10n ** 18n) });
  const secrets = new toolkit.SecretsManager({ signer, functionsRouterAddress, donId });
  await secrets.initialize();
  return { signer, consumer, subscriptionId, secrets };
}

/** As `buildDONHostedEncryptedSecretsReference` of the toolkit gives it under Node 20. */
export const referenceTo = (version: number, slotId = 0): string =>
  `0x${Buffer.from(encode({ slotId, version })).toString("hex")}`;

/** What a request of a user's contract says. */
export interface ToolkitRequest {
  readonly donId: string;
  readonly source: string;
  readonly args: readonly string[];
  readonly secretsLocation: 1 | 2;
  /** 0x and hex digits. */
  readonly reference: string;
}

/** Sends a request from the user's contract, and returns the text of its response or its error. */
export async function requestOf(
  { consumer, subscriptionId }: Pick<ToolkitUser, "consumer" | "subscriptionId">,
  { donId, source, args, secretsLocation, reference }: ToolkitRequest,
): Promise<string> {
  // The toolkit's own CBOR encoder gives one byte under Node 26; `functionsRequest.chain.test.ts` has what it gives under Node 20.
  const secrets = Buffer.from(reference.slice(2), "hex");
  const data = encode({ codeLocation: 0, codeLanguage: 0, source, args, secretsLocation, secrets });
  const place = ethers.utils.formatBytes32String(donId);
  await (await consumer.send(subscriptionId, data, place, { gasLimit: 2_000_000 })).wait();
  return await vi.waitUntil(
    async () => {
      const [response, err] = await Promise.all([consumer.response(), consumer.err()]);
      const bytes = response === "0x" ? err : response;
      return bytes === "0x" ? undefined : ethers.utils.toUtf8String(bytes);
    },
    { timeout: 60_000, interval: 50 },
  );
}
