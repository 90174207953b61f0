import type { Hex } from "viem";
import type { OracleRequest } from "../oracleRequest.ts";
import type { Sealed } from "../protocol/message.ts";
import type { RoundEffect } from "../protocol/roundTypes.ts";
import { transmitOrder } from "../protocol/transmitOrder.ts";
import { createWire } from "../protocol/wire.ts";
import type { Entry } from "../requestSet.ts";
import type { ReportSigner } from "../signer.ts";
import { createEarlyMessages } from "./earlyMessages.ts";
import { createInbox, type Inbox } from "./inbox.ts";
import { createNodeReport } from "./nodeReport.ts";
import type { NodeSet } from "./nodeSet.ts";
import { createPeer } from "./peerClient.ts";
import type { RoundJournal } from "./roundJournal.ts";
import { createRoundTask, type RoundTask } from "./roundTask.ts";

/** A request with this node's part in answering it. */
export interface NodeTask {
  readonly entry: Entry<OracleRequest>;
  readonly round: RoundTask;
}

/** Calls from a round to its node. */
export interface TaskHooks {
  /** `data` is the encoded call of `transmit`. */
  readonly onTransmit: (rank: number, data: Hex) => void;
  readonly onAccuse: (effect: RoundEffect & { readonly type: "accuse" }) => void;
  readonly onFailure: (error: unknown) => void;
}

/** A node's place in one configuration of the coordinator, with its rounds under that configuration. */
export interface Membership {
  readonly set: NodeSet;
  /** Index of this node. */
  readonly self: number;
  readonly inbox: Inbox;
  readonly tasks: ReadonlyMap<Hex, NodeTask>;
  begin(entry: Entry<OracleRequest>, hooks: TaskHooks): void;
  end(requestId: Hex): void;
  /** Ends all rounds and connections. */
  close(): void;
}

export interface MembershipOptions {
  readonly chainId: number;
  readonly coordinator: Hex;
  readonly set: NodeSet;
  /** Must be one of the set's signers. */
  readonly signer: ReportSigner;
  readonly journal: RoundJournal;
  /** Whether a request was answered recently: messages about it are late or repeated, and are not kept. */
  readonly isAnswered: (requestId: Hex) => boolean;
  /** Called with each message, before its round. */
  readonly onMessage: (requestId: Hex, sealed: Sealed) => void;
}

/** Takes this node's place in a configuration. */
export function createMembership(options: MembershipOptions): Membership {
  const { set, signer, journal, isAnswered } = options;
  const { signers, faulty, configDigest } = set;
  const self = signers.indexOf(signer.address);
  const closing = new AbortController();
  const wire = createWire({ ...options, configDigest, signers });
  const peers = set.urls.map((url, index) => (index === self ? undefined : createPeer(url, closing.signal)));
  const early = createEarlyMessages(signers.length);
  const tasks = new Map<Hex, NodeTask>();
  const inbox = createInbox({
    wire,
    signers,
    isOpen: (requestId) => tasks.has(requestId),
    isAnswered,
    onMessage({ requestId, sealed }) {
      options.onMessage(requestId, sealed);
      const task = tasks.get(requestId);
      if (task !== undefined) task.round.give({ type: "received", sealed });
      else if (!isAnswered(requestId)) early.add(requestId, sealed);
    },
  });

  return {
    set,
    self,
    inbox,
    tasks,
    begin(entry, { onTransmit, onAccuse, onFailure }) {
      const { request } = entry;
      const { requestId } = request;
      const report = createNodeReport(request, configDigest);
      const round = createRoundTask({
        requestId,
        wire,
        journal,
        onAccuse,
        onFailure,
        round: {
          self,
          nodes: signers.length,
          faulty,
          order: transmitOrder(requestId, signers.length),
          commitmentOf: (reveal) => wire.commitmentOf(requestId, reveal),
          seal: (message) => wire.seal(requestId, message, signer),
          signReport: (rank, result) => report.sign(rank, result, signer),
        },
        send(to, bytes) {
          for (const [index, peer] of peers.entries()) if (to === "all" || to === index) peer?.send(bytes);
        },
        onTransmit: ({ rank, result, endorsements }) =>
          onTransmit(rank, report.encode(rank, result, endorsements)),
      });
      tasks.set(requestId, { entry, round });
      for (const sealed of early.take(requestId)) {
        inbox.noteHeard(sealed.message.sender);
        round.give({ type: "received", sealed });
      }
    },
    end(requestId) {
      tasks.get(requestId)?.round.close();
      tasks.delete(requestId);
    },
    close() {
      closing.abort();
      for (const { round } of tasks.values()) round.close();
      tasks.clear();
    },
  };
}
