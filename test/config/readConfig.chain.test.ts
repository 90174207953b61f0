import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeConfigSchema } from "../../src/config/configSchema.ts";
import { hideSecrets } from "../../src/config/hideSecrets.ts";
import { parseKeep } from "../../src/config/keepSchema.ts";
import { parsePublicUrl } from "../../src/config/publicUrl.ts";
import { ConfigError, readConfig } from "../../src/config/readConfig.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), "tyche-config-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const write = (content: unknown, file = path.join(dataDir, "tyche.json")): string => {
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
};
const read = (environment: Record<string, string> = {}, file?: string) =>
  readConfig({ dataDir, environment, file });

function errorOf(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

test("without a file every member has its default, and an empty file is the same", () => {
  const { config, file, variables } = read();
  expect({ file, variables }).toEqual({ file: undefined, variables: [] });
  expect(config).toMatchObject({ host: "127.0.0.1", port: 3000, trustProxy: false, logLevel: "warn" });
  expect(Object.keys(config.networks)).toEqual(["polygon_mumbai", "sepolia", "fuji", "fantom_testnet"]);
  expect(config.http.rateLimit).toBe(100_000);
  write({});
  expect(read().config).toEqual(config);
});

test("--config wins over TYCHE_CONFIG, and that over tyche.json in the data directory", () => {
  write({ port: 1 });
  expect(read().config.port).toBe(1);
  const second = write({ port: 2 }, path.join(dataDir, "second.json"));
  expect(read({ TYCHE_CONFIG: second }).config.port).toBe(2);
  const third = write({ port: 3 }, path.join(dataDir, "third.json"));
  expect(read({ TYCHE_CONFIG: second }, third)).toMatchObject({ config: { port: 3 }, file: third });
});

test("variables of the environment win over the file", () => {
  write({ port: 1, sandbox: { allowHosts: ["a.example"], maxQueue: 10 } });
  const { config, variables } = read({ PORT: "0", TYCHE_ALLOW_HOSTS: "b.example, c.example" });
  expect(config).toMatchObject({
    port: 0,
    sandbox: { allowHosts: ["b.example", "c.example"], maxQueue: 10 },
  });
  expect(variables).toEqual(["PORT", "TYCHE_ALLOW_HOSTS"]);
});

test("a relative path starts at the file", () => {
  mkdirSync(path.join(dataDir, "presets"));
  write({ pluginsDir: "presets" });
  expect(read().config.pluginsDir).toBe(path.join(dataDir, "presets"));
});

test("every violation is named at once, with its path and what is allowed", () => {
  write({
    prt: 1,
    networks: { sepolia: "public", mainnet: "embedded" },
    http: { rateLimit: 0 },
    sandbox: { allowHosts: [3] },
  });
  const { message, code, details } = errorOf(() => read({ PORT: "http" }));
  expect(code).toBe("invalid_config");
  expect(details.map(({ path: at }) => at).toSorted()).toEqual(
    [
      "PORT",
      "/http/rateLimit",
      "/networks/mainnet",
      "/networks/sepolia",
      "/prt",
      "/sandbox/allowHosts/0",
    ].toSorted(),
  );
  expect(message).toContain("PORT: must be a whole number from 0 to 65535");
  expect(message).toContain("/http/rateLimit: must be a whole number from 1 to 1000000000; got 0");
  expect(message).toContain("polygon_mumbai, sepolia, fuji, fantom_testnet");
});

test.each([
  ["is no JSON", '{"port": 1,}', /line 1, column 12/],
  ["has a member twice", '{"port": 1, "port": 2}', /port/],
  ["is no object", "[]", /must be a JSON object/],
])("a file that %s", (_, content, message) => {
  write(content);
  expect(errorOf(() => read()).message).toMatch(message);
});

test("a file that was named and is not there", () => {
  expect(errorOf(() => read({}, path.join(dataDir, "none.json"))).message).toMatch(
    /none\.json.*\n.*can't be read/,
  );
});

test("a network or a layer that there isn't, in what is accepted for one start", () => {
  const accepted = { TYCHE_ACCEPT_CHAINS: "fuji, mine", TYCHE_ACCEPT_MISSING: "user" };
  write({ networks: { fuji: "embedded" } });
  expect(errorOf(() => read(accepted)).message).toMatch(
    /^TYCHE_ACCEPT_CHAINS "mine" can't be used: an entry is a network, one of .*fuji/,
  );
  const { details } = errorOf(() => read({ ...accepted, TYCHE_ACCEPT_MISSING: "seccomp,user" }));
  expect(details.map(({ path: at }) => at)).toEqual(["TYCHE_ACCEPT_CHAINS", "TYCHE_ACCEPT_MISSING"]);
  expect(read({ TYCHE_ACCEPT_MISSING: "user,system-calls" }).variables).toEqual(["TYCHE_ACCEPT_MISSING"]);
});

test("what a start would refuse is named at once, beside what the schema refuses", () => {
  write({
    host: "127.0.0.1:3000",
    port: -1,
    pluginsDir: "none",
    rpcOrigins: ["https://app.example.org", "*"],
    hosts: ["tyche.example.org", "https://tyche.example.org", "tyche.example.org:8080", "a/b"],
    sandbox: {
      allowHosts: ["127.0.0.1:8080", "http://a.example", "a.example:99999"],
      allowModules: ["npm:ethers@6", "npm:", "ethers"],
    },
  });
  const { details, message } = errorOf(() => read());
  expect(details.map(({ path: at }) => at)).toEqual([
    "/port",
    "/rpcOrigins/1",
    "/hosts/1",
    "/hosts/2",
    "/hosts/3",
    "/sandbox/allowHosts/1",
    "/sandbox/allowHosts/2",
    "/sandbox/allowModules/1",
    "/sandbox/allowModules/2",
    "/host",
    "/pluginsDir",
  ]);
  expect(message).toContain(
    '/rpcOrigins/1: "*" can\'t be used: an entry is an origin such as https://app.example.org, without a path',
  );
});

test.each([
  ["https://tyche.example.org", "https://tyche.example.org"],
  ["HTTPS://Tyche.example.org:443/", "https://tyche.example.org"],
  ["http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080"],
])("TYCHE_PUBLIC_URL may be %s", (publicUrl, origin) => {
  expect(parsePublicUrl(read({ TYCHE_PUBLIC_URL: publicUrl }).config.publicUrl!)).toBe(origin);
});

test.each([
  "tyche.example.org",
  "ftp://tyche.example.org",
  "https://tyche.example.org/api",
  "https://tyche.example.org/?",
  "https://tyche.example.org#",
  "https://",
])("TYCHE_PUBLIC_URL may not be %s", (publicUrl) => {
  const { message } = errorOf(() => read({ TYCHE_PUBLIC_URL: publicUrl }));
  expect(message).toMatch(/^TYCHE_PUBLIC_URL must be an http or https URL of just a host/);
  expect(message).toContain(`got "${publicUrl}"`);
});

test("a public address with credentials is refused without being repeated", () => {
  write({ publicUrl: "https://me:swordfish@tyche.example.org" });
  const { message } = errorOf(() => read());
  expect(message).toContain("/publicUrl: must be");
  expect(message).not.toContain("swordfish");
});

test.each(["localhost", "::1", "0.0.0.0", "host.example"])("HOST may be %s", (host) => {
  expect(read({ HOST: host }).config.host).toBe(host);
});

test.each(["*", "1.2.3", "http://localhost", "a b", "[::1]"])("HOST can't be %s", (host) => {
  expect(errorOf(() => read({ HOST: host })).message).toMatch(/^HOST must be an address/);
});

test("variables that nothing reads are named, but not those that the file names", () => {
  write({
    database: { url: { env: "TYCHE_DATABASE" } },
    networks: {
      sepolia: {
        rpcUrls: ["https://node.example"],
        contracts: "sepolia.json",
        operatorKey: { env: "TYCHE_KEY" },
      },
    },
  });
  const environment = {
    TYCHE_DATABASE: "a",
    TYCHE_KEY: "b",
    TYCHE_ALOW_HOSTS: "c.example",
    TYCHE_URL: "http://127.0.0.1:3000",
    OTHER: "d",
  };
  expect(read(environment).unknownVariables).toEqual(["TYCHE_ALOW_HOSTS"]);
});

test("variables that list what can't be used are named", () => {
  const { message } = errorOf(() => read({ TYCHE_RPC_ORIGINS: "*", TYCHE_ALLOW_HOSTS: "a:b:c" }));
  expect(message).toContain('TYCHE_RPC_ORIGINS: "*" can\'t be used');
  expect(message).toContain('TYCHE_ALLOW_HOSTS: "a:b:c" can\'t be used');
});

test("a byte order mark is no part of the text", () => {
  write('\uFEFF{"port": 7}');
  expect(read().config.port).toBe(7);
});

test("a file that is not UTF-8, too large, or no file", () => {
  const file = path.join(dataDir, "tyche.json");
  writeFileSync(file, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
  expect(errorOf(() => read()).message).toContain("is not UTF-8 text");
  writeFileSync(file, " ".repeat(1_048_577));
  expect(errorOf(() => read()).message).toContain("is larger than 1048576 bytes");
  expect(errorOf(() => read({}, dataDir)).message).toContain("is not a regular file");
  expect(errorOf(() => read({}, "/dev/zero")).message).toContain("is not a regular file");
  const pipe = path.join(dataDir, "pipe");
  execFileSync("mkfifo", [pipe]);
  expect(errorOf(() => read({}, pipe)).message).toContain("is not a regular file");
});

test("the schema for editors is a valid JSON Schema that says what every member is for", () => {
  const schema = describeConfigSchema() as Described;
  const ajv = new Ajv2020({ strict: false });
  expect(ajv.validateSchema(schema)).toBe(true);
  expect(ajv.compile(schema)({ networks: { fuji: "embedded" } })).toBe(true);
  expect(members(schema).filter(([, { description }]) => !description)).toEqual([]);
});

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}

function members({ properties = {} }: Described): [string, Described][] {
  return Object.entries(properties).flatMap(([name, member]) => [[name, member], ...members(member)]);
}

test("a database of PostgreSQL is named by its variable, for networks with nodes of their own", () => {
  const database = { url: { env: "DATABASE_URL" } };
  const own = { mychain: { chainId: 31_337, rpcUrls: ["http://127.0.0.1:8545"], contracts: "c.json" } };
  writeFileSync(path.join(dataDir, "tyche.json"), JSON.stringify({ database, networks: own }));
  const { config } = read({ DATABASE_URL: "postgres://u:secret@h/d" });
  expect(config.database).toEqual(database);
  expect(JSON.stringify(hideSecrets(config))).not.toContain("secret");
  for (const networks of [undefined, { ...own, sepolia: "embedded" }]) {
    writeFileSync(path.join(dataDir, "tyche.json"), JSON.stringify({ database, networks }));
    expect(() => read()).toThrow("/database: is only for services without embedded networks");
  }
  writeFileSync(
    path.join(dataDir, "tyche.json"),
    JSON.stringify({ database: { url: "postgres://u:secret@h/d" }, networks: own }),
  );
  expect(() => read()).toThrow('must be an object with env, such as {"env": "DATABASE_URL"}');
});

test("what is kept is said for embedded networks and others apart, with payloads of embedded ones 30 days by default", () => {
  const forever = { requestDays: "forever", payloadDays: "forever", transactionDays: "forever" };
  expect(read().config.keep).toEqual({
    embedded: { ...forever, payloadDays: 30, blockDays: "forever" },
    external: forever,
    auditDays: 365,
  });
  const keep = { embedded: { payloadDays: "forever", blockDays: 90 }, external: { requestDays: 365 } };
  writeFileSync(path.join(dataDir, "tyche.json"), JSON.stringify({ keep }));
  const { config } = read();
  expect(config.keep).toEqual({
    embedded: { ...forever, blockDays: 90 },
    external: { ...forever, requestDays: 365 },
    auditDays: 365,
  });
  expect(parseKeep(config.keep.external)).toEqual({ requestDays: 365 });
  for (const days of [0, 1.5, "never", null]) {
    writeFileSync(
      path.join(dataDir, "tyche.json"),
      JSON.stringify({ keep: { embedded: { requestDays: days } } }),
    );
    expect(() => read()).toThrow(
      '/keep/embedded/requestDays: must be a whole number of days from 1 to 36500, or "forever"',
    );
  }
});

test("TYCHE_TRUST_PROXY is true, false, or refused", () => {
  expect(read({ TYCHE_TRUST_PROXY: "true" }).config.trustProxy).toBe(true);
  expect(read({ TYCHE_TRUST_PROXY: "false" }).config.trustProxy).toBe(false);
  expect(errorOf(() => read({ TYCHE_TRUST_PROXY: "yes" })).message).toMatch(/^TYCHE_TRUST_PROXY/);
});
