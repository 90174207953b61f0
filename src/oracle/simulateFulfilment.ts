import { encodeFunctionData, type Hex } from "viem";
import { vrfCoordinatorAbi, vrfCoordinatorV2PlusAbi } from "../chainlink/contracts/abi.ts";
import { vrfVersionOf } from "../chainlink/vrfVersion.ts";
import type { ChainClient } from "../evm/client.ts";
import { RpcError, toQuantity } from "../lib/nodeAnswers.ts";
import type { Proof } from "../vrf/proof.ts";
import { nameOfError, type VrfRequest } from "./fulfillment.ts";

/**
 * Returns why the coordinator would refuse a fulfilment sent by `from`, without a transaction; `undefined` if it would not, or if the node
 * can't tell, like one that has not read the block `seenBlock`.
 */
export async function findRefusal(
  client: Pick<ChainClient, "call">,
  { request, proof }: { readonly request: VrfRequest; readonly proof: Proof },
  options: {
    readonly coordinator: Hex;
    readonly from: Hex;
    readonly gas: bigint;
    readonly gasPriceWei: bigint;
    readonly seenBlock: bigint;
  },
): Promise<string | undefined> {
  const { coordinator: to, from, gas, gasPriceWei, seenBlock } = options;
  const data = encodeCall(request, proof);
  try {
    await client.call({ to, from, data, gas: toQuantity(gas), gasPrice: toQuantity(gasPriceWei) }, seenBlock);
    return undefined;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (error.data !== undefined) return nameOfError(error.data);
    // Some nodes leave out data that is empty.
    return /revert/i.test(error.message) ? nameOfError("0x") : undefined;
  }
}

function encodeCall(request: VrfRequest, proof: Proof): Hex {
  const { blockNumber: blockNum, subscriptionId: subId, callbackGasLimit, numWords, sender } = request;
  const asStruct = {
    pk: [proof.publicKey.x, proof.publicKey.y],
    gamma: [proof.gamma.x, proof.gamma.y],
    c: proof.c,
    s: proof.s,
    seed: proof.preSeed,
    uWitness: proof.uWitness,
    cGammaWitness: [proof.cGammaWitness.x, proof.cGammaWitness.y],
    sHashWitness: [proof.sHashWitness.x, proof.sHashWitness.y],
    zInv: proof.zInv,
  } as const;
  const commitment = { blockNum, subId, callbackGasLimit, numWords, sender };
  const functionName = "fulfillRandomWords";
  if (vrfVersionOf(request) === "v2")
    return encodeFunctionData({ abi: vrfCoordinatorAbi, functionName, args: [asStruct, commitment] });
  const { extraArgs = "0x" } = request;
  return encodeFunctionData({
    abi: vrfCoordinatorV2PlusAbi,
    functionName,
    args: [asStruct, { ...commitment, extraArgs }, false],
  });
}
