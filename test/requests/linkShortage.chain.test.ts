import { encodeFunctionData, parseEther } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { linkTokenAbi } from "../../src/chainlink/contracts/abi.ts";
import { createSender } from "../../src/evm/sender.ts";
import { startPipelineWorld, type PipelineWorld } from "../support/pipelineWorld.ts";
import { TEST_ROLES } from "../support/stack.ts";
import { fixedFees } from "../../src/evm/fees.ts";

/** In LINK: the reserve's balance, and the allowance of each of a dapp's two subscriptions. */
const [SUPPLY, ALLOWANCE] = [parseEther("10"), parseEther("20")];

const SHORT = /is short by ([\d.]+) LINK/;

let world: PipelineWorld;
beforeAll(async () => {
  world = await startPipelineWorld({ supplyJuels: SUPPLY });
});
afterAll(() => world.close());

/** Sends LINK to the reserve, as the operator does. */
async function fund(juels: bigint): Promise<void> {
  const { client, chainId, gasPriceWei, addresses } = world.stack;
  const sender = createSender({
    client,
    chainId,
    account: TEST_ROLES.deployer,
    fees: fixedFees(gasPriceWei, { synchronous: true }),
    signal: new AbortController().signal,
    onError: () => {},
  });
  const args = [addresses.subscriptionOwner, juels] as const;
  const data = encodeFunctionData({ abi: linkTokenAbi, functionName: "mint", args });
  const receipt = await sender.send({ to: addresses.link, data, gas: 200_000n }, undefined);
  expect(receipt).toMatchObject({ succeeded: true });
}

test("a request waits for LINK, says how much is missing, and goes on when it comes", async () => {
  const pipeline = await world.open({ allowanceJuels: ALLOWANCE });
  const { id } = await pipeline.accept("random");
  const request = () => pipeline.book.get(id)!;
  await vi.waitFor(() => expect(request().why).toContain("is short by 30 LINK: it holds 10, and "));
  await expect
    .poll(() => pipeline.pipeline.explain(request()))
    .toContain("waiting for LINK to be sent there");
  await fund(parseEther("30"));
  expect(await pipeline.ended(id)).toMatchObject({ state: "fulfilled", why: null });
  await pipeline.close();
});

test("nothing is sent on subscriptions that are nearly empty while there is no LINK to top them up", async () => {
  // The other database's dapp has subscriptions, whose allowance is ten times as high here.
  const pipeline = await world.open({ allowanceJuels: 10n * ALLOWANCE });
  const { subscriptions } = pipeline.pipeline;
  subscriptions.used("dapp_test");
  await expect(subscriptions.topUp()).rejects.toThrow(/is short by/);
  const { id } = await pipeline.accept("random");
  const request = () => pipeline.book.get(id)!;
  await vi.waitFor(() => expect(request().why).toMatch(SHORT));
  expect(request().state).toBe("received");
  await fund(parseEther(SHORT.exec(request().why!)![1]!));
  expect(await pipeline.ended(id)).toMatchObject({ state: "fulfilled", why: null });
  await pipeline.close();
});
