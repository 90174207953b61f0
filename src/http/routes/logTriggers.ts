import { listOf } from "../../api/common.ts";
import { LogRunPage, LogTriggerView } from "../../api/logTriggers.ts";
import type { LogTriggers } from "../../triggers/logTriggers.ts";
import type { HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";

const ALL = "/api/triggers";
const ONE = "/api/triggers/:triggerId";

/** The log triggers of the key's dapp. */
export function logTriggerOperations(deps: HttpDeps, triggers: LogTriggers): readonly Operation[] {
  const operation = createOperations(deps, { tag: "Triggers" });
  return [
    operation({
      id: "createTrigger",
      method: "post",
      path: ALL,
      summary: "Create a log trigger",
      description:
        'Makes a request for each log of a contract that matches. In `action`, `{"event": "name"}` stands for a value of the log: an ' +
        "argument of `event`, or `$address`, `$transactionHash`, `$logIndex`, `$blockNumber`, `$blockHash`, `$data`, `$topics`. Each log is " +
        "recorded once, before its request is made. A dapp has at most 100 log triggers, which make at most 20 requests a second on a network; " +
        "the rest wait, up to 10,000.",
      request: "createTrigger",
      example: {
        name: "Draw",
        addresses: ["0x5fbdb2315678afecb367f032d93f642f64180aa3"],
        event: "event Closed(uint256 indexed round, uint256 players)",
        action: { preset: "range", min: "1", max: { event: "players" } },
      },
      answer: LogTriggerView,
      run: ({ dapp, values }) => triggers.create(dapp, values),
      errors: ["chain_unavailable"],
    }),
    operation({
      id: "listTriggers",
      path: ALL,
      summary: "List log triggers",
      description: "The log triggers of the key's dapp, oldest first.",
      answer: listOf(LogTriggerView),
      run: async ({ dapp: { id } }) => ({ items: await triggers.list(id) }),
    }),
    operation({
      id: "getTrigger",
      path: ONE,
      summary: "Read a log trigger",
      description: "A log trigger, and up to which block it has been shown logs.",
      answer: LogTriggerView,
      run: ({ dapp, param }) => triggers.get(dapp.id, param("triggerId")),
    }),
    operation({
      id: "changeTrigger",
      method: "patch",
      path: ONE,
      summary: "Change, pause or resume a log trigger",
      description:
        "Changes the members that are given. A paused trigger takes no logs and its runs wait; once resumed, it takes those of the blocks " +
        "from then on. From this call on, its requests count against the key of this call.",
      request: "changeTrigger",
      example: { paused: true },
      answer: LogTriggerView,
      async run({ ctx, dapp, param, values }) {
        const id = param("triggerId");
        ctx.state.before = await triggers.get(dapp.id, id);
        return await triggers.change(dapp, id, values);
      },
    }),
    operation({
      id: "deleteTrigger",
      method: "delete",
      path: ONE,
      summary: "Delete a log trigger",
      description: "Deletes a log trigger with its list of runs. Their requests stay.",
      answer: LogTriggerView,
      run: ({ dapp, param }) => triggers.delete(dapp.id, param("triggerId")),
    }),
    operation({
      id: "listTriggerRuns",
      path: `${ONE}/runs`,
      summary: "List a log trigger's runs",
      description:
        "Each log of the last 30 days that matched, newest first, page by page: with the request that it led to, what it waits for, or why " +
        "there is none.",
      request: "runs",
      answer: LogRunPage,
      run: ({ dapp, param, values }) => triggers.runs(dapp.id, param("triggerId"), values),
    }),
  ];
}
