import type { Observation } from "../../../src/oracle/aggregateObservations.ts";
import type { Message, Proposal, Reveal, Sealed } from "../../../src/oracle/protocol/message.ts";
import { agree } from "../../../src/oracle/protocol/agree.ts";
import type { SeededRandom } from "./random.ts";
import { commitmentOf, digestOf, lieOf, sealed } from "./world.ts";

/** Maximum number of messages that one wrong node invents in a schedule. */
const MAX_INVENTED = 60;
const MAX_REMEMBERED = 48;

/**
 * A node that says anything its key can sign, at any time: commitments and reveals of several observations, bundles of its choice at any
 * rank, too short or with one reveal twice, signatures of anything, false accusations, and replays of what others said.
 *
 * A `shopper` keeps to one observation, and requests signatures for one bundle after the other until it likes a result.
 */
export class WrongNode {
  readonly #self: number;
  readonly #nodes: number;
  readonly #faulty: number;
  readonly #order: readonly number[];
  readonly #random: SeededRandom;
  readonly #heard: Sealed[] = [];
  readonly #reveals: Sealed<Reveal>[] = [];
  readonly #isShopper: boolean;
  readonly #lie: Observation;
  #invented = 0;

  constructor(
    world: { readonly nodes: number; readonly faulty: number; readonly order: readonly number[] },
    {
      self,
      isShopper,
      random,
    }: { readonly self: number; readonly isShopper: boolean; readonly random: SeededRandom },
  ) {
    this.#self = self;
    this.#nodes = world.nodes;
    this.#faulty = world.faulty;
    this.#order = world.order;
    this.#random = random;
    this.#isShopper = isShopper;
    this.#lie = lieOf(random);
  }

  hear(message: Sealed): void {
    if (message.message.kind === "proposal") this.#reveals.push(...message.message.reveals);
    if (message.message.kind === "reveal") this.#reveals.push(message as Sealed<Reveal>);
    this.#heard.push(message);
    if (this.#heard.length > MAX_REMEMBERED) this.#heard.shift();
    if (this.#reveals.length > MAX_REMEMBERED) this.#reveals.shift();
  }

  /** Returns one message, for one node or for all. */
  speak(): { readonly to: "all" | number; readonly sealed: Sealed } | undefined {
    if (this.#invented >= MAX_INVENTED) return undefined;
    this.#invented += 1;
    const message = this.#invent();
    const to = this.#random.chance(0.5) ? "all" : this.#random.below(this.#nodes);
    return message && { to, sealed: message };
  }

  #invent(): Sealed | undefined {
    const random = this.#random;
    switch (this.#isShopper ? random.pick([1, 2, 2, 2]) : random.below(6)) {
      case 0:
        return sealed<Message>({
          kind: "commit",
          sender: this.#self,
          commitment: commitmentOf(this.#reveal()),
        });
      case 1:
        return sealed<Message>(this.#reveal());
      case 2:
        return sealed<Message>(this.#proposal());
      case 3:
        return this.#endorsement();
      case 4:
        return this.#accusation();
      default:
        return this.#heard.length === 0 ? undefined : random.pick(this.#heard);
    }
  }

  #reveal(): Reveal {
    const observation = this.#isShopper ? this.#lie : lieOf(this.#random);
    if (this.#isShopper) return { kind: "reveal", sender: this.#self, salt: "0x0", observation };
    return { kind: "reveal", sender: this.#self, salt: `0x${this.#random.below(2)}`, observation };
  }

  #proposal(): Proposal {
    const random = this.#random;
    const wanted = 2 * this.#faulty + 1;
    const own = sealed(this.#reveal());
    const known = [...new Map(this.#reveals.map((one) => [one.message.sender, one])).values()];
    const shapes: readonly (readonly Sealed<Reveal>[])[] = [
      [own],
      Array.from({ length: wanted }, () => own),
      [own, ...known.filter(({ message }) => message.sender !== this.#self)].slice(0, wanted),
      Array.from({ length: wanted }, () => (this.#reveals.length === 0 ? own : random.pick(this.#reveals))),
    ];
    if (this.#isShopper) {
      const others = known.filter(({ message }) => message.sender !== this.#self);
      const left = random.below(others.length + 1);
      const reveals = [own, ...others].filter((_, index) => index !== left).slice(0, wanted);
      return { kind: "proposal", sender: this.#self, rank: this.#order.indexOf(this.#self), reveals };
    }
    const ownRank = this.#order.indexOf(this.#self) + this.#nodes * random.below(2);
    const rank = random.chance(0.8) ? ownRank : random.below(2 * this.#nodes);
    return { kind: "proposal", sender: this.#self, rank, reveals: random.pick(shapes) };
  }

  #endorsement(): Sealed | undefined {
    const proposals = this.#heard.flatMap(({ message }) => (message.kind === "proposal" ? [message] : []));
    if (proposals.length === 0) return this.#signature();
    const { rank, reveals } = this.#random.pick(proposals);
    const right = agree(
      reveals.map(({ message }) => message.observation),
      this.#faulty,
    );
    const digest = digestOf(rank, this.#random.chance(0.5) ? right : lieOf(this.#random));
    return sealed<Message>({ kind: "endorsement", sender: this.#self, rank, digest, signature: "0x" });
  }

  /** Signs what another node has signed, or a lie. */
  #signature(): Sealed | undefined {
    const signed = this.#heard.flatMap(({ message }) => (message.kind === "endorsement" ? [message] : []));
    if (signed.length === 0) return undefined;
    const { rank, digest } = this.#random.pick(signed);
    const lie = this.#random.chance(0.5);
    return sealed<Message>({
      kind: "endorsement",
      sender: this.#self,
      rank,
      digest: lie ? digestOf(rank, lieOf(this.#random)) : digest,
      signature: "0x",
    });
  }

  #accusation(): Sealed | undefined {
    const all = [...this.#heard, ...this.#reveals];
    if (all.length === 0) return undefined;
    const first = this.#random.pick(all);
    const others = this.#random.chance(0.2)
      ? all
      : all.filter(({ message }) => message.sender === first.message.sender);
    return sealed<Message>({
      kind: "evidence",
      sender: this.#self,
      first,
      second: this.#random.pick(others),
    });
  }
}
