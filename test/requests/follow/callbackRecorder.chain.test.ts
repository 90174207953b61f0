import type { Hex } from "viem";
import { describe, expect, test, vi } from "vitest";
import type { StackAddresses } from "../../../src/chainlink/stackPlan.ts";
import type { ChainClient } from "../../../src/evm/client.ts";
import { createCallbackRecorder } from "../../../src/requests/follow/callbackRecorder.ts";
import { findCallbackFailures, saveCallbackFailures } from "../../../src/store/failedCallbacks.ts";
import type { Store } from "../../../src/store/store.ts";
import { DATABASES, useStore } from "../../support/databases.ts";
import { FAILED_REPORT_SUBSCRIPTION, failedReport } from "../../support/failedReport.ts";

const router: Hex = `0x${"1a".repeat(20)}`;
const consumer: Hex = `0x${"2b".repeat(20)}`;
const contracts = { functionsRouter: router, vrfCoordinator: consumer } as StackAddresses;
const { log, input } = failedReport({ router, consumer, response: "0x01" });
const requestId = log.topics[1]!;

describe.each(DATABASES)("on %s", (_name, create) => {
  let store: Store;
  useStore(create, (opened) => {
    store = opened;
  });

  /** Creates a recorder whose node has the transaction and says `text` of the callback's call. */
  const record = (network: string, text: string, subscriptionId: bigint) => {
    const asked: string[] = [];
    const request = async (method: string, parameters: readonly unknown[] = []) => {
      asked.push(method);
      if (method === "eth_getTransactionByHash") return { input };
      if (method !== "eth_call") throw new Error("no traces");
      expect(parameters[0]).toMatchObject({ from: router, to: consumer });
      const revert = `0x08c379a0${"20".padStart(64, "0")}${text.length.toString(16).padStart(64, "0")}`;
      throw Object.assign(new Error("reverted"), {
        data: `${revert}${Buffer.from(text).toString("hex").padEnd(64, "0")}`,
      });
    };
    const stopping = new AbortController();
    const recorder = createCallbackRecorder({
      network,
      store,
      client: { request } as unknown as ChainClient,
      contracts,
      listSubscriptions: () => [
        { dappId: "a", network, vrfSubscriptionId: 9n, functionsSubscriptionId: subscriptionId },
      ],
      signal: stopping.signal,
      onError: (error) => {
        throw error;
      },
    });
    return { recorder, asked };
  };
  const find = (network: string) => findCallbackFailures(store.db, network, [requestId]);

  test("records the reason, and replaces it when a reorg moves the callback", async () => {
    const transactionHash = `0x${"cd".repeat(32)}`;
    await saveCallbackFailures(store.db, [
      { network: "sepolia", requestId, transactionHash, reason: "before the reorg", createdAt: 1 },
    ]);
    const { recorder } = record("sepolia", "not today", FAILED_REPORT_SUBSCRIPTION);
    recorder.onBlock([log]);
    await vi.waitFor(
      async () =>
        expect(await find("sepolia")).toEqual([
          { requestId, transactionHash: log.transactionHash, reason: "not today" },
        ]),
      { timeout: 60_000 },
    );
  });

  test("records nothing of subscriptions that aren't the service's, or logs of other contracts", async () => {
    const { recorder, asked } = record("fuji", "not today", FAILED_REPORT_SUBSCRIPTION + 1n);
    recorder.onBlock([{ ...log, address: `0x${"3c".repeat(20)}` }]);
    recorder.onBlock([log]);
    await vi.waitFor(() => expect(asked).toEqual(["eth_getTransactionByHash"]), { timeout: 60_000 });
    expect(await find("fuji")).toEqual([]);
  });
});
