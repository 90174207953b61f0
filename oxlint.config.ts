import { defineConfig, type OxlintOverride } from "oxlint";

/** Layers of `src`, from the top down, each with those it may import beside itself. README.md, "Map of the code", describes them. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  app: [
    "cli",
    "client",
    "http",
    "web",
    "browser",
    "requests",
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
    "sandbox",
    "lib",
  ],
  cli: ["client", "requests", "dapps", "explorer", "verify", "lib"],
  client: ["explorer"],
  http: ["requests", "dapps", "explorer", "verify", "lib"],
  browser: ["client", "sandbox", "lib"],
  web: ["requests", "dapps", "explorer", "verify", "lib"],
  explorer: ["networks", "chainlink", "evm", "store", "lib"],
  requests: ["dapps", "presets", "networks", "chainlink", "evm", "store", "sandbox", "lib"],
  dapps: ["networks", "chainlink", "evm", "store", "lib"],
  oracle: ["networks", "chainlink", "evm", "sandbox", "vrf", "lib"],
  verify: ["chainlink", "vrf", "lib"],
  networks: ["chainlink", "evm", "lib"],
  chainlink: ["evm", "vrf", "lib"],
  evm: ["lib"],
  presets: ["lib"],
  store: ["lib"],
  vrf: ["lib"],
  lib: [],
};

/** Layers that run in browsers too. */
const BROWSER_LAYERS = ["client", "verify"];

/** An import of a layer that `folder` has no business with, however deep the importing file lies. */
function onlyImports(folder: string, allowed: readonly string[]): OxlintOverride {
  const refused = [...Object.keys(LAYERS), "sandbox"].filter(
    (layer) => layer !== folder && !allowed.includes(layer),
  );
  return {
    files: [`src/${folder}/**/*.{ts,tsx}`],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              regex: `^(?:\\.\\./)+(?:${refused.join("|")})/`,
              message: `src/${folder} may import only ${allowed.join(", ") || "nothing of ours"} (README.md, "Map of the code").`,
            },
            ...(BROWSER_LAYERS.includes(folder)
              ? [{ regex: "^node:", message: `src/${folder} runs in browsers: it uses no Node module.` }]
              : []),
            ...(folder === "client" ? [{ regex: "^[^.]", message: "src/client has no dependency." }] : []),
          ],
        },
      ],
    },
  };
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
    {
      files: ["sandbox/host/**/*.ts", "sandbox/*.ts"],
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
                regex: "/host/|/src/|^node:",
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
        "src/app/tyche.ts",
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
