import { encodeFunctionResult, parseAbi } from "viem";
import { expect, test } from "vitest";
import { decodeCallResult } from "../../src/lib/callResult.ts";

const call = { abi: parseAbi(["function paused() view returns (bool)"]), functionName: "paused" } as const;

test("decodes a function's result", () => {
  const data = encodeFunctionResult({ ...call, result: true });
  expect(decodeCallResult({ ...call, data })).toBe(true);
});

test.each(["0x", "0x01"] as const)("says in one sentence that %s is no result", (data) => {
  const bytes = data.length / 2 - 1;
  const read = (): unknown => decodeCallResult({ ...call, data });
  expect(read).toThrow(
    expect.objectContaining({
      code: "chain_unavailable",
      message: `eth_call: ${bytes} bytes came back, which are no result of paused(); the contract's address is wrong, or the node lacks its state`,
    }),
  );
});
