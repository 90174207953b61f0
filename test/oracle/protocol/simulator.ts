import { faultyNodesOf } from "../../../src/chainlink/quorum.ts";
import type { Observation } from "../../../src/oracle/aggregateObservations.ts";
import type { Sealed } from "../../../src/oracle/protocol/message.ts";
import type { RoundEffect, RoundInput, RoundRecord } from "../../../src/oracle/protocol/roundTypes.ts";
import { EventQueue } from "./eventQueue.ts";
import { Invariants, InvariantViolation } from "./invariants.ts";
import { createRandom, type SeededRandom } from "./random.ts";
import {
  commitmentOf,
  digestOf,
  keyOf,
  lieOf,
  observationOf,
  sealed,
  type Protocol,
  type SimulatedRound,
  type SourceKind,
} from "./world.ts";
import { WrongNode } from "./wrongNode.ts";

const STAGE_TIME = 100;
const RESEND_TIME = 70;
const LONGEST_DOWN_TIME = 200;
/** Stages that may pass after everything is well again before the request must be answered. */
const STAGES_TO_END = 3;

const WRONG = [
  "liar",
  "silent",
  "withholder",
  "equivocator",
  "shopper",
  "shopper",
  "anything",
  "anything",
] as const;

type Behaviour = "honest" | (typeof WRONG)[number];

type Event =
  | { readonly type: "deliver"; readonly to: number; readonly sealed: Sealed }
  | { readonly type: "stageOver" | "resend" | "observe"; readonly node: number; readonly life: number }
  | { readonly type: "start"; readonly node: number }
  | { readonly type: "mined" };

interface SimulatedNode {
  readonly index: number;
  readonly behaviour: Behaviour;
  readonly wrong: WrongNode;
  /** One round; two for a node that tells some nodes one thing and the others another. */
  rounds: SimulatedRound[];
  records: RoundRecord[];
  /** Number of starts: timers of an earlier life are ignored. */
  life: number;
  isUp: boolean;
}

/** The result of a schedule. */
export interface ScheduleOutcome {
  readonly events: number;
  readonly violation: string | undefined;
}

/**
 * Runs one schedule, determined by its seed: nodes, faults, delays, losses, duplicates, partitions, kills.
 *
 * @param nodes number of nodes; default 4 to 7.
 */
export function runSchedule(protocol: Protocol, seed: number, nodes?: number): ScheduleOutcome {
  const schedule = new Schedule(protocol, createRandom(seed), nodes);
  try {
    return { events: schedule.run(), violation: undefined };
  } catch (error) {
    if (!(error instanceof InvariantViolation)) throw error;
    return { events: schedule.events, violation: error.message };
  }
}

class Schedule {
  readonly #protocol: Protocol;
  readonly #random: SeededRandom;
  readonly #queue = new EventQueue<Event>();
  readonly #nodes: readonly SimulatedNode[];
  readonly #faulty: number;
  readonly #order: readonly number[];
  readonly #kind: SourceKind;
  readonly #invariants: Invariants;
  readonly #seen = new Set<string>();
  readonly #loss: number;
  readonly #repetition: number;
  readonly #kills: number;
  readonly #longestDelay: number;
  /** From this time on, these nodes are partitioned from the others until all is well. */
  readonly #cutFrom: number;
  readonly #cutOff: ReadonlySet<number>;
  /** From this time on, nothing is lost, late or killed. */
  readonly #wellFrom: number;
  #time = 0;
  #isAnswered = false;
  events = 0;

  constructor(protocol: Protocol, random: SeededRandom, nodes: number | undefined) {
    this.#protocol = protocol;
    this.#random = random;
    const count = nodes ?? random.pick([4, 4, 4, 4, 5, 6, 7]);
    this.#faulty = faultyNodesOf(count);
    this.#order = shuffle(count, random);
    this.#kind = protocol.isDerived ? "same" : random.pick(["same", "numbers", "texts", "errors"]);
    this.#loss = random.pick([0, 0.05, 0.3]);
    this.#repetition = random.pick([0, 0.2]);
    this.#kills = random.pick([0, 0.01, 0.05]);
    this.#longestDelay = random.pick([3, 30, 250]);
    this.#wellFrom = random.pick([0, 150, 400, 900]);
    this.#cutFrom = random.pick([0, 20, 120, Infinity, Infinity, Infinity]);
    this.#cutOff = new Set(shuffle(count, random).slice(0, 1 + random.below(count - 1)));
    const wrong = new Set(shuffle(count, random).slice(0, random.below(this.#faulty + 1)));
    const world = { nodes: count, faulty: this.#faulty, order: this.#order };
    this.#nodes = Array.from({ length: count }, (_, index) => {
      const behaviour = wrong.has(index) ? random.pick(WRONG) : "honest";
      const inventor = new WrongNode(world, { self: index, isShopper: behaviour === "shopper", random });
      return { index, behaviour, wrong: inventor, rounds: [], records: [], life: 0, isUp: false };
    });
    const isHonest = (node: number): boolean => this.#nodes[node]!.behaviour === "honest";
    this.#invariants = new Invariants({
      ...world,
      kind: this.#kind,
      isDerived: protocol.isDerived === true,
      isHonest,
      seen: this.#seen,
    });
  }

  run(): number {
    for (const { index } of this.#nodes) this.#queue.push(this.#delay(), { type: "start", node: index });
    const end =
      this.#wellFrom +
      LONGEST_DOWN_TIME +
      STAGE_TIME * (this.#nodes.length + STAGES_TO_END) +
      8 * RESEND_TIME;
    for (let next = this.#queue.pop(); next !== undefined; next = this.#queue.pop()) {
      this.#time = next.time;
      if (this.#isAnswered || this.#time > end) break;
      this.events += 1;
      this.#happen(next.event);
    }
    this.#invariants.onEnd(this.#isAnswered);
    return this.events;
  }

  #happen(event: Event): void {
    if (event.type === "mined") this.#isAnswered = true;
    else if (event.type === "deliver") this.#deliver(this.#nodes[event.to]!, event.sealed);
    else if (event.type === "start") this.#start(this.#nodes[event.node]!);
    else {
      const node = this.#nodes[event.node]!;
      if (!node.isUp || node.life !== event.life) return;
      if (event.type === "observe") return this.#observe(node);
      if (event.type === "resend") this.#later(node, "resend", RESEND_TIME);
      this.#handle(node, { type: event.type });
    }
  }

  #start(node: SimulatedNode): void {
    const { index: self, behaviour, records } = node;
    node.life += 1;
    node.isUp = true;
    const options = {
      self,
      nodes: this.#nodes.length,
      faulty: this.#faulty,
      order: this.#order,
      commitmentOf,
      agree: (observations: readonly Observation[]) => this.#protocol.agree(observations, this.#faulty),
      seal: sealed,
      signReport: (rank: number, result: Observation) => ({
        digest: digestOf(rank, result),
        signature: "0x" as const,
      }),
    };
    const count = { silent: 0, anything: 0, shopper: 0, equivocator: 2 }[behaviour as string] ?? 1;
    node.rounds = Array.from({ length: count }, () => new this.#protocol.Round(options, records));
    this.#later(node, "observe", 1 + this.#random.below(20));
    this.#later(node, "resend", RESEND_TIME);
  }

  #later(node: SimulatedNode, type: "stageOver" | "resend" | "observe", delay: number): void {
    this.#queue.push(this.#time + delay, { type, node: node.index, life: node.life });
  }

  #observe(node: SimulatedNode): void {
    if (isInventor(node)) return this.#speak(node);
    for (const [index, round] of node.rounds.entries()) {
      const isLie = node.behaviour === "liar" || index > 0;
      const observation = isLie ? lieOf(this.#random) : observationOf(this.#kind, this.#random);
      if (node.behaviour === "honest") this.#seen.add(keyOf(observation));
      const salt = `0x${this.#random.below(1e6)}` as const;
      this.#run(node, round, { type: "observed", observation, salt });
    }
  }

  #deliver(node: SimulatedNode, message: Sealed): void {
    if (!node.isUp) return;
    if (isInventor(node)) {
      node.wrong.hear(message);
      if (this.#random.chance(0.6)) this.#speak(node);
    }
    this.#handle(node, { type: "received", sealed: message });
  }

  #speak(node: SimulatedNode): void {
    const said = node.wrong.speak();
    if (said !== undefined) this.#send(node, said.to, said.sealed);
  }

  #handle(node: SimulatedNode, input: RoundInput): void {
    for (const round of node.rounds) if (node.isUp) this.#run(node, round, input);
  }

  /** Executes a round's effects in order; the process may be killed before any of them. */
  #run(node: SimulatedNode, round: SimulatedRound, input: RoundInput): void {
    const isHonest = node.behaviour === "honest";
    for (const effect of round.handle(input)) {
      if (isHonest && this.#time < this.#wellFrom && this.#random.chance(this.#kills))
        return this.#kill(node);
      if (effect.type === "record") node.records.push(effect.record);
      if (isHonest)
        this.#invariants.onEffect(node.index, effect, { stage: round.stage, records: node.records });
      this.#do(node, round, effect);
    }
  }

  #kill(node: SimulatedNode): void {
    node.isUp = false;
    node.rounds = [];
    this.#queue.push(this.#time + 1 + this.#random.below(LONGEST_DOWN_TIME), {
      type: "start",
      node: node.index,
    });
  }

  #do(node: SimulatedNode, round: SimulatedRound, effect: RoundEffect): void {
    if (effect.type === "startStage") return this.#later(node, "stageOver", STAGE_TIME);
    if (node.behaviour === "withholder" && (effect.type === "transmit" || isProposal(effect))) return;
    if (effect.type === "send") return this.#send(node, effect.to, effect.sealed, node.rounds.indexOf(round));
    // A transaction may be lost, or its block removed by a reorg.
    if (effect.type === "transmit" && (this.#time >= this.#wellFrom || this.#random.chance(0.3)))
      this.#queue.push(this.#time + this.#delay(), { type: "mined" });
  }

  #send(from: SimulatedNode, to: "all" | number, message: Sealed, side = 0): void {
    this.#invariants.onSent(message);
    for (const { index } of this.#nodes) {
      if (index === from.index || (to !== "all" && to !== index)) continue;
      if (from.behaviour === "equivocator" && index % 2 !== side) continue;
      const isWell = this.#time >= this.#wellFrom;
      const isCut = this.#time >= this.#cutFrom && this.#cutOff.has(from.index) !== this.#cutOff.has(index);
      if (!isWell && (isCut || this.#random.chance(this.#loss))) continue;
      const copies = !isWell && this.#random.chance(this.#repetition) ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1)
        this.#queue.push(this.#time + this.#delay(), { type: "deliver", to: index, sealed: message });
    }
  }

  #delay(): number {
    return 1 + this.#random.below(this.#time >= this.#wellFrom ? 3 : this.#longestDelay);
  }
}

function isInventor({ behaviour }: SimulatedNode): boolean {
  return behaviour === "anything" || behaviour === "shopper";
}

function isProposal(effect: RoundEffect): boolean {
  return effect.type === "send" && effect.sealed.message.kind === "proposal";
}

function shuffle(count: number, random: SeededRandom): number[] {
  const order = Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last -= 1) {
    const chosen = random.below(last + 1);
    [order[last], order[chosen]] = [order[chosen]!, order[last]!];
  }
  return order;
}
