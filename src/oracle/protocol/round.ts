import type { Hex } from "viem";
import { signaturesOf } from "../../chainlink/quorum.ts";
import type { Observation } from "../aggregateObservations.ts";
import { fixedBy, isConflict } from "./conflict.ts";
import type { Commit, Endorsement, Evidence, Proposal, Reveal, Sealed } from "./message.ts";
import type { RoundEffect, RoundInput, RoundOptions, RoundRecord } from "./roundTypes.ts";

/** Highest stage; even at 5 s each, far beyond the time after which a request may be timed out on chain. */
export const MAX_RANK = 250;

/** A node's own proposal and who has signed its result. */
interface OwnProposal {
  readonly sealed: Sealed<Proposal>;
  readonly result: Observation;
  readonly digest: Hex;
  /** By sender, whatever they signed. */
  readonly endorsements: Map<number, Sealed<Endorsement>>;
  isTransmitted: boolean;
}

/**
 * One node's part in answering one request: PROTOCOL.md as a state machine. It has no side effects and no clock; it returns the effects
 * to perform.
 */
export class Round {
  readonly #options: RoundOptions;
  #observed: { readonly commit: Sealed<Commit>; readonly reveal: Sealed<Reveal> } | undefined;
  #isRevealed = false;
  /** By sender: the first message that fixed its observation, and the commitment. */
  readonly #fixed = new Map<number, { readonly commitment: Hex; readonly by: Sealed }>();
  readonly #reveals = new Map<number, Sealed<Reveal>>();
  /** By sender: its proposal of the highest rank. */
  readonly #proposals = new Map<number, Sealed<Proposal>>();
  /** By rank: the digest that this node has signed. */
  readonly #endorsed = new Map<number, Hex>();
  readonly #evidence = new Map<number, Sealed<Evidence>>();
  /** −1 until 2f + 1 reveals are known. */
  #stage = -1;
  #own: OwnProposal | undefined;
  #effects: RoundEffect[] = [];

  /** `records`: all records of earlier processes, in order. */
  constructor(options: RoundOptions, records: readonly RoundRecord[] = []) {
    this.#options = options;
    for (const record of records) {
      if (record.kind === "observed") this.#fixObservation(record);
      else if (record.kind === "endorsed") this.#endorsed.set(record.rank, record.digest);
      else this.#holdProposal(record.sealed);
    }
    for (const { message } of this.#own?.sealed.message.reveals ?? [])
      this.#isRevealed ||= message.sender === options.self;
  }

  /** Whether this node has its own observation. */
  get hasObserved(): boolean {
    return this.#observed !== undefined;
  }

  get stage(): number {
    return this.#stage;
  }

  /** Processes one input and returns the effects to perform. */
  handle(input: RoundInput): readonly RoundEffect[] {
    this.#effects = [];
    if (input.type === "observed") this.#onObserved(input);
    else if (input.type === "received") this.#onReceived(input.sealed);
    else if (input.type === "stageOver") this.#onStageOver();
    else this.#resend();
    return this.#effects;
  }

  get #revealsWanted(): number {
    return 2 * this.#options.faulty + 1;
  }

  #onObserved({ observation, salt }: { readonly observation: Observation; readonly salt: Hex }): void {
    if (this.#observed !== undefined) return;
    this.#effects.push({ type: "record", record: { kind: "observed", observation, salt } });
    const { commit } = this.#fixObservation({ observation, salt });
    this.#effects.push({ type: "send", to: "all", sealed: commit });
    this.#advance();
  }

  #fixObservation({ observation, salt }: { readonly observation: Observation; readonly salt: Hex }) {
    const { self: sender, seal, commitmentOf } = this.#options;
    const message: Reveal = { kind: "reveal", sender, salt, observation };
    const commitment = commitmentOf(message);
    const commit = seal<Commit>({ kind: "commit", sender, commitment });
    this.#fixed.set(sender, { commitment, by: commit });
    return (this.#observed = { commit, reveal: seal(message) });
  }

  #onReceived(sealed: Sealed): void {
    const { message } = sealed;
    if (message.kind === "evidence") this.#onEvidence(sealed as Sealed<Evidence>);
    else if (message.kind === "endorsement") this.#onEndorsement(sealed as Sealed<Endorsement>);
    else if (message.kind === "proposal") this.#onProposal(sealed as Sealed<Proposal>);
    else this.#hold(sealed as Sealed<Commit | Reveal>);
    this.#advance();
  }

  /** Stores a commitment or reveal, unless its sender is known to be faulty or proves it with this message. */
  #hold(sealed: Sealed<Commit | Reveal>): void {
    const { sender, kind } = sealed.message;
    if (this.#evidence.has(sender)) return;
    const commitment = fixedBy(sealed.message, this.#options.commitmentOf)!;
    const known = this.#fixed.get(sender);
    if (known !== undefined && known.commitment !== commitment) return this.#accuse(known.by, sealed);
    if (known === undefined) this.#fixed.set(sender, { commitment, by: sealed });
    if (kind === "reveal" && !this.#reveals.has(sender)) this.#reveals.set(sender, sealed as Sealed<Reveal>);
  }

  #accuse(first: Sealed, second: Sealed): void {
    this.#onEvidence(this.#options.seal({ kind: "evidence", sender: this.#options.self, first, second }));
  }

  #onEvidence(sealed: Sealed<Evidence>): void {
    const { first, second } = sealed.message;
    const accused = first.message.sender;
    if (this.#evidence.has(accused) || !isConflict(first.message, second.message, this.#options.commitmentOf))
      return;
    this.#evidence.set(accused, sealed);
    this.#fixed.delete(accused);
    this.#reveals.delete(accused);
    this.#effects.push({ type: "accuse", evidence: sealed }, { type: "send", to: "all", sealed });
  }

  #onProposal(sealed: Sealed<Proposal>): void {
    const { message } = sealed;
    const { sender, rank, reveals } = message;
    if (sender === this.#options.self || !this.#isBundle(message)) return;
    for (const reveal of reveals) this.#hold(reveal);
    const known = this.#proposals.get(sender);
    if (known !== undefined && isConflict(known.message, message, this.#options.commitmentOf))
      return this.#accuse(known, sealed);
    if (known === undefined || known.message.rank < rank) this.#proposals.set(sender, sealed);
    if (rank <= this.#stage) this.#endorse(message);
  }

  /** Whether a proposal's sender may make it, and it holds 2f + 1 reveals of different nodes. */
  #isBundle({ sender, rank, reveals }: Proposal): boolean {
    const { order, nodes } = this.#options;
    if (rank > MAX_RANK || order[rank % nodes] !== sender) return false;
    const senders = new Set(reveals.map(({ message }) => message.sender));
    return reveals.length === this.#revealsWanted && senders.size === reveals.length;
  }

  /** Derives the result of a proposal and signs it, unless this node has signed a different one for that rank. */
  #endorse({ sender, rank, reveals }: Proposal): void {
    const { self, agree, seal, signReport } = this.#options;
    const wrong = reveals
      .map(({ message }) => this.#evidence.get(message.sender))
      .find((one) => one !== undefined);
    if (wrong !== undefined) {
      if (sender !== self) this.#effects.push({ type: "send", to: sender, sealed: wrong });
      return;
    }
    const result = agree(reveals.map(({ message }) => message.observation));
    const { digest, signature } = signReport(rank, result);
    const before = this.#endorsed.get(rank);
    if (before !== undefined && before !== digest) return;
    if (before === undefined) {
      this.#endorsed.set(rank, digest);
      this.#effects.push({ type: "record", record: { kind: "endorsed", rank, digest } });
    }
    const sealed = seal<Endorsement>({ kind: "endorsement", sender: self, rank, digest, signature });
    if (sender === self) this.#onEndorsement(sealed);
    else this.#effects.push({ type: "send", to: sender, sealed });
  }

  #onEndorsement(sealed: Sealed<Endorsement>): void {
    const own = this.#own;
    const { sender, rank } = sealed.message;
    if (own === undefined || rank !== own.sealed.message.rank) return;
    const known = own.endorsements.get(sender);
    if (known === undefined) own.endorsements.set(sender, sealed);
    else if (isConflict(known.message, sealed.message, this.#options.commitmentOf))
      this.#accuse(known, sealed);
    this.#transmit(own);
  }

  #transmit(own: OwnProposal): void {
    const { nodes, faulty } = this.#options;
    const { rank } = own.sealed.message;
    const matching = [...own.endorsements.values()]
      .map(({ message }) => message)
      .filter(({ digest }) => digest === own.digest);
    const wanted = signaturesOf(nodes, faulty);
    if (own.isTransmitted || matching.length < wanted) return;
    own.isTransmitted = true;
    this.#effects.push({
      type: "transmit",
      rank,
      result: own.result,
      endorsements: matching.slice(0, wanted),
    });
  }

  #onStageOver(): void {
    if (this.#stage < 0 || this.#stage >= MAX_RANK) return;
    this.#enterStage(this.#stage + 1);
  }

  #enterStage(stage: number): void {
    this.#stage = stage;
    this.#effects.push({ type: "startStage" });
    this.#propose();
    for (const { message } of this.#proposals.values()) if (message.rank === stage) this.#endorse(message);
  }

  /** Does whatever has become possible: reveal, enter the first stage, propose. */
  #advance(): void {
    if (this.#observed !== undefined && !this.#isRevealed && this.#fixed.size >= this.#revealsWanted) {
      this.#isRevealed = true;
      this.#reveals.set(this.#options.self, this.#observed.reveal);
      this.#effects.push({ type: "send", to: "all", sealed: this.#observed.reveal });
    }
    if (this.#stage < 0 && this.#reveals.size >= this.#revealsWanted) this.#enterStage(0);
    else this.#propose();
  }

  /** Proposes for this node's newest stage, once. */
  #propose(): void {
    const { order, nodes, self, seal } = this.#options;
    let rank = this.#stage;
    while (rank >= 0 && order[rank % nodes] !== self) rank -= 1;
    if (
      rank < 0 ||
      rank <= (this.#own?.sealed.message.rank ?? -1) ||
      this.#reveals.size < this.#revealsWanted
    )
      return;
    const reveals = [...this.#reveals.values()].slice(0, this.#revealsWanted);
    const sealed = seal<Proposal>({ kind: "proposal", sender: self, rank, reveals });
    this.#effects.push({ type: "record", record: { kind: "proposed", sealed } });
    this.#holdProposal(sealed);
    this.#effects.push({ type: "send", to: "all", sealed });
    this.#endorse(sealed.message);
  }

  #holdProposal(sealed: Sealed<Proposal>): void {
    const { rank, reveals } = sealed.message;
    const result = this.#options.agree(reveals.map(({ message }) => message.observation));
    const { digest } = this.#options.signReport(rank, result);
    this.#own = { sealed, result, digest, endorsements: new Map(), isTransmitted: false };
    for (const reveal of reveals) this.#hold(reveal);
  }

  #resend(): void {
    if (this.#observed !== undefined) {
      // A reveal fixes the observation just as the commitment does.
      const { commit, reveal } = this.#observed;
      this.#effects.push({ type: "send", to: "all", sealed: this.#isRevealed ? reveal : commit });
    }
    for (const sealed of this.#evidence.values()) this.#effects.push({ type: "send", to: "all", sealed });
    if (this.#own === undefined || this.#own.isTransmitted) return;
    // A process that ended between the two records has proposed but not signed.
    const { message } = this.#own.sealed;
    if (!this.#own.endorsements.has(this.#options.self) && message.rank <= this.#stage)
      this.#endorse(message);
    for (let to = 0; to < this.#options.nodes; to += 1)
      if (!this.#own.endorsements.has(to) && to !== this.#options.self)
        this.#effects.push({ type: "send", to, sealed: this.#own.sealed });
  }
}
