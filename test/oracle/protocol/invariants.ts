import { signaturesOf } from "../../../src/chainlink/quorum.ts";
import { DISAGREEMENT } from "../../../src/oracle/protocol/agree.ts";
import type { Message, Proposal, Sealed } from "../../../src/oracle/protocol/message.ts";
import type { RoundEffect, RoundRecord } from "../../../src/oracle/protocol/roundTypes.ts";
import { commitmentOf, keyOf, type SourceKind } from "./world.ts";

/** Thrown when one of PROTOCOL.md's invariants does not hold. */
export class InvariantViolation extends Error {}

/** What the checks know about a schedule's nodes. */
export interface CheckedWorld {
  readonly nodes: number;
  readonly faulty: number;
  readonly order: readonly number[];
  readonly kind: SourceKind;
  /** Whether one report is signed for all stages. */
  readonly isDerived: boolean;
  readonly isHonest: (node: number) => boolean;
  /** Everything that honest nodes have observed, over all their lives. */
  readonly seen: ReadonlySet<string>;
}

/** Checks each thing that an honest node does, at the moment it does it. */
export class Invariants {
  readonly #world: CheckedWorld;
  /** Nodes that have fixed an observation: in a message sent to anyone, or on an honest node's disk. */
  readonly #fixed = new Set<number>();
  /** By honest node and topic: a second, different statement is equivocation. */
  readonly #said = new Map<string, string>();
  /** The honest nodes that have signed each digest. */
  readonly #endorsed = new Map<string, Set<number>>();
  readonly #accused = new Map<number, Set<number>>();

  constructor(world: CheckedWorld) {
    this.#world = world;
  }

  /** Records that a message is in transit, whoever sent it. */
  onSent({ message }: Sealed): void {
    if (message.kind === "commit" || message.kind === "reveal") this.#fixed.add(message.sender);
    if (message.kind === "proposal")
      for (const { message: reveal } of message.reveals) this.#fixed.add(reveal.sender);
  }

  /** Checks what an honest node does; `records` are those on its disk at this point. */
  onEffect(
    node: number,
    effect: RoundEffect,
    { stage, records }: { readonly stage: number; readonly records: readonly RoundRecord[] },
  ): void {
    if (effect.type === "accuse") this.#onAccusation(node, effect.evidence.message.first.message.sender);
    if (effect.type === "transmit") this.#onTransmission(node, effect);
    if (effect.type === "record" && effect.record.kind === "observed") this.#fixed.add(node);
    if (effect.type === "record" && effect.record.kind === "endorsed")
      this.#onEndorsement(node, effect.record, stage);
    if (effect.type !== "send") return;
    const { message } = effect.sealed;
    if (message.sender !== node) return;
    this.#onWord(node, message);
    if (message.kind === "reveal") this.#onReveal();
    if (message.kind === "proposal") this.#onProposal(node, message);
    if (message.kind === "endorsement") this.#onEndorsement(node, message, stage);
    this.#onUnrecorded(message, records);
  }

  /** Checks a signature of an honest node, whether sent or kept for its own proposal. */
  #onEndorsement(
    node: number,
    { rank, digest }: { readonly rank: number; readonly digest: string },
    stage: number,
  ): void {
    const { isHonest, kind, seen } = this.#world;
    this.#expect(rank <= stage, `stage: node ${node} signed for stage ${rank} at its stage ${stage}`);
    const signers = this.#endorsed.get(digest) ?? new Set();
    if (isHonest(node)) signers.add(node);
    this.#endorsed.set(digest, signers);
    this.#expect(
      isValid(digest.slice(digest.indexOf("/") + 1), kind, seen),
      `validity: node ${node} signed ${digest}`,
    );
    const ofRank = [...this.#endorsed].filter(([one]) => one.startsWith(`0x${rank}/`));
    const { nodes, faulty } = this.#world;
    const wrong = Array.from({ length: nodes }, (_, index) => index).filter((one) => !isHonest(one)).length;
    const possible = ofRank.filter(([, { size }]) => size + wrong >= signaturesOf(nodes, faulty));
    this.#expect(possible.length <= 1, `uniqueness: two results of stage ${rank} can reach a quorum`);
  }

  /** Checks the end of the schedule. */
  onEnd(isAnswered: boolean): void {
    this.#expect(isAnswered, "liveness: the request was not answered after all was well again");
  }

  #onWord(node: number, message: Message): void {
    const text = wordOf(message);
    if (text === undefined) return;
    const [topic, said] = text;
    const before = this.#said.get(`${node} ${topic}`) ?? said;
    this.#said.set(`${node} ${topic}`, said);
    this.#expect(before === said, `binding: node ${node} said ${before}, then ${said}`);
  }

  #onReveal(): void {
    const wanted = 2 * this.#world.faulty + 1;
    this.#expect(
      this.#fixed.size >= wanted,
      `hiding: a reveal after ${this.#fixed.size} commitments of ${wanted}`,
    );
  }

  #onProposal(node: number, { rank, reveals }: Proposal): void {
    const { order, nodes, faulty } = this.#world;
    this.#expect(order[rank % nodes] === node, `turn: node ${node} proposed at stage ${rank}`);
    const senders = new Set(reveals.map(({ message }) => message.sender));
    this.#expect(
      senders.size === 2 * faulty + 1 && reveals.length === senders.size,
      `bundle: of ${reveals.length} reveals`,
    );
    for (const sender of senders)
      this.#expect(
        !this.#accused.get(node)?.has(sender) || this.#said.get(`${node} proposal ${rank}`) !== undefined,
        `exclusion: node ${node} proposed with node ${sender}, which it knows to be wrong`,
      );
  }

  #onTransmission(
    node: number,
    { rank, result, endorsements }: RoundEffect & { readonly type: "transmit" },
  ): void {
    const { nodes, faulty, order, isDerived } = this.#world;
    const digest = `0x${isDerived ? 0 : rank}/${keyOf(result)}`;
    const senders = new Set(endorsements.map(({ sender }) => sender));
    const wanted = signaturesOf(nodes, faulty);
    this.#expect(order[rank % nodes] === node, `turn: node ${node} transmits at stage ${rank}`);
    this.#expect(
      endorsements.length === wanted && senders.size === wanted,
      `quorum: ${endorsements.length} signatures of ${senders.size} nodes`,
    );
    this.#expect(
      endorsements.every((one) => one.digest === digest),
      "quorum: signatures of another report",
    );
  }

  #onAccusation(node: number, accused: number): void {
    this.#expect(!this.#world.isHonest(accused), `evidence: node ${node} accuses honest node ${accused}`);
    const all = this.#accused.get(node) ?? new Set();
    this.#accused.set(node, all.add(accused));
  }

  #onUnrecorded(message: Message, records: readonly RoundRecord[]): void {
    const isRecorded = records.some(
      (record) =>
        ((message.kind === "commit" || message.kind === "reveal") && record.kind === "observed") ||
        (message.kind === "proposal" &&
          record.kind === "proposed" &&
          record.sealed.message.rank === message.rank) ||
        (message.kind === "endorsement" && record.kind === "endorsed" && record.digest === message.digest),
    );
    this.#expect(
      isRecorded || message.kind === "evidence",
      `record: a ${message.kind} was sent before it was on disk`,
    );
  }

  #expect(holds: boolean, what: string): void {
    if (!holds) throw new InvariantViolation(what);
  }
}

/** Returns the topic and the statement that a message commits its sender to. */
function wordOf(message: Message): readonly [string, string] | undefined {
  switch (message.kind) {
    case "commit":
      return ["observation", message.commitment];
    case "reveal":
      return ["observation", commitmentOf(message)];
    case "endorsement":
      return [`endorsement ${message.rank}`, message.digest];
    case "proposal":
      return [`proposal ${message.rank}`, message.reveals.map((one) => commitmentOf(one.message)).join()];
    case "evidence":
      return undefined;
  }
}

/** Whether honest nodes may sign a result: what one of them saw, a number between those they saw, or that they disagreed. */
function isValid(result: string, kind: SourceKind, seen: ReadonlySet<string>): boolean {
  if (seen.has(result)) return true;
  if (kind === "numbers") {
    const sorted = [...seen].toSorted();
    return result.length === 33 && result >= sorted[0]! && result <= sorted.at(-1)!;
  }
  return kind !== "same" && result === keyOf(DISAGREEMENT);
}
