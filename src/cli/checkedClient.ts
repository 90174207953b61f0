import {
  ConnectionError,
  type Outcome,
  type RequestEvent,
  type ShownResult,
  type Submitted,
  type TycheClient,
  type TycheExplorer,
} from "../client/index.ts";
import {
  absent,
  anything,
  decimal,
  flag,
  listOf,
  nullable,
  number,
  object,
  optional,
  recordOf,
  text,
  type Shape,
} from "./answerShape.ts";
import { isObject } from "../lib/isObject.ts";

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
      if (event.type === "state") assert(event, "a request's state", STATE);
      else assert(event.result, "a result", OUTCOME);
      yield event;
    }
  }
  const submitted =
    <Given extends readonly unknown[], Result>(call: (...given: Given) => Promise<Submitted<Result>>) =>
    async (...given: Given): Promise<Submitted<Result>> => {
      const request = await checked(call, "a request", object({ id: text }))(...given);
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
    runFunction: checked((...given) => client.runFunction(...given), "a result", OUTCOME),
    addConsumer: checked((...given) => client.addConsumer(...given), "a result", TRANSACTION),
    removeConsumer: checked((...given) => client.removeConsumer(...given), "a result", TRANSACTION),
    faucet: checked(
      (...given) => client.faucet(...given),
      "a result",
      object({ transactionHashes: listOf(text) }),
    ),
    stream: (...given) => checkedStream(client.stream(...given)),
    request: checked((...given) => client.request(...given), "a request", REQUEST),
    requests: checked((...given) => client.requests(...given), "a list of requests", pageOf(LISTED_REQUEST)),
    dryRuns: checked((...given) => client.dryRuns(...given), "a list of dry runs", pageOf(DRY_RUN)),
    consumers: checked((...given) => client.consumers(...given), "a list of contracts", CONSUMERS),
    contractRequests: checked(
      (...given) => client.contractRequests(...given),
      "a list of requests",
      CONTRACT_REQUESTS,
    ),
    usage: checked((...given) => client.usage(...given), "a report", USAGE),
    webhooks: {
      create: checked((...given) => webhooks.create(...given), "a webhook", NEW_WEBHOOK),
      list: checked((...given) => webhooks.list(...given), "a list of webhooks", listOf(WEBHOOK)),
      get: checked((...given) => webhooks.get(...given), "a webhook", WEBHOOK),
      change: checked((...given) => webhooks.change(...given), "a webhook", WEBHOOK),
      delete: checked((...given) => webhooks.delete(...given), "a webhook", WEBHOOK),
      rotate: checked((...given) => webhooks.rotate(...given), "a webhook", NEW_WEBHOOK),
      test: checked((...given) => webhooks.test(...given), "a test", object({ eventId: text })),
      attempts: checked((...given) => webhooks.attempts(...given), "a list of attempts", pageOf(ATTEMPT)),
      attempt: checked(
        (...given) => webhooks.attempt(...given),
        "an attempt",
        object({ ...ATTEMPT_MEMBERS, answer: text, headers: object({}), body: nullable(text) }),
      ),
      replay: checked((...given) => webhooks.replay(...given), "a replay", object({ replayed: number })),
    },
    schedules: {
      create: checked((...given) => schedules.create(...given), "a schedule", SCHEDULE),
      list: checked((...given) => schedules.list(...given), "a list of schedules", listOf(SCHEDULE)),
      get: checked((...given) => schedules.get(...given), "a schedule", SCHEDULE),
      change: checked((...given) => schedules.change(...given), "a schedule", SCHEDULE),
      delete: checked((...given) => schedules.delete(...given), "a schedule", SCHEDULE),
      run: checked((...given) => schedules.run(...given), "a run", TRIGGER_RUN),
      runs: checked((...given) => schedules.runs(...given), "a list of runs", pageOf(TRIGGER_RUN)),
    },
    secrets: {
      set: checked((...given) => secrets.set(...given), "a secret", SECRET),
      list: checked((...given) => secrets.list(...given), "a list of secrets", listOf(SECRET)),
      delete: checked((...given) => secrets.delete(...given), "a secret", SECRET),
      key: checked((...given) => secrets.key(...given), "a key", object({ label: text })),
      setSigner: checked((...given) => secrets.setSigner(...given), "a signer", object({ signer: text })),
    },
    triggers: {
      create: checked((...given) => triggers.create(...given), "a trigger", LOG_TRIGGER),
      list: checked((...given) => triggers.list(...given), "a list of triggers", listOf(LOG_TRIGGER)),
      get: checked((...given) => triggers.get(...given), "a trigger", LOG_TRIGGER),
      change: checked((...given) => triggers.change(...given), "a trigger", LOG_TRIGGER),
      delete: checked((...given) => triggers.delete(...given), "a trigger", LOG_TRIGGER),
      runs: checked((...given) => triggers.runs(...given), "a list of runs", pageOf(LOG_RUN)),
    },
    networks: checked((...given) => client.networks(...given), "a list of networks", NETWORKS),
    presets: checked((...given) => client.presets(...given), "a list of presets", listOf(PRESET)),
  };
}

/** Does the same for what commands ask of the explorer. */
export function createCheckedExplorer(
  explorer: TycheExplorer,
  origin: string,
): Pick<TycheExplorer, "transaction" | "shared"> {
  const { checked } = createChecks(origin);
  return {
    transaction: checked((...given) => explorer.transaction(...given), "a transaction", CHAIN_TRANSACTION),
    shared: checked((...given) => explorer.shared(...given), "a result", SHARED),
  };
}

function createChecks(origin: string) {
  const assert = (value: unknown, what: string, shape: Shape<never>): void => {
    const problem = shape(value, "");
    if (problem !== undefined) throw new UnexpectedAnswerError(origin, what, problem);
  };
  /** Checks what a call resolves with. */
  const checked =
    <Given extends readonly unknown[], Result>(
      call: (...given: Given) => Promise<Result>,
      what: string,
      shape: Shape<Result>,
    ) =>
    async (...given: Given): Promise<Result> => {
      const answer = await sayWaiting(call(...given), origin);
      assert(answer, what, shape);
      return answer;
    };
  return { assert, checked };
}

/** The answer is JSON, but has not what the command needs. */
export class UnexpectedAnswerError extends ConnectionError {
  constructor(origin: string, what: string, problem: string) {
    super(
      `the answer is not ${what}: ${problem}; ${origin} may be another program, or a Tyche of another version: check --url and TYCHE_URL`,
    );
  }
}

function pageOf<T>(item: Shape<T>) {
  return object({ items: listOf(item), nextCursor: nullable(text) });
}

const STATE = object({ at: text, state: text, detail: optional(text), transactionHash: optional(text) });
const TRANSACTION = object({ success: flag, transactionHash: text });
const RANDOM = object({
  success: flag,
  randomNumber: listOf(text),
  url: optional(text),
  shareUrl: optional(text),
});
const VALUE = object({
  success: flag,
  parsedResult: text,
  result: text,
  err: text,
  url: optional(text),
  warnings: optional(listOf(text)),
  shareUrl: optional(text),
});
/** The result of a request of any kind. */
const OUTCOME: Shape<Outcome> = (value, path) => {
  if (isObject(value) && "randomNumber" in value) return RANDOM(value, path);
  return isObject(value) && "parsedResult" in value ? VALUE(value, path) : TRANSACTION(value, path);
};

const COIN = object({ side: text });
const DICE = object({ rolls: listOf(text) });
const LIST = object({ entries: listOf(text) });
const SHOWN: Shape<ShownResult> = (value, path) => {
  const as = isObject(value) ? value["as"] : undefined;
  return (as === "coin" ? COIN : as === "dice" ? DICE : LIST)(value, path);
};

const LISTED = {
  id: text,
  createdAt: text,
  network: text,
  kind: text,
  state: text,
  outcome: nullable(OUTCOME),
  error: nullable(object({ code: text, message: text })),
  params: recordOf(anything),
  shown: optional(SHOWN),
};
const LISTED_REQUEST = object(LISTED);
const REQUEST = object({ ...LISTED, why: nullable(text), timeline: listOf(STATE) });

const DRY_RUN = object({
  at: text,
  network: nullable(text),
  kind: text,
  success: flag,
  title: text,
  parsedResult: text,
  err: text,
  line: optional(number),
  column: optional(number),
});

const WEBHOOK_MEMBERS = {
  id: text,
  url: text,
  events: listOf(text),
  pausedWhy: nullable(text),
  failingSince: nullable(text),
  publicKey: nullable(text),
  pending: number,
  failed: number,
};
const WEBHOOK = object(WEBHOOK_MEMBERS);
const NEW_WEBHOOK = object({ ...WEBHOOK_MEMBERS, secret: nullable(text) });
const ATTEMPT_MEMBERS = {
  id: text,
  at: text,
  eventId: text,
  type: nullable(text),
  success: flag,
  status: nullable(number),
  error: nullable(text),
  durationMs: number,
  nextAttemptAt: nullable(text),
};
const ATTEMPT = object(ATTEMPT_MEMBERS);

const SECRET = object({ name: text, network: text, size: number, changedAt: text });
const SCHEDULE = object({
  id: text,
  name: text,
  network: text,
  every: nullable(text),
  cron: nullable(text),
  timeZone: nullable(text),
  pausedAt: nullable(text),
  next: listOf(text),
});
const LOG_TRIGGER = object({
  id: text,
  name: text,
  network: text,
  addresses: listOf(text),
  event: nullable(text),
  confidence: text,
  actionNetwork: text,
  pausedAt: nullable(text),
  readTo: nullable(number),
});
const LOG_RUN = object({
  at: text,
  state: text,
  reason: nullable(text),
  detail: nullable(text),
  requestId: nullable(text),
  log: object({ blockNumber: number, transactionHash: text, logIndex: number }),
  revertedAt: nullable(text),
});
const TRIGGER_RUN = object({
  at: text,
  state: text,
  reason: nullable(text),
  detail: nullable(text),
  requestId: nullable(text),
});

const CONTRACT_REQUESTS = object({
  items: listOf(
    object({
      transactionHash: text,
      requestId: text,
      at: optional(text),
      kind: text,
      state: text,
      consumer: object({ address: text }),
      error: optional(text),
      waitsFor: optional(text),
      numWords: optional(number),
      words: optional(listOf(text)),
      response: optional(text),
      readings: optional(object({ text: optional(text), uint256: optional(text) })),
    }),
  ),
  searched: nullable(object({ from: decimal, to: decimal })),
  older: nullable(text),
});

const CHAIN_TRANSACTION = object({
  status: text,
  revertReason: optional(text),
  block: nullable(object({ number: decimal })),
  randomRequests: listOf(object({ requestId: text, words: optional(listOf(text)) })),
});

const SHARED = object({ network: text, outcome: object({ url: text, requestId: text }) });

const CONSUMERS = object({
  linked: listOf(
    object({
      network: text,
      address: text,
      onChain: nullable(object({ vrf: flag, functions: flag })),
      linkedAt: optional(text),
    }),
  ),
});

const NETWORKS = listOf(object({ name: text, coin: text }));

const USAGE = object({
  from: text,
  to: text,
  items: listOf(
    object({
      day: text,
      network: nullable(text),
      requests: recordOf(number),
      fulfilled: number,
      failed: number,
      refused: number,
      dryRuns: number,
      words: number,
      gasUsed: decimal,
      linkJuels: decimal,
      coinWei: decimal,
      toppedUpJuels: decimal,
      toppedUpWei: decimal,
    }),
  ),
});

/** JSON Schema as presets use it, as deep as parameters go: an object, its members, their entries. */
const ENTRY = object({
  anyOf: optional(listOf(anything)),
  enum: optional(listOf(anything)),
  items: absent,
});
const PARAMETER = object({
  description: optional(text),
  anyOf: optional(listOf(anything)),
  enum: optional(listOf(anything)),
  items: optional(ENTRY),
});
const PRESET = object({
  name: text,
  description: text,
  parameters: object({
    properties: optional(recordOf(PARAMETER)),
    required: optional(listOf(text)),
  }),
});

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
