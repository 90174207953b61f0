import { RpcError } from "../lib/nodeAnswers.ts";
import { troubleOf } from "./nodeTrouble.ts";
import type { PoolNode } from "./poolNode.ts";

export interface AskInTurnOptions {
  readonly ask: (node: PoolNode) => Promise<unknown>;
  /** Milliseconds without an answer after which the next node is asked as well. */
  readonly hedgeMs: number;
  /**
   * Whether `null` may mean that this node doesn't have the data yet. The other healthy nodes are then asked as well: if one node lacks
   * a receipt and another one reports the transaction's nonce as spent, the transaction looks lost.
   */
  readonly mayBeUnknown: boolean;
}

/**
 * Asks one node after the other until one answers: the next one at once when a node fails, and after `hedgeMs` when it is slow. If a
 * node doesn't know the data, it counts as unknown once the other healthy nodes don't know it either, or are silent for `hedgeMs`.
 *
 * @throws {NoNodeError} when none can be asked.
 */
export function askInTurn(
  nodes: readonly PoolNode[],
  { ask, hedgeMs, mayBeUnknown }: AskInTurnOptions,
): Promise<{ readonly answer: unknown; readonly by: PoolNode }> {
  return new Promise((resolve, reject) => {
    /** Nodes that have not answered yet, with the time they were asked. */
    const open = new Map<PoolNode, number>();
    let lacking: unknown;
    let unknownTo: PoolNode | undefined;
    let next = 0;
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;

    const end = (settle: () => void): void => {
      isOver = true;
      clearTimeout(timer);
      settle();
    };
    const endUnknown = (by: PoolNode): void => end(() => resolve({ answer: null, by }));
    const askNext = (): void => {
      clearTimeout(timer);
      if (isOver) return;
      // Nodes that are backing off aren't asked again for what another one has already answered.
      while (unknownTo !== undefined && next < nodes.length && nodes[next]!.pauseMs() > 0) next += 1;
      const node = nodes[next];
      if (node === undefined) {
        if (open.size > 0) {
          if (unknownTo !== undefined) timer = setTimeout(endUnknown, hedgeMs, unknownTo);
          return;
        }
        if (unknownTo !== undefined) return endUnknown(unknownTo);
        return end(() => reject(lacking ?? new NoNodeError([])));
      }
      next += 1;
      open.set(node, performance.now());
      timer = setTimeout(askNext, hedgeMs);
      ask(node).then(
        (answer) => {
          open.delete(node);
          if (isOver) return;
          if (answer === null && mayBeUnknown) {
            unknownTo ??= node;
            return askNext();
          }
          for (const [slow, askedAt] of open)
            if (performance.now() - askedAt >= hedgeMs) slow.fail(`no answer within ${hedgeMs} ms`);
          end(() => resolve({ answer, by: node }));
        },
        (error: unknown) => {
          open.delete(node);
          if (isOver) return;
          const trouble = troubleOf((error as RpcError).cause);
          if (trouble === "answer") return end(() => reject(error));
          if (trouble === "lacking") lacking ??= error;
          askNext();
        },
      );
    };
    askNext();
  });
}

/** None of a network's nodes can be asked at the moment. */
export class NoNodeError extends RpcError {
  constructor(failures: readonly string[]) {
    super("no node answers", failures.join("; "));
  }
}
