import { REQUEST_KINDS, REQUEST_STATES } from "../lib/vocabulary.ts";
import { Type, type Static } from "typebox";
import { ConsumerResult, FunctionResult, PresetResult, RandomResult } from "../requests/read/results.ts";
import type { RequestRecord, TimelineEntry } from "../requests/service.ts";
import type { NetworkView } from "../requests/read/views.ts";

const time = (description: string) => Type.String({ format: "date-time", description });

/** One change of a request's state, as the API shows it. */
export type EntryView = Static<typeof EntryView>;
export const EntryView = Type.Object({
  seq: Type.Integer({ minimum: 1 }),
  state: Type.Enum([...REQUEST_STATES]),
  at: time("When the state was reached."),
  transactionHash: Type.Optional(Type.String({ description: "Transaction that caused the state." })),
  url: Type.Optional(Type.String({ description: "Explorer page of that transaction." })),
  detail: Type.Optional(Type.String()),
});

/** A preset's result, parsed for display as its `preset.json` specifies. */
export const ShownSchema = Type.Union(
  [
    Type.Object({ as: Type.Literal("coin"), side: Type.String(), index: Type.Enum([0, 1]) }),
    Type.Object({ as: Type.Literal("dice"), rolls: Type.Array(Type.String()), hasPips: Type.Boolean() }),
    Type.Object({ as: Type.Literal("list"), entries: Type.Array(Type.String()) }),
  ],
  { description: "The preset's result as structured data, if the preset declares how to display it." },
);

/** A request, as the API shows it. */
export type RequestView = Static<typeof RequestView>;
export const RequestView = Type.Object({
  id: Type.String({ description: "Identifier of the request here (not the oracle network's)." }),
  kind: Type.Enum([...REQUEST_KINDS]),
  network: Type.String(),
  params: Type.Record(Type.String(), Type.Unknown()),
  state: Type.Enum([...REQUEST_STATES]),
  why: Type.Union([Type.String(), Type.Null()], { description: "What a pending request is waiting for." }),
  createdAt: time("When the request was received."),
  updatedAt: time("When its state last changed."),
  payloadDeletedAt: Type.Optional(
    time("When the service deleted the payload, as its configuration says: `params` no longer contains it."),
  ),
  timeline: Type.Array(EntryView),
  outcome: Type.Union([PresetResult, FunctionResult, RandomResult, ConsumerResult, Type.Null()], {
    description: "The result that the endpoint answers with, once there is one.",
  }),
  shown: Type.Optional(ShownSchema),
  error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()], {
    description: "Why the request ended without an outcome.",
  }),
  statusUrl: Type.String({ description: "Address of this request." }),
  shareUrl: Type.Optional(
    Type.String({
      description:
        "Public page with the result, once there is one; absent for the linking and unlinking of contracts.",
    }),
  ),
});

/** Returns a stored request as the API shows it. */
export function viewRequest(
  record: RequestRecord,
  options: {
    readonly network: NetworkView | undefined;
    readonly statusUrl: string;
  },
): RequestView {
  return {
    id: record.id,
    kind: record.kind,
    network: record.network,
    params: record.params as Record<string, unknown>,
    state: record.state,
    why: record.why,
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
    ...(record.payloadDeletedAt === undefined
      ? {}
      : { payloadDeletedAt: new Date(record.payloadDeletedAt).toISOString() }),
    timeline: record.timeline.map((entry) => viewEntry(entry, options.network)),
    outcome: record.outcome,
    ...(record.shown === undefined ? {} : { shown: record.shown as RequestView["shown"] & object }),
    error: record.error,
    statusUrl: options.statusUrl,
    ...(record.shareUrl === undefined ? {} : { shareUrl: record.shareUrl }),
  };
}

/** Returns a change of state as the API shows it. */
export function viewEntry(entry: TimelineEntry, network: NetworkView | undefined): EntryView {
  return {
    seq: entry.seq,
    state: entry.state,
    at: new Date(entry.at).toISOString(),
    ...(entry.transactionHash === undefined ? {} : { transactionHash: entry.transactionHash }),
    ...(entry.transactionHash === undefined || network === undefined
      ? {}
      : { url: `${network.explorerUrl}/tx/${entry.transactionHash}` }),
    ...(entry.detail === undefined ? {} : { detail: entry.detail }),
  };
}

/**
 * Whether a request has ended: nothing about it changes from then on, unless a reorg removes the block that ended
 * it.
 */
export function hasEnded(record: RequestRecord): boolean {
  return record.state === "fulfilled" || record.state === "failed";
}
