import { deriveNodeKeys } from "../../../src/app/oracle/oracleRole.ts";
import { createChainClient } from "../../../src/evm/client.ts";
import { fromHexText, toHexText } from "../../../src/lib/hex.ts";
import { readNodeSet, type NodeSet } from "../../../src/oracle/node/nodeSet.ts";
import type { Reveal, Sealed } from "../../../src/oracle/protocol/message.ts";
import { transmitOrder } from "../../../src/oracle/protocol/transmitOrder.ts";
import { createWire, joinSignature } from "../../../src/oracle/protocol/wire.ts";
import type { ReportSigner } from "../../../src/oracle/signer.ts";
import { openDataDirectory } from "../../../src/store/dataDirectory.ts";
import type { StrangersChain } from "./chain.ts";
import type { SeveralOperators } from "./nodes.ts";
import { joinBody, splitBody, type PeerRule } from "./peerProxy.ts";

const CHAIN_ID = 31_337;
const COMMIT = 1;
const ENDORSEMENT = 4;
const RICH = "0x8ac7230489e80000";

/** A fault of one node, or of the network; returns a function that ends it. */
export type NodeFault = (world: {
  readonly chain: StrangersChain;
  readonly operators: SeveralOperators;
  /** Index of the wrong node. */
  readonly wrong: number;
}) => Promise<() => Promise<void> | void>;

const ruled =
  (ruleOf: (wrong: number) => PeerRule): NodeFault =>
  async ({ operators, wrong }) => {
    operators.proxy.setRule(ruleOf(wrong));
    return () => operators.proxy.setRule(undefined);
  };

/** Faults of one node out of four, none of which changes results. */
export const NODE_FAULTS: Readonly<Record<string, NodeFault>> = {
  "a silent node": ruled(
    (wrong) =>
      async ({ from, body }) =>
        from === wrong ? undefined : body,
  ),
  "a node that says everything 5 s late": ruled((wrong) => async ({ from, body }) => {
    if (from === wrong) await new Promise((resolve) => setTimeout(resolve, 5_000));
    return body;
  }),
  "a node that is cut off from the others": ruled(
    (wrong) =>
      async ({ from, to, body }) =>
        from === wrong || to === wrong ? undefined : body,
  ),
  "a node whose every message comes three times, with all that it said before": ruled((wrong) => {
    const said: Buffer[] = [];
    return async ({ from, body }) => {
      if (from !== wrong) return body;
      said.push(...splitBody(body));
      return joinBody([...splitBody(body), ...splitBody(body), ...splitBody(body), ...said.slice(-50)]);
    };
  }),
  "a node that signs anything": async ({ chain, operators, wrong: sender }) => {
    const { wire, signer } = await openWire({ chain, operators, node: sender });
    /** What another node said, by request. */
    const heard = new Map<string, Sealed>();
    operators.proxy.setRule(async ({ from, body }) => {
      const messages = splitBody(body);
      const opened = messages.map((message) => wire.open(Uint8Array.from(message)));
      const forged = opened.flatMap(({ requestId, sealed }) => {
        if (from !== sender) {
          heard.set(requestId, sealed);
          return [];
        }
        // A stage that none of these requests reaches: what the node signs there is wrong, but contradicts nothing.
        const rank = transmitOrder(requestId, operators.nodes.length - 1).indexOf(sender) + 200;
        const digest = requestId;
        const signature = toHexText(joinSignature(signer.sign(fromHexText(digest))));
        const reveal = sealed as Sealed<Reveal>;
        const other = heard.get(requestId);
        return [
          { kind: "endorsement", sender, rank, digest, signature } as const,
          ...(reveal.message.kind === "reveal"
            ? [{ kind: "proposal", sender, rank, reveals: [reveal, reveal, reveal] } as const]
            : []),
          ...(other === undefined || other.message.kind === "evidence"
            ? []
            : [{ kind: "evidence", sender, first: other, second: other } as const]),
        ].map((message) => wire.seal(requestId, message, signer).bytes);
      });
      return joinBody([...messages, ...forged]);
    });
    return () => operators.proxy.setRule(undefined);
  },
  "a transmitter that withholds its reports": async ({ chain, operators, wrong }) => {
    const address = operators.transmitterOf(wrong);
    await chain.call("anvil_setBalance", [address, "0x0"]);
    return async () => void (await chain.call("anvil_setBalance", [address, RICH]));
  },
};

/** Steps of the protocol at which a node may be killed, by the message between nodes that reveals them. */
export const NODE_STEPS = {
  "its commitment is recorded": { kind: COMMIT, isIncoming: false },
  "it has revealed": { kind: 2, isIncoming: false },
  "it has endorsed": { kind: 4, isIncoming: false },
  "it has proposed": { kind: 3, isIncoming: false },
  "it has enough signatures to transmit": { kind: 4, isIncoming: true },
} as const;

/**
 * Silences one node, so that all others are needed, and waits until another node reaches a step. What that node sends at this moment is
 * lost with it.
 */
export function watchStep(
  { proxy }: SeveralOperators,
  {
    silent,
    node,
    step,
  }: { readonly silent: number; readonly node: number; readonly step: keyof typeof NODE_STEPS },
): Promise<void> {
  const { kind, isIncoming } = NODE_STEPS[step];
  const { promise, resolve } = Promise.withResolvers<void>();
  const endorsers = new Set<number>();
  let isReached = false;
  proxy.setRule(async ({ from, to, body }) => {
    const isOfStep = splitBody(body).some((message) => message[1] === kind);
    if (isIncoming && to === node && isOfStep && from !== silent) endorsers.add(from);
    if (!isIncoming && from === node && isOfStep) isReached = true;
    if (isReached || endorsers.size === 2) resolve();
    return from === silent || (isReached && from === node) ? undefined : body;
  });
  return promise;
}

/** Creates a wire that reads and signs messages as a node of the current configuration. */
async function openWire({
  chain,
  operators,
  node,
}: {
  readonly chain: StrangersChain;
  readonly operators: SeveralOperators;
  readonly node: number;
}) {
  const coordinator = operators.coordinator();
  const client = createChainClient(chain.httpUrl);
  const { configDigest, signers } = await readNodeSet(client, coordinator);
  await client.close();
  return {
    wire: createWire({ chainId: CHAIN_ID, coordinator, configDigest, signers }),
    signer: signerOf(operators, node),
  };
}

function signerOf(operators: SeveralOperators, node: number): ReportSigner {
  const directory = openDataDirectory(operators.nodes[node]!["TYCHE_DATA_DIR"]!, { exclusive: false });
  const { signer } = deriveNodeKeys(directory.masterKey, CHAIN_ID);
  directory.close();
  return signer;
}

/** Makes a node commit to a second observation besides its own, to all peers; returns a function that ends it. */
export function startEquivocating(
  operators: SeveralOperators,
  {
    wrong,
    set,
    coordinator,
  }: { readonly wrong: number; readonly set: NodeSet; readonly coordinator: `0x${string}` },
): () => void {
  const signer = signerOf(operators, wrong);
  const { configDigest, signers } = set;
  const wire = createWire({ chainId: CHAIN_ID, coordinator, configDigest, signers });
  operators.proxy.setRule(async ({ from, body }) => {
    if (from !== wrong) return body;
    const messages = splitBody(body);
    const forged = messages
      .filter((message) => message[1] === COMMIT)
      .map((message) => {
        const { requestId } = wire.open(message);
        const commitment = `0x${"77".repeat(32)}` as const;
        return wire.seal(requestId, { kind: "commit", sender: wrong, commitment }, signer).bytes;
      });
    return joinBody([...messages, ...forged]);
  });
  return () => operators.proxy.setRule(undefined);
}

/** Makes a node sign another result beside each of its own, to all peers; returns a function that ends it. */
export const endorseTwice: NodeFault = async ({ chain, operators, wrong }) => {
  const { wire, signer } = await openWire({ chain, operators, node: wrong });
  operators.proxy.setRule(async ({ from, body }) => {
    if (from !== wrong) return body;
    const messages = splitBody(body);
    const forged = messages
      .filter((message) => message[1] === ENDORSEMENT)
      .map((message) => {
        const { requestId } = wire.open(Uint8Array.from(message));
        const digest = `0x${"77".repeat(32)}` as const;
        const signature = toHexText(joinSignature(signer.sign(fromHexText(digest))));
        const endorsement = { kind: "endorsement", sender: wrong, rank: 0, digest, signature } as const;
        return wire.seal(requestId, endorsement, signer).bytes;
      });
    return joinBody([...messages, ...forged]);
  });
  return () => operators.proxy.setRule(undefined);
};
