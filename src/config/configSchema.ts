import { Type, type Static, type TProperties } from "typebox";
import { DEFAULT_LIMITS as DEFAULT_HTTP_LIMITS } from "../http/limits.ts";
import { STRICT } from "./schemaParts.ts";
import { DAY_MS } from "../lib/time.ts";
import { NETWORK_NAMES } from "../networks/profiles.ts";
import { EXPECTED } from "../lib/schemaCheck.ts";
import { DatabaseChoice } from "./databaseSchema.ts";
import { IdentityProviderChoice } from "./identityProviderSchema.ts";
import { KeepChoice } from "./keepSchema.ts";
import { NetworkChoice } from "./networkSchema.ts";
import { MAX_OPEN_PER_NETWORK } from "../requests/accept/openLimits.ts";

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

/** An object whose members all have defaults. */
const section = <Properties extends TProperties>(properties: Properties, description: string) =>
  Type.Object(properties, { ...STRICT, default: {}, [EXPECTED]: "an object", description });

const http = DEFAULT_HTTP_LIMITS;

/**
 * The configuration file. Every member has a default, so `{}` is the same as no file. Relative paths start at the file's folder.
 */
export const ConfigSchema = Type.Object(
  {
    $schema: Type.Optional(text("Where this schema is, for editors.")),
    host: text("Address to listen on.", "127.0.0.1"),
    port: integer("Port of the API; 0 takes a free one.", [0, 65_535], 3000),
    hosts: texts("Host names under which a reverse proxy serves this, if `host` is a loopback address."),
    publicUrl: Type.Optional(
      text(
        "Address under which callers reach this, such as `https://tyche.example.org`: links in results start with it. Its host name counts as one of `hosts`. Default: the address listened on.",
      ),
    ),
    rpcOrigins: texts(
      "Origins of pages that may use the embedded chains' RPC ports besides those of this machine, such as `https://app.example.org`.",
    ),
    trustProxy: Type.Boolean({
      default: false,
      [EXPECTED]: "true or false",
      description:
        "Whether to trust the `X-Forwarded-*` headers of one proxy in front; of several addresses, the last counts.",
    }),
    logLevel: choice(
      ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
      "Lowest severity to log.",
      "warn",
    ),
    pluginsDir: Type.Optional(
      text(
        "Folder of the presets. Default: the presets shipped with Tyche, plus those in `plugins` of the working directory.",
      ),
    ),
    database: Type.Optional(DatabaseChoice),
    identityProvider: Type.Optional(IdentityProviderChoice),
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
        "The networks served, by name; no others are. `embedded`, or an object with `embedded`: a chain inside the service. Any other object: a network with its own nodes.",
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
        maxConnections: integer("Concurrent connections.", [1, 1_000_000], http.maxConnections),
        maxConnectionsPerAddress: integer(
          "Concurrent connections of one address (IPv6: of one /64); not applied to loopback addresses, nor with `trustProxy`.",
          [1, 1_000_000],
          http.maxConnectionsPerAddress,
        ),
        waitTimeoutMs: integer(
          "Time that a call waits for its result before it answers `still_pending`.",
          [100, DAY_MS],
          http.waitTimeoutMs,
        ),
        heartbeatMs: integer(
          "Interval of the comments that keep an event stream alive.",
          [100, DAY_MS],
          http.heartbeatMs,
        ),
        rateLimit: integer("Calls of one API key in a window.", [1, 1e9], http.rateLimit),
        rateWindowSeconds: integer("Length of the window.", [1, 86_400], http.rateWindowSeconds),
        maxConcurrent: integer("Concurrent calls of one API key.", [1, 1e6], http.maxConcurrent),
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
          "When stopping: time during which calls are still accepted while `/readyz` already answers 503, so that a load balancer notices.",
          [0, 10_000],
          http.drainDelayMs,
        ),
        closeGraceMs: integer(
          "When stopping, after that: time for calls in progress to finish.",
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
          integer(
            "Maximum number of child processes. Default: four times `concurrency`, plus one.",
            [2, 8_192],
          ),
        ),
        maxQueue: integer("Runs that may wait.", [1, 1e6], 4_096),
        maxQueuePerCaller: Type.Optional(
          integer("Runs that may wait for one caller. Default: half of `maxQueue`.", [1, 1e6]),
        ),
        allowHosts: texts("Non-public hosts that sources may reach, such as `127.0.0.1:8080`."),
        allowModules: texts("Modules that sources may import, such as `npm:ethers@6` or `https://esm.sh/`."),
      },
      "The sandbox that runs callers' sources.",
    ),
    requests: section(
      {
        maxOpenPerNetwork: integer(
          "Open requests on one network; a dapp may hold at most as many as it leaves free.",
          [2, 1e6],
          MAX_OPEN_PER_NETWORK,
        ),
        maxDailyPerDapp: Type.Optional(
          integer("Requests of one dapp in a day (UTC), over all its keys. Default: no limit.", [1, 1e9]),
        ),
      },
      "Limits on open requests.",
    ),
  },
  { ...STRICT, [EXPECTED]: "an object", description: "Configuration of a Tyche service." },
);

/** A configuration with every default filled in. */
export type Config = Static<typeof ConfigSchema>;

/** Returns the file's JSON Schema for editors; nothing is required, because every member has a default. */
export function describeConfigSchema(): object {
  const schema = withoutDefaulted(JSON.parse(JSON.stringify(ConfigSchema))) as object;
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title: "tyche.json", ...schema };
}

/** Removes members with a default from `required`. */
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
