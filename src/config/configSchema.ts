import { Type, type Static } from "typebox";
import { HttpLimitsChoice } from "./httpLimits.ts";
import { integer, section, STRICT } from "./schemaParts.ts";
import { NETWORK_NAMES } from "../networks/profiles.ts";
import { EXPECTED } from "../lib/schemaCheck.ts";
import { DatabaseChoice } from "./databaseSchema.ts";
import { IdentityProviderChoice } from "./identityProviderSchema.ts";
import { KeepChoice } from "./keepSchema.ts";
import { NetworkChoice } from "./networkSchema.ts";

/** Maximum number of open requests on one network: on four networks, with the longest sources, they take 300 MB. */
const MAX_OPEN_PER_NETWORK = 2_500;

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
    http: HttpLimitsChoice,
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
