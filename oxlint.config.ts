import { defineConfig, type OxlintOverride } from "oxlint";

/** Layers of `src`, from the top down, each with those it may import beside itself. README.md, "Map of the code", describes them. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  cli: [
    "app",
    "config",
    "networks",
    "presets",
    "store",
    "client",
    "requests",
    "people",
    "dapps",
    "explorer",
    "verify",
    "api",
    "text",
    "domain",
    "lib",
  ],
  app: [
    "config",
    "client",
    "http",
    "web",
    "browser",
    "requests",
    "webhooks",
    "triggers",
    "people",
    "dapps",
    "explorer",
    "oracle",
    "verify",
    "networks",
    "chainlink",
    "evm",
    "presets",
    "store",
    "vrf",
    "secrets",
    "sandbox",
    "api",
    "beacon",
    "text",
    "domain",
    "lib",
  ],
  client: ["secrets", "api"],
  hardhat: ["client"],
  http: [
    "config",
    "requests",
    "webhooks",
    "triggers",
    "people",
    "dapps",
    "explorer",
    "verify",
    "api",
    "beacon",
    "text",
    "domain",
    "lib",
  ],
  browser: ["client", "sandbox", "text", "domain", "lib"],
  web: ["requests", "people", "dapps", "explorer", "verify", "text", "domain", "lib"],
  explorer: ["requests", "networks", "chainlink", "evm", "store", "api", "beacon", "text", "domain", "lib"],
  requests: [
    "dapps",
    "presets",
    "networks",
    "chainlink",
    "evm",
    "store",
    "secrets",
    "sandbox",
    "api",
    "beacon",
    "text",
    "domain",
    "lib",
  ],
  people: ["store", "domain", "lib"],
  dapps: ["networks", "chainlink", "evm", "store", "secrets", "api", "domain", "lib"],
  triggers: ["requests", "dapps", "networks", "evm", "store", "api", "domain", "lib"],
  webhooks: ["store", "sandbox", "api", "domain", "lib"],
  oracle: ["networks", "chainlink", "evm", "sandbox", "vrf", "secrets", "beacon", "text", "domain", "lib"],
  verify: ["chainlink", "vrf", "api", "beacon", "text", "domain", "lib"],
  config: ["networks", "chainlink", "store", "sandbox", "beacon", "domain", "lib"],
  networks: ["chainlink", "evm", "beacon", "domain", "lib"],
  chainlink: ["evm", "vrf", "api", "beacon", "domain", "lib"],
  evm: ["lib"],
  presets: ["api", "text", "domain", "lib"],
  store: ["beacon", "domain", "lib"],
  vrf: ["lib"],
  secrets: ["sandbox", "lib"],
  api: ["domain", "lib"],
  beacon: ["text", "domain", "lib"],
  text: ["domain", "lib"],
  domain: ["lib"],
  lib: [],
};

/** Rooms of a layer, each with those beside it that it may import. Files outside them connect them, and hold what several need. */
export const ROOMS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  app: { oracle: ["network"], process: ["network"], tools: ["network"], network: [] },
  api: { parameters: [] },
  http: { routes: [] },
  browser: { application: [], docs: [] },
  verify: { page: [] },
  networks: { embedded: [], external: [] },
  chainlink: { contracts: [] },
  requests: {
    takeover: ["dispatch", "follow"],
    dispatch: ["follow", "keep"],
    explain: ["follow"],
    follow: ["read"],
    keep: ["accept"],
    accept: [],
    read: [],
    observe: [],
  },
  oracle: {
    secrets: ["node", "functions"],
    node: ["batches", "functions", "vrf", "protocol"],
    batches: ["functions", "vrf"],
    functions: [],
    vrf: [],
    protocol: [],
  },
};

/** Files that may read the wall clock, by what they need it for. It may jump by a day at any moment, so nothing waits for it or counts by it. */
const WALL_CLOCK: Readonly<Record<string, readonly string[]>> = {
  "times that are stored for people to read, and ids that sort by them": [
    "src/cli/steadyOutput.ts",
    "src/dapps/dapps.ts",
    "src/dapps/keys.ts",
    "src/domain/id.ts",
    "src/networks/embedded/launch.ts",
    "src/oracle/node/inbox.ts",
    "src/requests/accept/acceptance.ts",
    "src/requests/follow/tracker.ts",
    "src/requests/follow/callbackRecorder.ts",
    "src/requests/lateBeacons.ts",
    "src/requests/accept/dryRunLog.ts",
    "src/requests/dispatch/linker.ts",
    "src/requests/dispatch/senderJournal.ts",
    "src/store/oracleEvidence.ts",
    "src/store/oracleRounds.ts",
  ],
  "the age of a stored time when it is loaded or shown": [
    "src/cli/secretCommand.ts",
    "src/domain/usableKey.ts",
    "src/requests/requestPipeline.ts",
    "src/requests/read/present.ts",
    "src/browser/application/parts/keyExpiry.tsx",
    "src/browser/application/parts/format.tsx",
    "src/requests/requestBook.ts",
  ],
  "spans, which traces put on one axis with those of other processes": [
    "src/http/frame.ts",
    "src/lib/spans.ts",
    "src/oracle/functions/execute.ts",
    "src/oracle/node/presetDelivery.ts",
    "src/oracle/functions/coordinator.ts",
    "src/oracle/batches/presetNetwork.ts",
    "src/oracle/batches/runBatch.ts",
    "src/oracle/vrf/vrfDelivery.ts",
  ],
  "days and hours of the calendar": [
    "src/dapps/dailyBudget.ts",
    "src/requests/read/activity.ts",
    "src/requests/accept/requestLimits.ts",
    "src/requests/keep/usage.ts",
    "src/requests/read/usageReport.ts",
  ],
  "retention periods and sessions, which outlast a suspended machine or a restart": [
    "sandbox/build/buildChild.ts",
    "src/app/oracle/oracleParts.ts",
    "src/oracle/secrets/vault.ts",
    "src/people/access.ts",
    "src/people/people.ts",
    "src/requests/secrets.ts",
    "src/browser/application/pages/dapps/secrets.tsx",
    "src/requests/keep/deletedDapps.ts",
    "src/requests/keep/retention.ts",
    "src/webhooks/delivery.ts",
    "src/webhooks/webhooks.ts",
  ],
  "the times at which rounds of drand are due": [
    "src/beacon/beaconRounds.ts",
    "src/requests/accept/chooseBeacon.ts",
    "src/requests/dispatch/beaconAhead.ts",
    "src/requests/follow/beaconWait.ts",
  ],
  "the times at which schedules are due": [
    "src/browser/application/pages/dapps/triggerForms.tsx",
    "src/triggers/logActor.ts",
    "src/triggers/logReading.ts",
    "src/triggers/logRuns.ts",
    "src/triggers/logTriggers.ts",
    "src/triggers/scheduler.ts",
    "src/triggers/schedules.ts",
  ],
  "the age of a message, by its sender's clock": [
    "src/app/network/connectSecrets.ts",
    "src/client/verifyWebhook.ts",
    "src/oracle/secrets/operatorCalls.ts",
  ],
  "the timestamps of an embedded chain's blocks, and how far a node is behind": [
    "src/networks/embedded/clockLimit.ts",
    "src/networks/embedded/storage/chainStorage.ts",
    "src/networks/external/checkNetwork.ts",
  ],
  "the second of two clocks: the first stops while the machine is suspended": ["src/store/leaseKeeper.ts"],
};

/** Layers that run in browsers too. */
const BROWSER_LAYERS = ["client", "verify"];

/** An import of a layer that `folder` has no business with, however deep the importing file lies. */
function onlyImports(folder: string, allowed: readonly string[]): OxlintOverride {
  return refuseImports(`src/${folder}/**/*.{ts,tsx}`, refusedByLayer(folder, allowed));
}

/** An import of a room that `room` has no business with. An override replaces what a wider one says, so it repeats what its layer refuses. */
function onlyImportsOfRoom(layer: string, room: string, allowed: readonly string[]): OxlintOverride[] {
  const refused = Object.keys(ROOMS[layer]!).filter((other) => other !== room && !allowed.includes(other));
  const outOfRoom = (depth: number) => ({
    // Exactly as many steps up: a layer may have the name of a room.
    regex: `^(?:\\.\\./){${depth + 1}}(?:${refused.join("|")})/`,
    message: `src/${layer}/${room} may import ${allowed.length > 0 ? `only ${allowed.join(", ")}` : "none"} of the folders beside it (ROOMS in oxlint.config.ts).`,
  });
  return [0, 1, 2].map((depth) =>
    refuseImports(`src/${layer}/${room}/${"*/".repeat(depth)}*.{ts,tsx}`, [
      ...refusedByLayer(layer, LAYERS[layer]!),
      ...(refused.length > 0 ? [outOfRoom(depth)] : []),
    ]),
  );
}

function refuseImports(files: string, patterns: ReturnType<typeof refusedByLayer>): OxlintOverride {
  return { files: [files], rules: { "no-restricted-imports": ["error", { patterns }] } };
}

function refusedByLayer(folder: string, allowed: readonly string[]) {
  const refused = [...Object.keys(LAYERS), "sandbox"].filter(
    (layer) => layer !== folder && !allowed.includes(layer),
  );
  return [
    {
      regex: `^(?:\\.\\./)+(?:${refused.join("|")})/`,
      message: `src/${folder} may import ${allowed.length > 0 ? `only ${allowed.join(", ")}` : "nothing of ours"} (README.md, "Map of the code").`,
    },
    ...(BROWSER_LAYERS.includes(folder)
      ? [
          { regex: "^node:", message: `src/${folder} runs in browsers: it uses no Node module.` },
          {
            group: ["**/api/*", "!**/api/types.ts"],
            message: "Import api/types.ts: schemas would bring TypeBox.",
          },
        ]
      : []),
    ...(folder === "client" ? [{ regex: "^[^.]", message: "src/client has no dependency." }] : []),
  ];
}

export default defineConfig({
  plugins: ["typescript", "import", "unicorn", "oxc", "vitest"],
  categories: { correctness: "error", suspicious: "error" },
  rules: {
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/consistent-type-imports": "error",
    eqeqeq: "error",
    "no-console": "error",
    "typescript/no-explicit-any": "error",
    "no-shadow": "off",
    "typescript/consistent-return": "off",
    "no-unmodified-loop-condition": "off",
    "no-await-in-loop": "off",
    "unicorn/no-array-sort": "off",
    "unicorn/consistent-function-scoping": "off",
    "no-underscore-dangle": "off",
    "unicorn/require-module-specifiers": "off",
    "import/no-unassigned-import": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
  },
  overrides: [
    ...Object.entries(LAYERS).map(([folder, allowed]) => onlyImports(folder, allowed)),
    ...Object.entries(ROOMS).flatMap(([layer, rooms]) =>
      Object.entries(rooms).flatMap(([room, allowed]) => onlyImportsOfRoom(layer, room, allowed)),
    ),
    {
      files: ["src/**", "sandbox/{host,build}/**", "sandbox/*.ts"],
      rules: {
        "no-restricted-properties": [
          "error",
          {
            object: "Date",
            property: "now",
            message:
              "Measure time with performance.now(): the wall clock jumps. WALL_CLOCK in oxlint.config.ts lists who needs it, and what for.",
          },
        ],
      },
    },
    { files: Object.values(WALL_CLOCK).flat(), rules: { "no-restricted-properties": "off" } },
    {
      files: ["src/**", "sandbox/**"],
      rules: { "import/no-duplicates": ["error", { preferInline: true }] },
    },
    {
      files: ["sandbox/{host,build}/**/*.ts", "sandbox/*.ts"],
      rules: {
        "no-restricted-imports": [
          "error",
          {
            patterns: [
              {
                regex: "/src/",
                message: "sandbox is a package of its own: it imports nothing of src.",
              },
            ],
          },
        ],
      },
    },
    {
      files: ["sandbox/guest/**"],
      rules: {
        "no-restricted-imports": [
          "error",
          {
            patterns: [
              {
                regex: "/host/|/build/|/src/|^node:",
                message: "sandbox/guest runs inside the isolate and imports nothing outside itself.",
              },
            ],
          },
        ],
        "typescript/unbound-method": "off",
        "typescript/no-useless-default-assignment": "off",
        "typescript/no-extraneous-class": "off",
        "typescript/no-base-to-string": "off",
      },
    },
    {
      files: [
        "src/cli/**",
        "src/tyche.ts",
        "pack/**",
        "test/**",
        "bench/**",
        "src/chainlink/contracts/compile.ts",
      ],
      rules: { "no-console": "off" },
    },
  ],
  ignorePatterns: ["plugins/*/source.js", "node_modules", ".build"],
});
