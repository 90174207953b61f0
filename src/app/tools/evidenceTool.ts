import { askContract } from "../../chainlink/contractRead.ts";
import { readFile } from "node:fs/promises";
import type { Hex } from "viem";
import { CONFIG_SET_TOPIC, decodeConfigSet, LATEST_CONFIG } from "../../chainlink/nodeConfig.ts";
import { createChainClient, type ChainClient } from "../../evm/client.ts";
import { messageOf } from "../../lib/errors.ts";
import { checkEvidence, EvidenceError, type CheckedEvidence } from "../../oracle/node/evidence.ts";

/** Maximum number of earlier configurations to search. */
const MAX_EARLIER_CONFIGS = 64;

/** The finding on one piece of evidence. */
export interface EvidenceFinding {
  readonly isProven: boolean;
  readonly text: string;
}

/**
 * Checks evidence against an oracle's nodes, in the form in which a node's `GET /evidence` returns it.
 *
 * @param options.rpcUrl node to ask whether the coordinator has had the configuration; without it, only signatures are checked.
 * @throws {EvidenceError} when the file holds none.
 */
export async function checkEvidenceFile(options: {
  readonly file: string;
  readonly rpcUrl: string | undefined;
}): Promise<readonly EvidenceFinding[]> {
  const list = parseList(await readFile(options.file, "utf8"));
  const client = options.rpcUrl === undefined ? undefined : createChainClient(options.rpcUrl);
  try {
    return await Promise.all(list.map((one) => look(one, client)));
  } finally {
    await client?.close();
  }
}

async function look(given: unknown, client: ChainClient | undefined): Promise<EvidenceFinding> {
  let checked: CheckedEvidence;
  try {
    checked = checkEvidence(given);
  } catch (error) {
    return { isProven: false, text: messageOf(error) };
  }
  const { signer, what, requestId, coordinator, configDigest } = checked;
  const proven = `${signer} signed two different ${what} for request ${requestId}`;
  if (client === undefined)
    return { isProven: true, text: `${proven}; whether it is a node of ${coordinator} was not checked` };
  const isNode = await hasHadConfig(client, coordinator, configDigest);
  return isNode
    ? { isProven: true, text: `${proven}, as a node of ${coordinator}` }
    : { isProven: false, text: `${proven}, but ${coordinator} is not known to have had its configuration` };
}

async function hasHadConfig(
  client: Pick<ChainClient, "call" | "getLogs">,
  coordinator: Hex,
  wanted: Hex,
): Promise<boolean> {
  const latest = await askContract(client, coordinator, LATEST_CONFIG);
  if (latest.configDigest === wanted) return true;
  let block = latest.blockNumber;
  for (let i = 0; i < MAX_EARLIER_CONFIGS && block > 0; i += 1) {
    const range = { fromBlock: BigInt(block), toBlock: BigInt(block) };
    const logs = await client.getLogs({ addresses: [coordinator], ...range });
    const configs = logs
      .filter(({ topics }) => topics[0] === CONFIG_SET_TOPIC)
      .map((log) => decodeConfigSet(log.data));
    if (configs.some(({ configDigest }) => configDigest === wanted)) return true;
    block = configs[0]?.previousBlock ?? 0;
  }
  return false;
}

function parseList(text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new EvidenceError(`the file is not JSON: ${messageOf(error)}`);
  }
  const { evidence } = (value ?? {}) as { readonly evidence?: unknown };
  if (Array.isArray(evidence)) return evidence;
  throw new EvidenceError("the file is not a node's answer to GET /evidence");
}
