import type { Hex } from "viem";
import { signaturesOf } from "../../chainlink/quorum.ts";
import type { Observation } from "../aggregateObservations.ts";
import { isConflict } from "./conflict.ts";
import type { Endorsement, Evidence, Sealed } from "./message.ts";
import { MAX_RANK } from "./round.ts";
import type { RoundEffect, RoundInput, RoundOptions, RoundRecord } from "./roundTypes.ts";

/** Rank of every endorsement: the report is the same at all stages. */
const RANK = 0;

/**
 * One node's part in answering a request whose result each node derives from the chain alone: PROTOCOL.md, "Derived results", as a state
 * machine. Like `Round`, it has no side effects and no clock. It is given the derived result as its observation.
 */
export class DerivedRound {
  readonly #options: RoundOptions;
  #own:
    | { readonly result: Observation; readonly digest: Hex; readonly sealed: Sealed<Endorsement> }
    | undefined;
  /** The digest that this node has signed, in this process or an earlier one. */
  #signed: Hex | undefined;
  /** By sender: the first one. */
  readonly #endorsements = new Map<number, Sealed<Endorsement>>();
  readonly #evidence = new Map<number, Sealed<Evidence>>();
  /** −1 until this node has a result. */
  #stage = -1;
  /** Last stage at which this node transmitted. */
  #transmittedAt = -1;
  #hasObserved = false;
  #effects: RoundEffect[] = [];

  /** `records`: all records of earlier processes, in order. */
  constructor(options: RoundOptions, records: readonly RoundRecord[] = []) {
    this.#options = options;
    for (const record of records) if (record.kind === "endorsed") this.#signed = record.digest;
  }

  /** Whether this process has derived the result. */
  get hasObserved(): boolean {
    return this.#hasObserved;
  }

  get stage(): number {
    return this.#stage;
  }

  /** Processes one input and returns the effects to perform. */
  handle(input: RoundInput): readonly RoundEffect[] {
    this.#effects = [];
    if (input.type === "observed") this.#onDerived(input.observation);
    else if (input.type === "received") this.#onReceived(input.sealed);
    else if (input.type === "stageOver") this.#onStageOver();
    else this.#resend();
    return this.#effects;
  }

  /** Signs the result, unless this node has signed another one. */
  #onDerived(result: Observation): void {
    if (this.#hasObserved) return;
    this.#hasObserved = true;
    const { self: sender, seal, signReport } = this.#options;
    const { digest, signature } = signReport(RANK, result);
    if (this.#signed !== undefined && this.#signed !== digest) return;
    if (this.#signed === undefined)
      this.#effects.push({ type: "record", record: { kind: "endorsed", rank: RANK, digest } });
    this.#signed = digest;
    const sealed = seal<Endorsement>({ kind: "endorsement", sender, rank: RANK, digest, signature });
    this.#own = { result, digest, sealed };
    this.#endorsements.set(sender, sealed);
    this.#effects.push({ type: "send", to: "all", sealed });
    this.#enterStage(0);
  }

  #onReceived(sealed: Sealed): void {
    const { message } = sealed;
    if (message.kind === "evidence") this.#onEvidence(sealed as Sealed<Evidence>);
    else if (message.kind === "endorsement" && message.rank === RANK)
      this.#onEndorsement(sealed as Sealed<Endorsement>);
  }

  #onEndorsement(sealed: Sealed<Endorsement>): void {
    const { sender } = sealed.message;
    if (this.#evidence.has(sender)) return;
    const known = this.#endorsements.get(sender);
    if (known === undefined) this.#endorsements.set(sender, sealed);
    else if (isConflict(known.message, sealed.message, this.#options.commitmentOf))
      this.#onEvidence(
        this.#options.seal({ kind: "evidence", sender: this.#options.self, first: known, second: sealed }),
      );
    this.#transmit();
  }

  #onEvidence(sealed: Sealed<Evidence>): void {
    const { first, second } = sealed.message;
    const accused = first.message.sender;
    if (this.#evidence.has(accused) || !isConflict(first.message, second.message, this.#options.commitmentOf))
      return;
    this.#evidence.set(accused, sealed);
    this.#endorsements.delete(accused);
    this.#effects.push({ type: "accuse", evidence: sealed }, { type: "send", to: "all", sealed });
  }

  #onStageOver(): void {
    if (this.#stage >= 0 && this.#stage < MAX_RANK) this.#enterStage(this.#stage + 1);
  }

  #enterStage(stage: number): void {
    this.#stage = stage;
    this.#effects.push({ type: "startStage" });
    this.#transmit();
  }

  /** Transmits in this node's turn, once for each, as soon as enough nodes have signed the same result. */
  #transmit(): void {
    const { nodes, faulty, order, self } = this.#options;
    const own = this.#own;
    if (own === undefined || this.#transmittedAt === this.#stage || order[this.#stage % nodes] !== self)
      return;
    const matching = [...this.#endorsements.values()]
      .map(({ message }) => message)
      .filter(({ digest }) => digest === own.digest);
    const wanted = signaturesOf(nodes, faulty);
    if (matching.length < wanted) return;
    this.#transmittedAt = this.#stage;
    const endorsements = matching.slice(0, wanted);
    this.#effects.push({ type: "transmit", rank: this.#stage, result: own.result, endorsements });
  }

  #resend(): void {
    if (this.#own !== undefined) this.#effects.push({ type: "send", to: "all", sealed: this.#own.sealed });
    for (const sealed of this.#evidence.values()) this.#effects.push({ type: "send", to: "all", sealed });
  }
}
