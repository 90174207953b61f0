import type { Hex } from "viem";
import { DerivedRound } from "../protocol/derivedRound.ts";
import { Round } from "../protocol/round.ts";
import type { RoundEffect, RoundInput, RoundOptions } from "../protocol/roundTypes.ts";
import type { Wire } from "../protocol/wire.ts";
import { decodeRecord, encodeRecord, type RoundJournal } from "./roundJournal.ts";
import type { StageClock } from "./stageClock.ts";

/** Longer than most requests take; undelivered bodies are retried independently of this. */
const FIRST_RESEND_MS = 4_000;
const LONGEST_RESEND_MS = 8_000;

/** A self-driving round: it writes its records, sends its messages and sets its timers. */
export interface RoundTask {
  give(input: RoundInput): void;
  /** Whether the round has this node's own observation; known once `ready` has resolved. */
  readonly hasObserved: boolean;
  /** Resolves once the records of an earlier process are read. Never rejects. */
  readonly ready: Promise<void>;
  close(): void;
}

export interface RoundTaskOptions {
  readonly requestId: Hex;
  readonly round: RoundOptions;
  /** Whether the result follows from the chain alone, so that nodes need not commit to it. */
  readonly isDerived: boolean;
  readonly clock: StageClock;
  readonly wire: Wire;
  readonly journal: RoundJournal;
  readonly send: (to: "all" | number, bytes: Uint8Array) => void;
  readonly onTransmit: (effect: RoundEffect & { readonly type: "transmit" }) => void;
  readonly onAccuse: (effect: RoundEffect & { readonly type: "accuse" }) => void;
  /** Called when a read or write failed: the task has stopped, and a new one may start from the journal. */
  readonly onFailure: (error: unknown) => void;
}

/** Starts this node's part in one request, from where an earlier process left off. */
export function createRoundTask(options: RoundTaskOptions): RoundTask {
  const { requestId, wire, journal, onFailure } = options;
  let round: Round | DerivedRound | undefined;
  let isClosed = false;
  let stopStage = (): void => {};
  let resendTimer: NodeJS.Timeout | undefined;
  let work = begin();
  const ready = work;

  async function begin(): Promise<void> {
    await attempt(async () => {
      const records = (await journal.read(requestId)).map((text) => decodeRecord(text, wire));
      round = new (options.isDerived ? DerivedRound : Round)(options.round, records);
      scheduleResend(FIRST_RESEND_MS);
    });
  }

  /** Runs a step unless an earlier one has failed. */
  async function attempt(step: () => Promise<void>): Promise<void> {
    if (isClosed) return;
    try {
      await step();
    } catch (error) {
      if (isClosed) return;
      close();
      onFailure(error);
    }
  }

  async function take(input: RoundInput): Promise<void> {
    for (const effect of round!.handle(input)) {
      if (isClosed) return;
      if (effect.type === "record") await journal.append(requestId, encodeRecord(effect.record));
      else if (effect.type === "send") options.send(effect.to, effect.sealed.bytes);
      else if (effect.type === "startStage") startStage();
      else if (effect.type === "transmit") options.onTransmit(effect);
      else options.onAccuse(effect);
    }
  }

  function give(input: RoundInput): void {
    // `attempt` never rejects.
    if (!isClosed) work = work.then(() => attempt(() => take(input)));
  }

  function startStage(): void {
    stopStage();
    const cycles = Math.floor(round!.stage / options.round.nodes);
    stopStage = options.clock.start(2 ** cycles, () => give({ type: "stageOver" }));
  }

  function scheduleResend(delay: number): void {
    resendTimer = setTimeout(() => {
      give({ type: "resend" });
      scheduleResend(Math.min(2 * delay, LONGEST_RESEND_MS));
    }, delay).unref();
  }

  function close(): void {
    isClosed = true;
    stopStage();
    clearTimeout(resendTimer);
  }

  return {
    give,
    ready,
    close,
    get hasObserved() {
      return round?.hasObserved ?? false;
    },
  };
}
