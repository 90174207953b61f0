import { Type } from "typebox";
import { DRY_RUN_KINDS, REQUEST_KINDS, REQUEST_STATES } from "../domain/vocabulary.ts";
import { givenLabel, nullable, pageOf, time } from "./common.ts";
import { Outcome, SimulateResult } from "./results.ts";

export const RequestKind = Type.Enum([...REQUEST_KINDS]);
export const RequestState = Type.Enum([...REQUEST_STATES]);

/** One change of a request's state, as the API shows it. */
export const StateChange = Type.Object({
  seq: Type.Integer({ minimum: 1 }),
  state: RequestState,
  at: time("When the state was reached."),
  transactionHash: Type.Optional(Type.String({ description: "Transaction that caused the state." })),
  url: Type.Optional(Type.String({ description: "Explorer page of that transaction." })),
  detail: Type.Optional(Type.String()),
});

/** A preset's result, parsed for display as its `preset.json` specifies. */
export const ShownResult = Type.Union(
  [
    Type.Object({ as: Type.Literal("coin"), side: Type.String(), index: Type.Enum([0, 1]) }),
    Type.Object({ as: Type.Literal("dice"), rolls: Type.Array(Type.String()), hasPips: Type.Boolean() }),
    Type.Object({ as: Type.Literal("list"), entries: Type.Array(Type.String()) }),
  ],
  { description: "The preset's result as structured data, if the preset declares how to display it." },
);

const keptConsole = Type.String({ description: "The first 1,000 characters that the source wrote." });

/** A request, as the API shows it. */
export const RequestView = Type.Object({
  id: Type.String({ description: "Identifier of the request here (not the oracle network's)." }),
  dappId: Type.String({ description: "The dapp that made it; on chain with a label." }),
  kind: RequestKind,
  network: Type.String(),
  params: Type.Record(Type.String(), Type.Unknown()),
  givenLabel,
  state: RequestState,
  why: nullable(Type.String(), "What a pending request is waiting for."),
  createdAt: time("When the request was received."),
  updatedAt: time("When its state last changed."),
  payloadDeletedAt: Type.Optional(
    time("When the service deleted the payload, as its configuration says: `params` no longer contains it."),
  ),
  triggerId: nullable(
    Type.String(),
    "Schedule or log trigger that made the request, also one that is deleted since; `null` if a call made it.",
  ),
  timeline: Type.Array(StateChange),
  outcome: Type.Union([...Outcome.anyOf, Type.Null()], {
    description: "The result that the endpoint answers with, once there is one.",
  }),
  shown: Type.Optional(ShownResult),
  error: nullable(
    Type.Object({ code: Type.String(), message: Type.String() }),
    "Why the request ended without an outcome.",
  ),
  dryRun: Type.Optional(
    Type.Object(
      {
        console: keptConsole,
        ...Type.Pick(SimulateResult, ["timeMs", "memoryBytes", "httpRequests"]).properties,
      },
      {
        description:
          "What the dry run of its source wrote and took, before anything was sent: of a function, and of a preset whose dry run failed.",
      },
    ),
  ),
  statusUrl: Type.String({ description: "Address of this request." }),
  shareUrl: Type.Optional(
    Type.String({
      description:
        "Public page with the result, once there is one; absent for the linking and unlinking of contracts.",
    }),
  ),
});

/** A page of requests. */
export const RequestPage = pageOf(RequestView);

/** A source that ran without creating a request: in a dry run that was asked for, or in a call that was refused. */
export const DryRunView = Type.Object({
  id: Type.String({ description: "`dry_` and 26 characters, ordered by time." }),
  kind: Type.Enum([...DRY_RUN_KINDS], {
    description: "`dry-run`: a dry run was requested; the others: a call of that kind was refused.",
  }),
  network: nullable(Type.String(), "`null` where none was named."),
  at: time("When it ran."),
  title: Type.String({ description: "Name of the preset, or the beginning of the source." }),
  success: Type.Boolean({ description: "Whether the source returned a result." }),
  parsedResult: Type.String({ description: "At most 1,000 characters." }),
  err: Type.String({ description: "`0x` means no error." }),
  console: keptConsole,
  line: Type.Optional(Type.Integer({ minimum: 1, description: "Line where the source threw." })),
  column: Type.Optional(Type.Integer({ minimum: 1, description: "Column on that line." })),
  timeMs: Type.Optional(Type.Number({ description: "Duration of the run in milliseconds." })),
  memoryBytes: Type.Optional(
    Type.Integer({ description: "Heap in use at the end of the run, in bytes; 0 if it was stopped." }),
  ),
  httpRequests: Type.Optional(Type.Integer({ description: "HTTP requests that the source made." })),
  details: Type.Optional(SimulateResult.properties.details),
  warnings: Type.Optional(SimulateResult.properties.warnings),
  params: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        "Of a refused call, where one run is read: its source and arguments with the names of its secrets, or the preset with its parameters. Absent once " +
        "1 MB of newer ones is kept.",
    }),
  ),
  withheld: Type.Optional(
    Type.Boolean({ description: "`true` if the result showed a secret: `parsedResult` is empty then." }),
  ),
});

/** A page of dry runs and refused calls. */
export const DryRunPage = pageOf(DryRunView);
