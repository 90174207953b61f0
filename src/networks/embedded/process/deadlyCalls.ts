import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { Hex } from "viem";
import { AnswerError, BrokenConnectionError } from "../../../evm/connection.ts";
import { readSigned } from "../../../evm/signedTransaction.ts";
import { fromHexText, toHexText } from "../../../lib/hex.ts";
import { withDeadline } from "../../../lib/deadline.ts";
import { keccak256 } from "../../../lib/keccak.ts";
import { createMutex } from "../../../lib/mutex.ts";
import { RPC_CODES } from "../rpcErrors.ts";

/** After a death, transactions are sent one at a time for this long. */
const ALONE_MS = 60_000;
/** A transaction that has no answer by then, while nothing is being mined, waits in the pool for an earlier nonce. */
const ANSWER_MS = 5_000;

/** A connection breaks a few milliseconds before the process is known to have died. */
const DEATH_KNOWN_MS = 1_000;

/** Deaths with a transaction alone under way until it counts as deadly: a user's trace at the same time may be to blame once. */
const DEATHS_ALONE = 2;

/**
 * Transactions whose execution takes more memory than Anvil may have. Anvil records what every inner call was given, so a contract that passes
 * on much data over and over ends it, and would end every later process too, because its sender sends it again.
 */
export interface DeadlyCalls {
  /** Sends a signed transaction with `send`, unless it is known to be deadly. */
  send<Answer>(raw: Hex, send: () => Promise<Answer>): Promise<Answer>;
  /** To be called when a process has run out of memory: what was under way alone is to blame. */
  onOutOfMemory(): void;
}

export interface DeadlyCallsOptions {
  /** Holds the list of one chain; only written when a process dies. */
  readonly file: string;
  /** Whether the process is mining transactions: on a busy machine it takes long to run out of memory. */
  readonly isMining: () => Promise<boolean>;
  readonly onError: (error: unknown) => void;
}

/** Opens the list of one chain. */
export function openDeadlyCalls({ file, isMining, onError }: DeadlyCallsOptions): DeadlyCalls {
  const deadly = new Set(existsSync(file) ? readFileSync(file, "utf8").split("\n") : []);
  const inTurn = createMutex();
  let aloneUntil = -Infinity;
  let underWay = 0;
  /** What is under way alone, or was when the connection broke, which is before the process is known to have died. */
  let suspect: string | undefined;
  const deaths = new Map<string, number>();
  const acquit = (key: string): void => {
    deaths.delete(key);
    if (suspect === key) suspect = undefined;
  };
  const condemn = (key: string): void => {
    deadly.add(key);
    try {
      appendFileSync(file, `${key}\n`, { mode: 0o600, flush: true });
    } catch (error) {
      onError(error);
    }
  };

  const death = createSignal();

  return {
    async send(raw, send) {
      const key = keyOf(raw);
      const run = async (isAlone: boolean) => {
        if (deadly.has(key)) throw new DeadlyCallError();
        suspect = isAlone && underWay === 0 ? key : undefined;
        underWay += 1;
        try {
          const answer = await send();
          acquit(key);
          return answer;
        } catch (error) {
          if (error instanceof AnswerError) acquit(key);
          throw error;
        } finally {
          underWay -= 1;
        }
      };
      if (performance.now() >= aloneUntil) return await run(false);
      return await new Promise((resolve, reject) => {
        void inTurn(async () => {
          const answer = run(true);
          answer.then(resolve, reject);
          const ended = answer.catch(async (error: unknown) => {
            if (error instanceof AnswerError) return;
            // The next one must not be blamed for this death.
            if (error instanceof BrokenConnectionError) await endsWithin(death.next(), DEATH_KNOWN_MS);
            // A call that is given up as too slow goes on in the process.
            else await death.next();
          });
          const until = performance.now() + ALONE_MS;
          while (!(await endsWithin(ended, ANSWER_MS)) && performance.now() < until && (await isMining()));
        });
      });
    },
    onOutOfMemory() {
      aloneUntil = performance.now() + ALONE_MS;
      death.give();
      if (suspect === undefined) return;
      const count = (deaths.get(suspect) ?? 0) + 1;
      deaths.set(suspect, count);
      if (count >= DEATHS_ALONE) condemn(suspect);
      suspect = undefined;
    },
  };
}

/** An event that can be waited for. */
function createSignal(): { next(): Promise<void>; give(): void } {
  const waiting: (() => void)[] = [];
  return {
    next: () => new Promise((resolve) => waiting.push(resolve)),
    give() {
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

/** Resolves to whether some work, which never rejects, ends in time. */
const endsWithin = (work: Promise<unknown>, timeoutMs: number): Promise<boolean> =>
  withDeadline(work, timeoutMs).then(
    () => true,
    () => false,
  );

/** The sender may sign the same call again, with another nonce, price or gas. */
function keyOf(raw: Hex): string {
  let text = raw;
  try {
    const { to = "0x", data } = readSigned({ raw, hash: "0x", nonce: 0 }).call;
    text = `${to}${data.slice(2)}`;
  } catch {
    // The node refuses what can't be read.
  }
  return toHexText(keccak256(fromHexText(text)));
}

/** A transaction isn't sent, because it would end the process. */
class DeadlyCallError extends AnswerError {
  constructor() {
    super(
      "the transaction is too large to execute: a contract that it calls passes on so much data that the chain's process runs out of memory",
      RPC_CODES.serverError,
      undefined,
    );
  }
}
