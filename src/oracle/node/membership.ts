import type { Hex } from "viem";
import type { Observation } from "../aggregateObservations.ts";
import type { Sealed } from "../protocol/message.ts";
import type { RoundEffect, RoundOptions } from "../protocol/roundTypes.ts";
import { transmitOrder } from "../protocol/transmitOrder.ts";
import { createWire } from "../protocol/wire.ts";
import type { ReportSigner } from "../signer.ts";
import { createEarlyMessages } from "./earlyMessages.ts";
import { createInbox, type Inbox, type ProofTaker } from "./inbox.ts";
import type { NodeSet } from "./nodeSet.ts";
import { createPeer } from "./peerClient.ts";
import type { RoundJournal } from "./roundJournal.ts";
import { createRoundTask, type RoundTask } from "./roundTask.ts";
import type { StageClock } from "./stageClock.ts";

/** What is to be agreed upon. */
export interface Topic {
  /** What messages about it name as their request: 32 bytes. */
  readonly id: Hex;
  /** Whether an answer is still wanted. */
  readonly isOpen: () => boolean;
  /** Whether the result follows from the chain alone, so that nodes need not commit to it. */
  readonly isDerived: boolean;
  readonly agree: (observations: readonly Observation[]) => Observation;
  readonly signReport: RoundOptions["signReport"];
}

/** Calls from a round to its node. */
export interface TaskHooks {
  readonly onTransmit: (effect: RoundEffect & { readonly type: "transmit" }) => void;
  readonly onAccuse: (effect: RoundEffect & { readonly type: "accuse" }) => void;
  readonly onFailure: (error: unknown) => void;
}

/** A node's place in one configuration of the coordinator, with its rounds under that configuration. */
export interface Membership {
  readonly set: NodeSet;
  /** Index of this node. */
  readonly self: number;
  readonly inbox: Inbox;
  /** Rounds by the id of their topic. */
  readonly tasks: ReadonlyMap<Hex, RoundTask>;
  begin(topic: Topic, hooks: TaskHooks): RoundTask;
  end(id: Hex): void;
  /** Ends the rounds that nobody waits for any more. */
  sweep(): void;
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
  readonly clock: StageClock;
  readonly proofs: ProofTaker;
  /** Whether a request was answered recently: messages about it are late or repeated, and are not kept. */
  readonly isAnswered: (requestId: Hex) => boolean;
  /** Called with each message, before its round. */
  readonly onMessage: (requestId: Hex, sealed: Sealed) => void;
}

/** Takes this node's place in a configuration. */
export function createMembership(options: MembershipOptions): Membership {
  const { set, signer, journal, clock, isAnswered, proofs } = options;
  const { signers, faulty, configDigest } = set;
  const self = signers.indexOf(signer.address);
  const closing = new AbortController();
  const wire = createWire({ ...options, configDigest, signers });
  const peers = set.urls.map((url, index) => (index === self ? undefined : createPeer(url, closing.signal)));
  const early = createEarlyMessages(signers.length);
  const tasks = new Map<Hex, RoundTask>();
  const topics = new Map<Hex, Topic>();
  const inbox = createInbox({
    wire,
    signers,
    isOpen: (requestId) => tasks.has(requestId),
    isAnswered,
    proofs,
    onMessage({ requestId, sealed }) {
      options.onMessage(requestId, sealed);
      const task = tasks.get(requestId);
      if (task !== undefined) task.give({ type: "received", sealed });
      else if (!isAnswered(requestId)) early.add(requestId, sealed);
    },
  });

  function end(id: Hex): void {
    tasks.get(id)?.close();
    tasks.delete(id);
    topics.delete(id);
  }

  return {
    set,
    self,
    inbox,
    tasks,
    begin(topic, { onTransmit, onAccuse, onFailure }) {
      const { id, isDerived, agree, signReport } = topic;
      const task = createRoundTask({
        requestId: id,
        isDerived,
        clock,
        wire,
        journal,
        onTransmit,
        onAccuse,
        onFailure,
        round: {
          self,
          nodes: signers.length,
          faulty,
          order: transmitOrder(id, signers.length),
          commitmentOf: (reveal) => wire.commitmentOf(id, reveal),
          agree,
          seal: (message) => wire.seal(id, message, signer),
          signReport,
        },
        send(to, bytes) {
          for (const [index, peer] of peers.entries()) if (to === "all" || to === index) peer?.send(bytes);
        },
      });
      tasks.set(id, task);
      topics.set(id, topic);
      for (const sealed of early.take(id)) {
        inbox.noteHeard(sealed.message.sender);
        task.give({ type: "received", sealed });
      }
      return task;
    },
    end,
    sweep() {
      for (const [id, { isOpen }] of topics) if (!isOpen()) end(id);
    },
    close() {
      closing.abort();
      for (const task of tasks.values()) task.close();
      tasks.clear();
      topics.clear();
    },
  };
}
