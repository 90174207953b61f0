import { parseNodeUrls } from "../../chainlink/offchainConfig.ts";
import { readNodeStates, type NodeState } from "./nodeStates.ts";
import type { OracleIdentity } from "./oracleIdentity.ts";

/**
 * Asks the nodes of several operators about each other, and reports a line for each; nothing for an oracle that holds all keys itself.
 */
export async function checkNodes(
  { signers, transmitters, offchainConfig }: OracleIdentity["functions"],
  tell: (isOk: boolean, text: string, remedy?: string) => void,
): Promise<void> {
  const urls = parseNodeUrls(offchainConfig ?? "0x", signers.length) ?? [];
  const nodes = urls.map((url, index) => ({
    url,
    signer: signers[index]!,
    transmitter: transmitters[index]!,
  }));
  for (const state of await readNodeStates(nodes)) {
    const { url, signer, trouble, isMember } = state;
    if (trouble === undefined)
      tell(
        isMember,
        `node ${url} (${signer}): ${describe(state)}`,
        "it does not count itself among the coordinator's nodes: its keys are different, or its chain is behind",
      );
    else
      tell(
        false,
        `node ${url} (${signer}) does not answer: ${trouble}; ${describe(state)}`,
        "its operator has to start it",
      );
  }
}

function describe({ witnesses, lastSeen, agreementRate, lastTransmission, accusers }: NodeState): string {
  if (witnesses === 0) return "none of the others reports on it";
  return [
    lastSeen === undefined ? "not seen yet" : `last seen ${lastSeen}`,
    agreementRate === undefined
      ? "no answers to compare yet"
      : `agreed with ${(100 * agreementRate).toFixed(1)} % of the answers`,
    lastTransmission === undefined ? "no transmission yet" : `last transmission ${lastTransmission}`,
    ...(accusers === 0 ? [] : [`contradicted itself, as ${accusers} others say: see their /evidence`]),
  ].join("; ");
}
