import {
  ConnectionError,
  type RequestEvent,
  type Submitted,
  type TycheClient,
  type TycheExplorer,
} from "../client/index.ts";
import answers from "./answerShapes.json" with { type: "json" };

/** What a call is answered with, in words, and the name of its shape. `[]` behind it: a list of them. */
type ExpectedAnswer = readonly [what: string, shape: string];

/** The calls whose answers are checked, by name. */
export type ExpectedAnswers<Calls> = {
  readonly [Name in keyof Calls]?: Calls[Name] extends (...given: never) => unknown
    ? ExpectedAnswer
    : ExpectedAnswers<Calls[Name]>;
};

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
  return checkAnswers(client, origin, answers.client);
}

/** Does the same for what commands ask of the explorer. */
export function createCheckedExplorer(
  explorer: TycheExplorer,
  origin: string,
): Pick<TycheExplorer, "transaction" | "shared" | "networks"> {
  return checkAnswers(explorer, origin, answers.explorer);
}

function checkAnswers<Client extends object>(client: Client, origin: string, expected: object): Client {
  const assert = async (value: unknown, what: string, name: string): Promise<void> => {
    const shape = shapeOf(name);
    // Compiling a shape takes ten times as long as checking one answer without. What is wrong with an answer is for the compiled check to say.
    const { Check } = await import("typebox/schema");
    if (Check(shape, value)) return;
    const { compileSchema } = await import("../lib/schemaCheck.ts");
    const [problem] = compileSchema(shape, { describeUnknown: () => "is unknown" })(value);
    if (problem !== undefined)
      throw new UnexpectedAnswerError(origin, what, `${problem.path} ${problem.message}`.trim());
  };
  async function* checkEvents(events: AsyncGenerator<RequestEvent<unknown>>) {
    for await (const event of events) {
      if (event.type === "state") await assert(event, "a request's state", "StateChange");
      else await assert(event.result, "a result", "Outcome");
      yield event;
    }
  }
  const checkCalls = (calls: object, listed: object): object =>
    Object.fromEntries(
      Object.entries(calls).map(([name, call]) => {
        const answer = (listed as Readonly<Record<string, ExpectedAnswer | object>>)[name];
        if (name === "stream")
          return [name, (...given: Parameters<Submitted<unknown>["stream"]>) => checkEvents(call(...given))];
        if (answer === undefined) return [name, call];
        if (!Array.isArray(answer)) return [name, checkCalls(call, answer)];
        const [what, shape] = answer as object as ExpectedAnswer;
        const checked = async (...given: readonly unknown[]): Promise<unknown> => {
          const value = await sayWaiting(call(...given), origin);
          await assert(value, what, shape);
          // A request is followed by its own stream.
          return shape === "Submitted" ? checkCalls(value as object, {}) : value;
        };
        return [name, checked];
      }),
    );
  return checkCalls(client, expected) as Client;
}

function shapeOf(name: string): object {
  const shapes: Readonly<Record<string, object>> = answers.shapes;
  return name.endsWith("[]") ? { type: "array", items: shapes[name.slice(0, -2)] } : shapes[name]!;
}

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
