import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  padHex,
  parseAbiParameters,
  toHex,
  zeroHash,
  type Hex,
} from "viem";
import { functionsCoordinatorAbi, functionsRouterAbi } from "../../src/chainlink/contracts/abi.ts";
import type { RawLog } from "../../src/lib/nodeAnswers.ts";

const GAS_LIMIT = 100_000;
const ID: Hex = `0x${"ab".repeat(32)}`;
/** The Functions subscription of {@link failedReport}. */
export const FAILED_REPORT_SUBSCRIPTION = 3n;

/** Returns the log, in block 1, and the calldata of a report whose callback failed. */
export function failedReport({
  router,
  consumer,
  response,
  returned = "0x",
}: {
  readonly router: Hex;
  readonly consumer: Hex;
  readonly response: Hex;
  /** Revert data in the log. Default: none. */
  readonly returned?: Hex;
}): { readonly log: RawLog; readonly input: Hex } {
  const words = [ID, router, 1n, consumer, FAILED_REPORT_SUBSCRIPTION, BigInt(GAS_LIMIT), 0n, 0n, 0n, 0n, 0n];
  const commitment = `0x${words
    .map((word) => padHex(typeof word === "bigint" ? toHex(word) : word, { size: 32 }).slice(2))
    .join("")}` as const;
  const report = encodeAbiParameters(parseAbiParameters("bytes32[], bytes[], bytes[], bytes[], bytes[]"), [
    [ID],
    [response],
    ["0x"],
    [commitment],
    ["0x"],
  ]);
  const args = [[zeroHash, zeroHash, zeroHash], report, [], [], zeroHash] as const;
  const input = encodeFunctionData({ abi: functionsCoordinatorAbi, functionName: "transmit", args });
  const topics = encodeEventTopics({
    abi: functionsRouterAbi,
    eventName: "RequestProcessed",
    args: { requestId: ID, subscriptionId: FAILED_REPORT_SUBSCRIPTION },
  }) as Hex[];
  const data = encodeAbiParameters(parseAbiParameters("uint96, address, uint8, bytes, bytes, bytes"), [
    1n,
    router,
    1,
    response,
    "0x",
    returned,
  ]);
  const place = { transactionHash: ID, blockNumber: 1n, blockHash: ID, logIndex: 0 };
  return { log: { ...place, address: router.toLowerCase() as Hex, topics, data }, input };
}
