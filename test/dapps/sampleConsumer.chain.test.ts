import { encodeDeployData, hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decodeFunctionsRequest } from "../../src/chainlink/functionsRequest.ts";
import { formatSampleFunctionsConsumer } from "../../src/dapps/sampleConsumer.ts";
import { startTestChain } from "../support/anvil.ts";
import { compileSolidity } from "../support/solidity.ts";
import { VARS } from "./support/configVars.ts";

let chain: Awaited<ReturnType<typeof startTestChain>>;
beforeAll(async () => {
  chain = await startTestChain();
});
afterAll(() => chain.close());

test("the contract encodes sources and arguments of any length as the oracle reads them", async () => {
  const encoder = `
contract Encoder {
  constructor(string memory source, string[] memory args) {
    bytes memory data = FunctionsRequest.encode(source, args);
    assembly { return(add(data, 32), mload(data)) }
  }
}`;
  const contract = compileSolidity("Encoder", formatSampleFunctionsConsumer("dapp_1", VARS) + encoder);
  const texts = [0, 1, 23, 24, 255, 256, 5_000].map((length) => "x".repeat(length));
  for (const source of texts)
    for (const args of [[], [source], texts]) {
      const { data } = await chain.viem.call({
        data: encodeDeployData({ ...contract, args: [source, args] }),
      });
      expect(decodeFunctionsRequest(hexToBytes(data!))).toMatchObject({ source, args });
    }
});
