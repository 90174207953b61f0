import { Type, type Static, type TProperties } from "typebox";
import { DEFAULT_LIMITS as DEFAULT_HTTP_LIMITS } from "../../http/limits.ts";
import { NETWORK_NAMES } from "../../networks/profiles.ts";
import { EXPECTED } from "../../lib/schemaErrors.ts";
import { DatabaseChoice } from "./databaseSchema.ts";
import { KeepChoice } from "./keepSchema.ts";
import { NetworkChoice } from "./networkSchema.ts";
import { MAX_OPEN_PER_NETWORK } from "../../requests/shares.ts";

const STRICT = { additionalProperties: false } as const;

/** A whole number with its range and default; both are named in the error. */
const integer = (description: string, [minimum, maximum]: readonly [number, number], fallback?: number) =>
  Type.Integer({
    minimum,
    maximum,
    [EXPECTED]: `a whole number from ${minimum} to ${maximum}`,
    description,
    ...(fallback === undefined ? {} : { default: fallback }),
  });

const text = (description: string, fallback?: string) =>
  Type.String({
    minLength: 1,
    [EXPECTED]: "a string",
    description,
    ...(fallback === undefined ? {} : { default: fallback }),
  });

const texts = (description: string) =>
  Type.Array(Type.String({ minLength: 1, [EXPECTED]: "a string" }), {
    default: [],
    [EXPECTED]: "an array of strings",
    description,
  });

const choice = <const Values extends readonly string[]>(
  values: Values,
  description: string,
  fallback?: Values[number],
) =>
  Type.Unsafe<Values[number]>({
    type: "string",
    enum: values,
    description,
    ...(fallback === undefined ? {} : { default: fallback }),
  });

/** An object of members that all have defaults. */
const section = <Properties extends TProperties>(properties: Properties, description: string) =>
  Type.Object(properties, { ...STRICT, default: {}, [EXPECTED]: "an object", description });

const DAY_MS = 86_400_000;
const http = DEFAULT_HTTP_LIMITS;

/**
 * The configuration file. Every member has a default, so `{}` is the same as no file. Relative paths start at the file's folder.
 * `tyche.schema.json` beside this file is made from it, for completion in editors.
 */
export const ConfigSchema = Type.Object(
  {
    $schema: Type.Optional(text("Where this schema is, for editors.")),
    host: text("Address to listen on.", "127.0.0.1"),
    port: integer("Port of the API; 0 takes a free one.", [0, 65_535], 3000),
    hosts: texts("Names under which a forwarder serves this, where `host` is a loopback address."),
    rpcOrigins: texts(
      "Origins of pages that may use the embedded chains' RPC ports besides those of this machine, such as `https://app.example.org`.",
    ),
    trustProxy: Type.Boolean({
      default: false,
      [EXPECTED]: "true or false",
      description:
        "Whether `X-Forwarded-*` of one proxy in front is believed; of several addresses there, the last.",
    }),
    logLevel: choice(
      ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
      "Least severity that is logged.",
      "warn",
    ),
    pluginsDir: Type.Optional(
      text(
        "Folder of the presets. Default: those that come with Tyche, and beside them those in `plugins` of the working directory.",
      ),
    ),
    database: Type.Optional(DatabaseChoice),
    keep: KeepChoice,
    networks: Type.Record(Type.String(), NetworkChoice, {
      propertyNames: {
        pattern: "^[a-z][a-z0-9_]{0,31}$",
        [EXPECTED]: "a name of 1 to 32 lower-case letters, digits and _",
      },
      minProperties: 1,
      default: Object.fromEntries(NETWORK_NAMES.map((name) => [name, "embedded"])),
      [EXPECTED]: 'an object of networks, such as {"sepolia": "embedded"}',
      description:
        "The networks served, by name; only those. `embedded`: a chain inside the service, also an object with `embedded`; another object: a network with nodes of its own.",
    }),
    http: section(
      {
        maxBodyBytes: integer("Largest body.", [1_024, 64 * 1_048_576], http.maxBodyBytes),
        maxHeaderBytes: integer(
          "Largest request line plus headers.",
          [1_024, 1_048_576],
          http.maxHeaderBytes,
        ),
        headersTimeoutMs: integer("Time for the headers to arrive.", [100, DAY_MS], http.headersTimeoutMs),
        requestTimeoutMs: integer(
          "Time for a whole request to arrive.",
          [100, DAY_MS],
          http.requestTimeoutMs,
        ),
        keepAliveTimeoutMs: integer(
          "Time that an idle connection is kept.",
          [0, DAY_MS],
          http.keepAliveTimeoutMs,
        ),
        maxConnections: integer("Connections at once.", [1, 1_000_000], http.maxConnections),
        waitTimeoutMs: integer(
          "Time that a call waits for its result before it answers `still_pending`.",
          [100, DAY_MS],
          http.waitTimeoutMs,
        ),
        heartbeatMs: integer(
          "Between comments that keep an event stream alive.",
          [100, DAY_MS],
          http.heartbeatMs,
        ),
        rateLimit: integer("Calls of one API key in a window.", [1, 1e9], http.rateLimit),
        rateWindowSeconds: integer("Length of the window.", [1, 86_400], http.rateWindowSeconds),
        maxConcurrent: integer("Calls of one API key under way at once.", [1, 1e6], http.maxConcurrent),
        anonymousRateLimit: integer(
          "Calls without a valid key from one address in a window.",
          [1, 1e9],
          http.anonymousRateLimit,
        ),
        pageRateLimit: integer(
          "Calls of pages, explorer and `/metrics` from one address in a window.",
          [1, 1e9],
          http.pageRateLimit,
        ),
        drainDelayMs: integer(
          "When stopping: time for which calls are still taken while `/readyz` is 503 already, for a load balancer to notice.",
          [0, 10_000],
          http.drainDelayMs,
        ),
        closeGraceMs: integer(
          "When stopping, after that: time for calls under way to end.",
          [0, DAY_MS],
          http.closeGraceMs,
        ),
      },
      "Limits of the HTTP layer.",
    ),
    sandbox: section(
      {
        concurrency: Type.Optional(
          integer("Quick sources that run at once. Default: the machine's cores.", [1, 1_024]),
        ),
        maxWorkers: Type.Optional(
          integer("Child processes at most. Default: four for each of `concurrency`, and one.", [2, 8_192]),
        ),
        maxQueue: integer("Runs that may wait.", [1, 1e6], 4_096),
        maxQueuePerCaller: Type.Optional(
          integer("Runs that may wait for one caller. Default: half of `maxQueue`.", [1, 1e6]),
        ),
        allowHosts: texts(
          "Hosts that sources may reach although they aren't public, such as `127.0.0.1:8080`.",
        ),
        allowModules: texts("Modules that sources may import, such as `npm:ethers@6` or `https://esm.sh/`."),
      },
      "What runs callers' sources.",
    ),
    requests: section(
      {
        maxOpenPerNetwork: integer(
          "Requests in work on one network; each dapp may hold as many as it leaves free.",
          [2, 1e6],
          MAX_OPEN_PER_NETWORK,
        ),
        maxDailyPerDapp: Type.Optional(
          integer(
            "Requests of one dapp on a day (UTC), with any of its keys. Default: any number.",
            [1, 1e9],
          ),
        ),
      },
      "Limits of the requests in work.",
    ),
  },
  { ...STRICT, [EXPECTED]: "an object", description: "Configuration of a Tyche service." },
);

/** A configuration with every default filled in. */
export type Config = Static<typeof ConfigSchema>;

/** The JSON Schema of the file, for editors: nothing in it is required, as everything has a default. */
export function describeConfigSchema(): object {
  const schema = withoutDefaulted(JSON.parse(JSON.stringify(ConfigSchema))) as object;
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title: "tyche.json", ...schema };
}

/** A member that has a default may be left out. */
function withoutDefaulted(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
  const { required, ...rest } = schema as { readonly required?: unknown; readonly properties?: object };
  const properties = (rest.properties ?? {}) as Readonly<Record<string, { readonly default?: unknown }>>;
  const left = Array.isArray(required)
    ? required.filter((name: string) => properties[name]?.default === undefined)
    : [];
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, withoutDefaulted(part)])),
    ...(left.length > 0 ? { required: left } : {}),
  };
}
