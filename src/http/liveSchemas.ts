import type { Hex } from "viem";
import type { NetworkView, PresetView } from "../api/types.ts";
import {
  BEACONS,
  type Beacon,
  CATCH_UPS,
  type CatchUp,
  MAX_JOINED_KEYS,
  DRY_RUN_KINDS,
  LOG_CONFIDENCES,
  REQUEST_KINDS,
  REQUEST_STATES,
  RETURN_TYPES,
  ROLES,
  SECRET_NAME,
  WEBHOOK_EVENTS,
  type WebhookEvent,
} from "../lib/vocabulary.ts";
import { Type, type Static, type TSchema } from "typebox";
import { MAX_DAILY_LIMIT } from "../dapps/dailyLimit.ts";
import type { ReturnType, Service } from "../requests/service.ts";
import { EXPECTED } from "../lib/schemaCheck.ts";
import { LABEL_PARAMETERS } from "./labelParameters.ts";
import { address, day, hash, integer, oneOf, confirmationsParameter } from "./parameterSchemas.ts";
import { compileValidator, type Validator } from "./validator.ts";

/** Most secrets of a call, as of a dapp on a network. */
const MAX_SECRETS = 100;

/** The request schemas for one set of networks and presets, with their validators. */
export interface LiveSchemas {
  readonly networks: ReadonlyMap<string, NetworkView>;
  readonly presets: ReadonlyMap<string, PresetView>;
  readonly requests: RequestSchemas;
  readonly validate: {
    readonly [K in keyof RequestSchemas]: Validator<Static<RequestSchemas[K]>>;
  };
}

export type RequestSchemas = ReturnTypeOf<typeof createRequestSchemas>;
type ReturnTypeOf<F extends (...given: never[]) => unknown> = F extends (...given: never[]) => infer R
  ? R
  : never;

/**
 * Returns a function that gives the current schemas. They are rebuilt only when the service's lists of networks or presets change,
 * so a request costs two comparisons.
 */
export function createLiveSchemas(service: Service): () => LiveSchemas {
  let networks: readonly NetworkView[] | undefined;
  let presets: readonly PresetView[] | undefined;
  let live: LiveSchemas | undefined;
  return () => {
    if (live === undefined || networks !== service.networks() || presets !== service.presets()) {
      networks = service.networks();
      presets = service.presets();
      live = compileLiveSchemas(networks, presets);
    }
    return live;
  };
}

function compileLiveSchemas(networks: readonly NetworkView[], presets: readonly PresetView[]): LiveSchemas {
  const requests = createRequestSchemas(networks, presets);
  return {
    networks: new Map(networks.map((network) => [network.name, network])),
    presets: new Map(presets.map((preset) => [preset.name, preset])),
    requests,
    validate: Object.fromEntries(
      Object.entries(requests).map(([name, schema]) => [name, compileOnFirstCall(schema)]),
    ) as LiveSchemas["validate"],
  };
}

/** A service that has just started answers before it has compiled some thirty schemas. */
function compileOnFirstCall<S extends TSchema>(schema: S): Validator<Static<S>> {
  let validate: Validator<Static<S>> | undefined;
  return (values) => (validate ??= compileValidator(schema))(values);
}

/** The only element, which is the default of a parameter that names one. */
function findOnly(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined;
}

/** A moment in ISO 8601, with its offset. */
const TIME_PATTERN = "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:\\d{2})$";

const STRICT = { additionalProperties: false } as const;

function createRequestSchemas(networks: readonly NetworkView[], presets: readonly PresetView[]) {
  const networkNames = networks.map(({ name }) => name);
  const embeddedNames = networks.filter(({ embedded }) => embedded).map(({ name }) => name);
  const network = (fallback?: string) =>
    oneOf(networkNames, "Network on which the request runs.", findOnly(networkNames) ?? fallback);
  const maxWords = Math.max(...networks.map(({ vrf }) => vrf.maxWords), 1);
  const cursor = () =>
    Type.Optional(Type.String({ minLength: 1, description: "`nextCursor` of the previous page." }));
  const pageCursor = (prefix: string) =>
    Type.Optional(
      Type.String({
        pattern: `^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`,
        [EXPECTED]: "the nextCursor of an earlier page",
        description: "`nextCursor` of the previous page.",
      }),
    );
  const role = () => Type.Enum([...ROLES], { description: "What the member may do." });
  const before = () =>
    Type.Optional(
      Type.String({
        description: "`older` of the previous page: a block number, or one with a position in the block.",
      }),
    );
  const source = Type.String({
    minLength: 1,
    [EXPECTED]: "a string of JavaScript",
    description:
      "JavaScript source of the function: the body of an async function that returns a byte buffer. " +
      "Its arguments are in the array `args`. At most 30,720 bytes of UTF-8.",
  });
  const args = Type.Array(Type.String({ [EXPECTED]: "a string" }), {
    default: [],
    [EXPECTED]: "an array of strings",
    description: "Arguments for the function.",
  });
  const secrets = Type.Optional(
    Type.Array(Type.String({ minLength: 1, [EXPECTED]: "the name of a secret" }), {
      minItems: 1,
      maxItems: MAX_SECRETS,
      uniqueItems: true,
      [EXPECTED]: "an array of names of secrets",
      description: "Names of the dapp's secrets on the network that the source may read, as `secrets.NAME`.",
    }),
  );
  const secretValues = Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: "object",
      minProperties: 1,
      maxProperties: MAX_SECRETS,
      propertyNames: {
        pattern: SECRET_NAME.source,
        [EXPECTED]: "1 to 100 letters, digits and underscores, and begin with no digit",
      },
      additionalProperties: {
        type: "string",
        minLength: 1,
        writeOnly: true,
        [EXPECTED]: "text of at least one character",
      },
      writeOnly: true,
      [EXPECTED]: `an object of 1 to ${MAX_SECRETS} values by name`,
      description:
        "Values that the source reads as `secrets.NAME` in this run, in place of the dapp's secrets: at most 2,048 bytes of UTF-8 each. They are kept nowhere, and may be sent to any host.",
    }),
  );
  const returnType = Type.Unsafe<ReturnType>({
    ...oneOf(RETURN_TYPES, "Type used to decode the result.", "string"),
  });
  const webhookUrl = Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: "Where events are sent: an https URL on a public host.",
  });
  const webhookEvents = (fallback?: readonly WebhookEvent[]) =>
    Type.Array(Type.Enum([...WEBHOOK_EVENTS]), {
      minItems: 1,
      uniqueItems: true,
      ...(fallback === undefined ? {} : { default: fallback }),
      [EXPECTED]: `an array of ${WEBHOOK_EVENTS.join(", ")}`,
      description: "Types of the events to be told.",
    });
  const note = (fallback?: string) =>
    Type.String({
      maxLength: 200,
      ...(fallback === undefined ? {} : { default: fallback }),
      description: "A note of your own: at most 200 characters.",
    });
  const scheduleName = Type.String({ minLength: 1, maxLength: 60, description: "A name of your own." });
  const duration = (description: string) =>
    Type.String({
      minLength: 2,
      maxLength: 7,
      [EXPECTED]: "a duration such as 10s, 5m, 1h or 1d",
      description,
    });
  const beacon = (description: string) => Type.Optional(Type.Enum([...BEACONS], { description }));
  const schedule = {
    every: Type.Optional(
      duration("Distance between ticks: `10s`, `5m`, `1h`, `1d`. The first one is that much later."),
    ),
    cron: Type.Optional(
      Type.String({
        maxLength: 200,
        [EXPECTED]: "a cron expression of at most 200 characters, such as 0 20 * * *",
        description:
          "Cron expression, instead of `every`: minute, hour, day, month and weekday, or six fields with seconds first.",
      }),
    ),
    timeZone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 60,
        description: "Time zone of `cron`, such as `Europe/Berlin`. Default: `UTC`.",
      }),
    ),
    window: Type.Optional(
      duration("How late a tick may be caught up with: `1m` to `30d`. Default: `1d`. Not with `skip`: `1m`."),
    ),
  };
  const action = Type.Record(Type.String(), Type.Unknown(), {
    [EXPECTED]: "an object with preset, random or function",
    description:
      'What is requested: `{"preset": "coinflip", …}` with the preset\'s parameters, `{"random": {…}}` or `{"function": {…}}` with those ' +
      "of that endpoint, without `network`.",
  });
  const eventAction = Type.Record(Type.String(), Type.Unknown(), {
    [EXPECTED]: "an object with preset, random or function",
    description: 'As in a schedule; `{"event": "name"}` in place of a value stands for a value of the log.',
  });
  const actionNetwork = Type.Optional(
    oneOf(networkNames, "Network on which the requests run. Default: that of the logs."),
  );
  const topic = Type.String({ pattern: "^0x[0-9a-fA-F]{64}$", [EXPECTED]: "a topic: 0x and 64 hex digits" });
  const catchUp = (fallback?: CatchUp) =>
    Type.Enum([...CATCH_UPS], {
      ...(fallback === undefined ? {} : { default: fallback }),
      description:
        "What is done about ticks that the service could not act on in time: `skip` none, `one` the newest, `all` each of them.",
    });
  const overlap = (fallback?: "skip" | "allow") =>
    Type.Enum(["skip", "allow"], {
      ...(fallback === undefined ? {} : { default: fallback }),
      description: "Whether a tick is skipped while the request before it has not ended.",
    });
  const until = Type.Optional(
    Type.Union(
      [
        Type.String({ pattern: TIME_PATTERN, [EXPECTED]: "a time such as 2026-12-31T23:59:59Z" }),
        Type.Null(),
      ],
      {
        description: "After this there are no ticks. `null`: no end, as by default.",
      },
    ),
  );
  const paused = (fallback?: boolean) =>
    Type.Boolean({
      ...(fallback === undefined ? {} : { default: fallback }),
      [EXPECTED]: "true or false",
      description: "Whether it does nothing for now.",
    });
  return {
    /** Everything in a preset request except the preset's own parameters, which the preset's schema checks. */
    preset: Type.Object({
      network: network("polygon_mumbai"),
      preset: oneOf(
        presets.map(({ name }) => name),
        "Preset to run.",
        "coinflip",
      ),
      confirmations: confirmationsParameter("the random word is"),
      beacon: beacon(
        "A source of randomness that the word also follows from: the first round of drand that is due after the network's margin. The answer names it. `local`, on embedded networks: a round of the service's own beacon, which works without internet and proves nothing. Default: what the dapp says, or else the network, mostly `none`.",
      ),
      ...LABEL_PARAMETERS,
    }),
    function: Type.Object(
      {
        network: network(),
        source,
        args,
        secrets,
        returnType,
        beacon: beacon(
          "A source of randomness for the function: the first round of drand that is due after the network's margin, which the answer names. The source gets a word of 32 bytes that follows from it as the last of `bytesArgs`. `local` as for presets. Default: `none`, and no word.",
        ),
        ...LABEL_PARAMETERS,
      },
      STRICT,
    ),
    simulate: Type.Object(
      {
        network: Type.Optional(oneOf(networkNames, "Network whose limits apply, and whose secrets.")),
        source,
        args,
        secrets,
        secretValues,
        returnType,
        beacon: beacon(
          "As of a function on the network; the word that the source gets here is always the same. Default: `none`.",
        ),
      },
      STRICT,
    ),
    random: Type.Object(
      {
        network: network("fantom_testnet"),
        numWords: integer({ minimum: 1, maximum: maxWords, default: 1 }, "Number of random numbers."),
        confirmations: confirmationsParameter("the random numbers are"),
        ...LABEL_PARAMETERS,
        keyHash: Type.Optional(
          hash("Keccak256 hash that names the VRF key: one that `GET /api/networks` lists for the network."),
        ),
        keyHashes: Type.Optional(
          Type.Array(hash("Key hash of the network."), {
            minItems: 1,
            maxItems: MAX_JOINED_KEYS,
            uniqueItems: true,
            [EXPECTED]: "an array of 1 to 4 different key hashes",
            description:
              "VRF keys whose words are joined, instead of `keyHash`: 1 to 4 different ones that `GET /api/networks` lists. The " +
              "numbers are a hash of all their words, so one honest operator is enough. In the query, separated by commas.",
          }),
        ),
      },
      STRICT,
    ),
    consumer: Type.Object(
      {
        dappId: Type.Optional(
          Type.String({
            pattern: "^[A-Za-z0-9_-]{1,64}$",
            [EXPECTED]: "1 to 64 letters, digits, _ or -",
            description: "Identifier of the dapp, as in the address of its page. Default: the key's dapp.",
          }),
        ),
        network: network(),
        consumer: address("Address of the consumer contract; its checksum is verified when mixed case."),
      },
      STRICT,
    ),
    unlink: Type.Object({ network: network() }, STRICT),
    list: Type.Object(
      {
        limit: integer(
          { minimum: 1, maximum: 100, default: 20 },
          "Maximum number of requests in one answer.",
        ),
        cursor: cursor(),
        state: Type.Optional(Type.Enum([...REQUEST_STATES])),
        kind: Type.Optional(Type.Enum([...REQUEST_KINDS])),
        network: Type.Optional(oneOf(networkNames, "Only requests on this network.")),
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
        network: Type.Optional(oneOf(networkNames, "Only those that named this network.")),
      },
      STRICT,
    ),
    verify: Type.Object(
      {
        network: oneOf(networkNames, "Network of the transaction.", findOnly(networkNames)),
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
    faucet: Type.Object(
      {
        network: oneOf(embeddedNames, "Embedded network to send on.", findOnly(embeddedNames)),
        address: address("Recipient of the coin and LINK; its checksum is verified when mixed case."),
      },
      STRICT,
    ),
    usage: Type.Object(
      {
        from: Type.Optional(day("First day, in UTC. Default: 29 days before `to`.")),
        to: Type.Optional(day("Last day. Default: today. A report covers at most 366 days.")),
        network: Type.Optional(oneOf(networkNames, "Network. Default: all.")),
        format: Type.Enum(["json", "csv"], {
          default: "json",
          description: "`csv` gives `text/csv`, as the header `Accept: text/csv` does.",
        }),
      },
      STRICT,
    ),
    createDapp: Type.Object(
      {
        name: Type.String({ description: "Its name: 1 to 60 characters." }),
        facilities: Type.Array(Type.Enum(["presets", "functions"]), {
          default: ["presets", "functions"],
          minItems: 1,
          uniqueItems: true,
          [EXPECTED]: "an array of presets, functions or both",
          description: "What it may use; `presets` includes random numbers.",
        }),
      },
      STRICT,
    ),
    updateDapp: Type.Object(
      {
        name: Type.Optional(Type.String({ description: "The new name: 1 to 60 characters." })),
        beacon: Type.Optional(
          Type.Unsafe<Beacon | null>({
            enum: [...BEACONS, null],
            [EXPECTED]: `${BEACONS.join(", ")} or null`,
            description:
              "What presets wait for where a call doesn't say it, see `beacon` of presets. `null`: what the network says, as by default.",
          }),
        ),
      },
      STRICT,
    ),
    addKey: Type.Object(
      {
        name: Type.String({ default: "", description: "Name of the key: at most 60 characters." }),
        dailyLimit: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: MAX_DAILY_LIMIT,
            description:
              "Maximum number of requests that the key may make per day (UTC); further calls get 429. Default: no limit.",
          }),
        ),
      },
      STRICT,
    ),
    changeKey: Type.Object(
      {
        name: Type.Optional(
          Type.String({ description: "The new name: at most 60 characters; empty for none." }),
        ),
        dailyLimit: Type.Optional(
          Type.Union([Type.Integer({ minimum: 1, maximum: MAX_DAILY_LIMIT }), Type.Null()], {
            [EXPECTED]: `a whole number from 1 to ${MAX_DAILY_LIMIT}, or null`,
            description:
              "Maximum number of requests that the key may make per day (UTC); `null` for no limit.",
          }),
        ),
      },
      STRICT,
    ),
    createInvitation: Type.Object({ role: role() }, STRICT),
    changeMember: Type.Object({ role: role() }, STRICT),
    changePerson: Type.Object(
      {
        isOperator: Type.Boolean({
          [EXPECTED]: "true or false",
          description: "Whether everything is allowed.",
        }),
      },
      STRICT,
    ),
    audit: Type.Object(
      {
        limit: integer({ minimum: 1, maximum: 100, default: 50 }, "Maximum number of entries in one answer."),
        cursor: pageCursor("aud"),
      },
      STRICT,
    ),
    createWebhook: Type.Object(
      {
        url: webhookUrl,
        events: webhookEvents([...WEBHOOK_EVENTS]),
        description: note(""),
        signature: Type.Enum(["hmac", "ed25519"], {
          default: "hmac",
          description:
            "How messages are signed: with a shared secret, or with a key pair whose public key verifies.",
        }),
      },
      STRICT,
    ),
    changeWebhook: Type.Object(
      {
        url: Type.Optional(webhookUrl),
        events: Type.Optional(webhookEvents()),
        description: Type.Optional(note()),
        paused: Type.Optional(
          Type.Boolean({
            [EXPECTED]: "true or false",
            description: "Whether deliveries wait. `false` resumes a webhook, whatever paused it.",
          }),
        ),
      },
      STRICT,
    ),
    attempts: Type.Object(
      {
        limit: integer(
          { minimum: 1, maximum: 100, default: 20 },
          "Maximum number of attempts in one answer.",
        ),
        cursor: pageCursor("att"),
      },
      STRICT,
    ),
    replay: Type.Object(
      {
        eventId: Type.Optional(
          Type.String({
            pattern: "^evt_[0-9a-hjkmnp-tv-z]{26}$",
            [EXPECTED]: "evt_ and 26 characters",
            description: "The event to send again, delivered or not.",
          }),
        ),
        since: Type.Optional(
          Type.String({
            pattern: TIME_PATTERN,
            [EXPECTED]: "a time such as 2026-11-22T08:30:00Z",
            description: "Send again all events since then that are not delivered. Instead of `eventId`.",
          }),
        ),
      },
      STRICT,
    ),
    setSecret: Type.Object(
      {
        network: oneOf(networkNames, "Network whose functions may read it.", findOnly(networkNames)),
        value: Type.Optional(
          Type.String({
            minLength: 1,
            [EXPECTED]: "text of at least one character",
            writeOnly: true,
            description: "Its value: at most 2,048 bytes of UTF-8.",
          }),
        ),
        ciphertext: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 12_000,
            description: "In place of `value`: what `tyche/client` makes of it with the network's key.",
          }),
        ),
        allowedHosts: Type.Optional(
          Type.Array(Type.String({ [EXPECTED]: "the name of a host, with or without a port" }), {
            minItems: 1,
            maxItems: 20,
            uniqueItems: true,
            [EXPECTED]: "an array of names of hosts",
            description:
              "Hosts to which a source with the secret may send requests, such as `api.example.com` or `api.example.com:8443`, by https. A run that sends one elsewhere fails. Default: any.",
          }),
        ),
        expiresAt: Type.Optional(
          Type.String({
            pattern: TIME_PATTERN,
            [EXPECTED]: "a time such as 2026-11-22T08:30:00Z",
            description: "After this no request can read it. Default: never.",
          }),
        ),
      },
      STRICT,
    ),
    secretsSigner: Type.Object(
      {
        network: oneOf(networkNames, "Network of the subscription.", findOnly(networkNames)),
        address: address("Account that uploads; the zero address: nobody."),
        signature: Type.Optional(
          Type.Unsafe<Hex>(
            Type.String({
              pattern: "^0x[0-9a-fA-F]{130}$",
              [EXPECTED]: "a signature: 0x and 130 hex digits",
              description:
                "The account's signature (EIP-191) of the message that a call without it answers with.",
            }),
          ),
        ),
      },
      STRICT,
    ),
    secretNetwork: Type.Object(
      { network: oneOf(networkNames, "Network of the secrets.", findOnly(networkNames)) },
      STRICT,
    ),
    createSchedule: Type.Object(
      {
        name: scheduleName,
        network: network(),
        action,
        ...schedule,
        catchUp: catchUp("one"),
        overlap: overlap("skip"),
        until,
        paused: paused(false),
      },
      STRICT,
    ),
    changeSchedule: Type.Object(
      {
        name: Type.Optional(scheduleName),
        action: Type.Optional(action),
        ...schedule,
        catchUp: Type.Optional(catchUp()),
        overlap: Type.Optional(overlap()),
        until,
        paused: Type.Optional(paused()),
      },
      STRICT,
    ),
    createTrigger: Type.Object(
      {
        name: scheduleName,
        network: oneOf(networkNames, "Network whose logs it acts on.", findOnly(networkNames)),
        addresses: Type.Array(
          Type.String({ pattern: "^0x[0-9a-fA-F]{40}$", [EXPECTED]: "an address: 0x and 40 hex digits" }),
          { minItems: 1, maxItems: 10, description: "Addresses of the contracts: 1 to 10." },
        ),
        event: Type.Optional(
          Type.String({
            maxLength: 500,
            [EXPECTED]: "an event of at most 500 characters",
            description: "Human-readable ABI: `event Closed(uint256 indexed round, uint256 players)`.",
          }),
        ),
        topics: Type.Optional(
          Type.Array(Type.Union([topic, Type.Array(topic, { minItems: 1, maxItems: 10 }), Type.Null()]), {
            minItems: 1,
            maxItems: 4,
            description: "Instead of `event`: topics by position, as in `eth_getLogs`; `null` is any.",
          }),
        ),
        filters: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            [EXPECTED]: "an object with values of indexed arguments",
            description:
              "Wanted values of the event's indexed arguments, by name: one value, or a list of up to 10.",
          }),
        ),
        confidence: Type.Enum([...LOG_CONFIDENCES], {
          default: "safe",
          description:
            "Which blocks it acts on: `latest` each new one; `safe` and `finalized` those that the node calls so. On an embedded network each block is final.",
        }),
        action: eventAction,
        actionNetwork,
        fromBlock: Type.Optional(
          integer(
            { minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
            "First block whose logs it acts on; an earlier one is replayed. Default: the next block.",
          ),
        ),
        paused: paused(false),
      },
      STRICT,
    ),
    changeTrigger: Type.Object(
      {
        name: Type.Optional(scheduleName),
        action: Type.Optional(eventAction),
        actionNetwork,
        paused: Type.Optional(paused()),
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
    onChain: Type.Object(
      {
        network: Type.Optional(oneOf(networkNames, "Only the requests on this network. Default: on all.")),
        preset: Type.Optional(
          Type.String({
            maxLength: 100,
            description:
              "Only the requests for this preset. A page looks through 1,000 requests, so that it may have few or none of them before the last.",
          }),
        ),
        cursor: pageCursor("req"),
      },
      STRICT,
    ),
    consumers: Type.Object(
      { network: Type.Optional(oneOf(networkNames, "Only the contracts on this network. Default: on all.")) },
      STRICT,
    ),
    contractRequests: Type.Object(
      {
        network: oneOf(networkNames, "Network of the contracts.", findOnly(networkNames)),
        before: before(),
      },
      STRICT,
    ),
    search: Type.Object(
      {
        q: Type.String({ minLength: 1, description: "What to look for." }),
        network: Type.Optional(oneOf(networkNames, "Network whose hits are preferred.")),
        before: Type.Optional(
          Type.String({
            description:
              "Searches `network` for the label in the blocks below this one: `before` of an entry of `older`.",
          }),
        ),
      },
      STRICT,
    ),
    none: Type.Object({}, STRICT),
  };
}
