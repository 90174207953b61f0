import {
  ConnectionError,
  type RequestEvent,
  type Submitted,
  type TycheClient,
  type TycheExplorer,
} from "../client/index.ts";
import { createMemo } from "../lib/memo.ts";
import shapes from "./answerShapes.json" with { type: "json" };

/**
 * Returns a client whose answers have at least what the commands read of them. `origin` is the service's address, for messages. What
 * answers there may be of another version, or no service of Tyche's at all. A call that takes long says that it waits.
 *
 * Its calls throw {@link UnexpectedAnswerError} for any other answer.
 */
export function createCheckedClient<Presets>(
  client: TycheClient<Presets>,
  origin: string,
): TycheClient<Presets> {
  const { assert, checked } = createChecks(origin);
  async function* checkedStream<Result>(
    events: AsyncGenerator<RequestEvent<Result>>,
  ): AsyncGenerator<RequestEvent<Result>> {
    for await (const event of events) {
      if (event.type === "state") await assert(event, "a request's state", shapes.StateChange);
      else await assert(event.result, "a result", shapes.Outcome);
      yield event;
    }
  }
  const submitted =
    <Given extends readonly unknown[], Result>(call: (...given: Given) => Promise<Submitted<Result>>) =>
    async (...given: Given): Promise<Submitted<Result>> => {
      const request = await checked(call, "a request", SUBMITTED)(...given);
      return { ...request, stream: (...options) => checkedStream(request.stream(...options)) };
    };
  const { submit, webhooks, schedules, secrets, triggers } = client;
  return {
    ...client,
    submit: {
      ...submit,
      preset: submitted((...given) => submit.preset(...given)),
      random: submitted((...given) => submit.random(...given)),
      runFunction: submitted((...given) => submit.runFunction(...given)),
    },
    runFunction: checked((...given) => client.runFunction(...given), "a result", shapes.Outcome),
    addConsumer: checked((...given) => client.addConsumer(...given), "a result", shapes.ConsumerResult),
    removeConsumer: checked((...given) => client.removeConsumer(...given), "a result", shapes.ConsumerResult),
    faucet: checked((...given) => client.faucet(...given), "a result", shapes.FaucetResult),
    stream: (...given) => checkedStream(client.stream(...given)),
    request: checked((...given) => client.request(...given), "a request", shapes.RequestView),
    requests: checked((...given) => client.requests(...given), "a list of requests", shapes.RequestPage),
    dryRuns: checked((...given) => client.dryRuns(...given), "a list of dry runs", shapes.DryRunPage),
    consumers: checked((...given) => client.consumers(...given), "a list of contracts", shapes.ConsumerList),
    contractRequests: checked(
      (...given) => client.contractRequests(...given),
      "a list of requests",
      shapes.ContractRequestList,
    ),
    usage: checked((...given) => client.usage(...given), "a report", shapes.UsageReport),
    webhooks: {
      create: checked((...given) => webhooks.create(...given), "a webhook", shapes.NewWebhookView),
      list: checked((...given) => webhooks.list(...given), "a list of webhooks", listOf(shapes.WebhookView)),
      get: checked((...given) => webhooks.get(...given), "a webhook", shapes.WebhookView),
      change: checked((...given) => webhooks.change(...given), "a webhook", shapes.WebhookView),
      delete: checked((...given) => webhooks.delete(...given), "a webhook", shapes.WebhookView),
      rotate: checked((...given) => webhooks.rotate(...given), "a webhook", shapes.NewWebhookView),
      test: checked((...given) => webhooks.test(...given), "a test", shapes.WebhookTest),
      attempts: checked(
        (...given) => webhooks.attempts(...given),
        "a list of attempts",
        shapes.WebhookAttemptPage,
      ),
      attempt: checked((...given) => webhooks.attempt(...given), "an attempt", shapes.SentWebhook),
      replay: checked((...given) => webhooks.replay(...given), "a replay", shapes.WebhookReplay),
    },
    schedules: {
      create: checked((...given) => schedules.create(...given), "a schedule", shapes.ScheduleView),
      list: checked(
        (...given) => schedules.list(...given),
        "a list of schedules",
        listOf(shapes.ScheduleView),
      ),
      get: checked((...given) => schedules.get(...given), "a schedule", shapes.ScheduleView),
      change: checked((...given) => schedules.change(...given), "a schedule", shapes.ScheduleView),
      delete: checked((...given) => schedules.delete(...given), "a schedule", shapes.ScheduleView),
      run: checked((...given) => schedules.run(...given), "a run", shapes.TriggerRun),
      runs: checked((...given) => schedules.runs(...given), "a list of runs", shapes.TriggerRunPage),
    },
    secrets: {
      set: checked((...given) => secrets.set(...given), "a secret", shapes.SecretView),
      list: checked((...given) => secrets.list(...given), "a list of secrets", listOf(shapes.SecretView)),
      delete: checked((...given) => secrets.delete(...given), "a secret", shapes.SecretView),
      key: checked((...given) => secrets.key(...given), "a key", shapes.SecretsKey),
      setSigner: checked((...given) => secrets.setSigner(...given), "a signer", shapes.SecretsSigner),
    },
    triggers: {
      create: checked((...given) => triggers.create(...given), "a trigger", shapes.LogTriggerView),
      list: checked(
        (...given) => triggers.list(...given),
        "a list of triggers",
        listOf(shapes.LogTriggerView),
      ),
      get: checked((...given) => triggers.get(...given), "a trigger", shapes.LogTriggerView),
      change: checked((...given) => triggers.change(...given), "a trigger", shapes.LogTriggerView),
      delete: checked((...given) => triggers.delete(...given), "a trigger", shapes.LogTriggerView),
      runs: checked((...given) => triggers.runs(...given), "a list of runs", shapes.LogRunPage),
    },
    networks: checked(
      (...given) => client.networks(...given),
      "a list of networks",
      listOf(shapes.NetworkView),
    ),
    presets: checked((...given) => client.presets(...given), "a list of presets", listOf(shapes.PresetView)),
  };
}

/** Does the same for what commands ask of the explorer. */
export function createCheckedExplorer(
  explorer: TycheExplorer,
  origin: string,
): Pick<TycheExplorer, "transaction" | "shared" | "networks"> {
  const { checked } = createChecks(origin);
  return {
    networks: checked(
      (...given) => explorer.networks(...given),
      "a list of networks",
      listOf(shapes.ExplorerNetwork),
    ),
    transaction: checked(
      (...given) => explorer.transaction(...given),
      "a transaction",
      shapes.TransactionView,
    ),
    shared: checked((...given) => explorer.shared(...given), "a result", shapes.Shared),
  };
}

function createChecks(origin: string) {
  // A stream has many events of one shape.
  const compiled = createMemo<object>();
  const assert = async (value: unknown, what: string, shape: object): Promise<void> => {
    const { compileSchema } = await import("../lib/schemaCheck.ts");
    const check = compiled(shape, () => compileSchema(shape, { describeUnknown: () => "is unknown" }));
    const [problem] = check(value);
    if (problem !== undefined)
      throw new UnexpectedAnswerError(origin, what, `${problem.path} ${problem.message}`.trim());
  };
  /** Checks what a call resolves with. */
  const checked =
    <Given extends readonly unknown[], Result>(
      call: (...given: Given) => Promise<Result>,
      what: string,
      shape: object,
    ) =>
    async (...given: Given): Promise<Result> => {
      const answer = await sayWaiting(call(...given), origin);
      await assert(answer, what, shape);
      return answer;
    };
  return { assert, checked };
}

/** All that commands read of a submitted request. */
const SUBMITTED = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };

/** A list in the answers' `items`, which the client returns alone. */
const listOf = (shape: object): object => ({ type: "array", items: shape });

/** The answer is JSON, but has not what the command needs. */
export class UnexpectedAnswerError extends ConnectionError {
  constructor(origin: string, what: string, problem: string) {
    super(
      `the answer is not ${what}: ${problem}; ${origin} may be another program, or a Tyche of another version: check --url and TYCHE_URL`,
    );
  }
}

/** Someone at the keyboard should know by then that nothing is stuck but the other side. */
const SILENCE_MS = 5_000;

/** Says on standard error what is waited for, if that takes long; the client gives up a silent service after four attempts of a minute. */
async function sayWaiting<Result>(work: Promise<Result>, origin: string): Promise<Result> {
  const timer = setTimeout(
    () => process.stderr.write(`waiting for an answer from ${origin} …\n`),
    SILENCE_MS,
  );
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
