import { Type } from "typebox";
import { idPattern } from "../../domain/idForm.ts";
import { AUDIT_TEXT } from "../../domain/operations.ts";
import { EXPECTED } from "../../lib/schemaCheck.ts";
import {
  DRY_RUN_KINDS,
  MAX_SEARCH_CHARACTERS,
  REQUEST_KINDS,
  REQUEST_STATES,
  TOLD_EVENTS,
} from "../../domain/vocabulary.ts";
import { day, hash, integer, networkParameter, oneOf, STRICT, type SchemaTerms } from "./parameterSchemas.ts";

const cursor = () =>
  Type.Optional(Type.String({ minLength: 1, description: "`nextCursor` of the previous page." }));

const pageCursor = (prefix: string) =>
  Type.Optional(
    Type.String({
      pattern: idPattern(prefix),
      [EXPECTED]: "the nextCursor of an earlier page",
      description: "`nextCursor` of the previous page.",
    }),
  );

const before = () =>
  Type.Optional(
    Type.String({
      description: "`older` of the previous page: a block number, or one with a position in the block.",
    }),
  );

/** Pages of lists that depend on no network. */
export const PAGE_SCHEMAS = {
  audit: Type.Object(
    {
      limit: integer({ minimum: 1, maximum: 100, default: 50 }, "Maximum number of entries in one answer."),
      cursor: pageCursor("aud"),
      actor: Type.Optional(
        Type.String({
          description: "Only what this person, API key or session did; `operator` is the token.",
        }),
      ),
      action: Type.Optional(
        Type.Enum([...AUDIT_TEXT.keys()], {
          description: "Only this operation, by its name here, or `signIn` or `acceptInvitation`.",
        }),
      ),
    },
    STRICT,
  ),
  attempts: Type.Object(
    {
      limit: integer({ minimum: 1, maximum: 100, default: 20 }, "Maximum number of attempts in one answer."),
      cursor: pageCursor("att"),
      state: Type.Optional(
        Type.Enum(["delivered", "failed"], {
          description: "Only attempts that were answered with 2xx, or only those that weren't. Default: all.",
        }),
      ),
      type: Type.Optional(
        Type.Enum([...TOLD_EVENTS], {
          description: "Only attempts to tell events of this type. Default: all.",
        }),
      ),
      eventId: Type.Optional(
        Type.String({
          pattern: idPattern("evt"),
          [EXPECTED]: "evt_ and 26 characters",
          description: "Only attempts to tell this event, by its `webhook-id`. Default: all.",
        }),
      ),
    },
    STRICT,
  ),
  runs: Type.Object(
    {
      limit: integer({ minimum: 1, maximum: 100, default: 20 }, "Maximum number of runs in one answer."),
      cursor: pageCursor("run"),
    },
    STRICT,
  ),
  before: Type.Object({ before: before() }, STRICT),
  none: Type.Object({}, STRICT),
};

/** What is read of requests and chains. */
export function readSchemas(terms: SchemaTerms) {
  return {
    list: Type.Object(
      {
        limit: integer(
          { minimum: 1, maximum: 100, default: 20 },
          "Maximum number of requests in one answer.",
        ),
        cursor: cursor(),
        state: Type.Optional(Type.Enum([...REQUEST_STATES])),
        kind: Type.Optional(Type.Enum([...REQUEST_KINDS])),
        network: Type.Optional(oneOf(terms.networks, "Only requests on this network.")),
      },
      STRICT,
    ),
    dryRuns: Type.Object(
      {
        limit: integer(
          { minimum: 1, maximum: 100, default: 100 },
          "Maximum number of dry runs in one answer.",
        ),
        cursor: cursor(),
        kind: Type.Optional(
          Type.Enum([...DRY_RUN_KINDS], {
            description: "`dry-run`: a dry run was requested; the others: a call of that kind was refused.",
          }),
        ),
        network: Type.Optional(oneOf(terms.networks, "Only those that named this network.")),
      },
      STRICT,
    ),
    verify: Type.Object(
      {
        network: networkParameter(terms, "Network of the transaction."),
        tx: hash("Hash of the transaction: of a request, a VRF proof (`vrfv2Hash`) or a report."),
        requestId: Type.Optional(
          hash(
            "Check only this request, if several share the transaction: a preset, a function, or all that share a VRF request.",
          ),
        ),
        fromBlock: Type.Optional(
          integer(
            { minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
            "First block in which other requests with the request's label are looked for, to go on where an earlier search ended. Default: 0.",
          ),
        ),
        toBlock: Type.Optional(
          integer(
            { minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
            "Last block in which they are looked for. Default: the newest.",
          ),
        ),
      },
      STRICT,
    ),
    usage: Type.Object(
      {
        from: Type.Optional(day("First day, in UTC. Default: 29 days before `to`.")),
        to: Type.Optional(day("Last day. Default: today. A report covers at most 366 days.")),
        network: Type.Optional(oneOf(terms.networks, "Network. Default: all.")),
        format: Type.Enum(["json", "csv"], {
          default: "json",
          description: "`csv` gives `text/csv`, as the header `Accept: text/csv` does.",
        }),
      },
      STRICT,
    ),
    onChain: Type.Object(
      {
        network: Type.Optional(oneOf(terms.networks, "Only the requests on this network. Default: on all.")),
        preset: Type.Optional(
          Type.String({
            maxLength: 100,
            description:
              "Only the requests for this preset. With any filter but `network`, a page looks through 1,000 requests, so that it may have few or none of them before the last.",
          }),
        ),
        kind: Type.Optional(
          Type.Enum(["preset", "random", "function"], { description: "Only the requests of this kind." }),
        ),
        state: Type.Optional(
          Type.Enum(["waiting", "fulfilled", "failed"], {
            description: "Only the requests in this state. `waiting`: without a result yet.",
          }),
        ),
        text: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: MAX_SEARCH_CHARACTERS,
            description:
              "Only the requests whose preset's name, title, label or result contains this text, in any case.",
          }),
        ),
        dapp: Type.Optional(
          Type.String({
            maxLength: MAX_SEARCH_CHARACTERS,
            description:
              "Only the requests with a label of the dapp with this id: with the label, it is on chain.",
          }),
        ),
        cursor: pageCursor("req"),
      },
      STRICT,
    ),
    consumers: Type.Object(
      {
        network: Type.Optional(oneOf(terms.networks, "Only the contracts on this network. Default: on all.")),
      },
      STRICT,
    ),
    contractRequests: Type.Object(
      {
        network: networkParameter(terms, "Network of the contracts."),
        before: before(),
      },
      STRICT,
    ),
    search: Type.Object(
      {
        q: Type.String({ minLength: 1, description: "What to look for." }),
        network: Type.Optional(oneOf(terms.networks, "Network whose hits are preferred.")),
        before: Type.Optional(
          Type.String({
            description: "Searches `network` for the label from here on: `before` of an entry of `older`.",
          }),
        ),
      },
      STRICT,
    ),
  };
}
