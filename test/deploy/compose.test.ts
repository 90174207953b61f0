import { readFileSync } from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/readConfig.ts";
import { registerBackup } from "../../src/cli/backupCommands.ts";
import { registerOracle } from "../../src/cli/oracleCommands.ts";
import { registerStart } from "../../src/cli/startCommand.ts";
import { createTerminal } from "../../src/cli/terminal.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(path.join(ROOT, file), "utf8");
const compose = `${read("compose.yaml")}${read("compose.public.yaml")}`;
/** Pods of a cluster. */
const PODS = ["deploy/kubernetes/base/tyche.yaml", "deploy/kubernetes/public/oracle.yaml"];
const UNITS = ["deploy/tyche.service", "deploy/tyche-oracle.service", "deploy/tyche-backup.service"];
const FILES = ["compose.yaml", "compose.public.yaml", "Dockerfile", ...PODS, ...UNITS];
const INGRESS = "deploy/kubernetes/ingress/kustomization.yaml";
const BACKUP_JOB = "deploy/kubernetes/embedded/backup.yaml";

/** The command lines of Tyche in these files, without the program's name. */
const commands = [
  ...[...compose.matchAll(/command: \[((?:start|oracle)[^\]]*)\]/g)].map(([, list]) => list!.split(", ")),
  ...FILES.flatMap((file) =>
    [...read(file).matchAll(/bin\/tyche\.js ([a-z].*)/g)].map(([, line]) => line!.split(" ")),
  ),
  ...[...read("docs/deploy.md").matchAll(/^ *docker compose run --rm (?!-)\S+ ([^>\n]*)/gm)].map(([, line]) =>
    line!.trim().split(" "),
  ),
  ...[
    ...read("docs/deploy.md").matchAll(/(?:-T tyche|exec tyche|bin)[ /]tyche (backup|restore) ([^`|\n]+)/g),
  ].map(([, command, line]) => [command!, ...line!.trim().split(" ")]),
  ...[...read(BACKUP_JOB).matchAll(/args: \[(.*)\]/g)].map(([, list]) =>
    list!.replaceAll('"', "").split(", "),
  ),
];

test.each(commands)("the command line takes %s %s %s %s", async (...args) => {
  const program = new Command("tyche").exitOverride();
  registerStart(program);
  registerBackup(program, createTerminal());
  registerOracle(program, createTerminal());
  const taken: Command[] = [];
  for (const command of program.commands.flatMap((one) => [one, ...one.commands]))
    command.action(() => void taken.push(command));
  await program.parseAsync(args.map(String), { from: "user" });
  const after = (flag: string): string | undefined =>
    args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
  expect(taken.map((one) => one.args[0] ?? one.optsWithGlobals<{ config?: string }>().config)).toEqual([
    /backup|restore/.test(args[0]!) ? args[1] : after("--config"),
  ]);
});

test("containers and units set only variables that Tyche or the example's configuration reads", () => {
  const names = FILES.flatMap((file) =>
    read(file)
      .split("\n")
      .filter((line) => /^ENV |environment: *\{|env: |^Environment=|^ {6}[A-Z_]+: "/.test(line))
      .flatMap((line) => line.match(/\b(?:TYCHE_[A-Z_]+|HOST|PORT|DATABASE_URL)(?=[:=](?![-+?]))/g) ?? []),
  );
  const values: Readonly<Record<string, string>> = {
    HOST: "0.0.0.0",
    PORT: "3000",
    TYCHE_PUBLIC_URL: "https://x",
    TYCHE_TRUST_PROXY: "true",
    TYCHE_ACCEPT_CHAINS: "sepolia",
    TYCHE_CONFIG: "",
  };
  const environment = Object.fromEntries(names.map((name) => [name, values[name] ?? "x"]));
  const { variables, unknownVariables } = readConfig({ dataDir: ROOT, environment });
  expect(variables.toSorted()).toEqual([
    "HOST",
    "PORT",
    "TYCHE_ACCEPT_CHAINS",
    "TYCHE_PUBLIC_URL",
    "TYCHE_TRUST_PROXY",
  ]);
  expect(unknownVariables).toEqual(["TYCHE_OPERATOR_KEY"]); // which docs/deploy.md has the configuration name
});

test("neither Git nor the image's build takes .env and the folder that containers read", () => {
  const mounted = [...compose.matchAll(/"\.\/([^:/"]+)/g)].map(([, folder]) => folder!);
  expect(new Set(mounted)).toEqual(new Set(["config"])); // not plugins, which the image has
  expect(read(".gitignore").split("\n")).toEqual(expect.arrayContaining([".env", "/config/"]));
  expect(read(".dockerignore").split("\n")).toEqual(expect.arrayContaining([".env", "config"]));
});

test("docs/deploy.md makes .env and config for a public network of what the files require", () => {
  const page = read("docs/deploy.md");
  const [, env = ""] = /^cat >\.env <<END\n([^]*?)^END$/m.exec(page)!;
  const required = [...read("compose.public.yaml").matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name!);
  expect(new Set(env.match(/^\w+/gm))).toEqual(
    new Set(["COMPOSE_FILE", "COMPOSE_PROFILES", ...required, "TYCHE_OPERATOR_KEY"]),
  );
  for (const [, name] of page.matchAll(/^cp deploy\/(\S+)\.example\.json config\/\1\.json$/gm))
    expect(read("compose.public.yaml")).toContain(`/config/${name}.json`);
});

test("pods set only variables that Tyche reads, and keep their data in a folder of their own", () => {
  // Of a volume that belongs to root, the service can't close the top to others.
  for (const file of PODS)
    expect([file, read(file)]).toEqual([
      file,
      expect.stringContaining("{ name: TYCHE_DATA_DIR, value: /data/tyche }"),
    ]);
  const all = [...PODS, INGRESS, "deploy/kubernetes/public/kustomization.yaml"].map(read).join("\n");
  const set = [...all.matchAll(/\{ name: (TYCHE_[A-Z_]+|PORT), value: "?([^" }]+)/g)];
  const environment = Object.fromEntries(set.map(([, name, value]) => [name!, value!]));
  expect(Object.keys(environment)).toContain("TYCHE_MASTER_KEY_FILE");
  expect(readConfig({ dataDir: ROOT, environment }).unknownVariables).toEqual([]);
});

test("the Ingress replaces the address that pods have without one, and an example's comment leads to it", () => {
  const [, name] = /env:\n(?: +#.*\n)* +- \{ name: (\w+), value: "http:\/\/localhost:3000" \}/.exec(
    read(PODS[0]!),
  )!;
  expect(read(INGRESS)).toContain(`env/0/name, value: ${name} }`);
  const [, domain] = /env\/0\/value, value: "https:\/\/([^"]+)"/.exec(read(INGRESS))!;
  const hosts = [...read("deploy/kubernetes/ingress/ingress.yaml").matchAll(/(?:host: |hosts: \[)([\w.]+)/g)];
  expect(hosts.map(([, host]) => host)).toEqual([domain, domain]);
  expect(read("deploy/kubernetes/embedded/kustomization.yaml")).toMatch(/^# components: \[\.\.\/ingress\]/m);
  expect(read("deploy/kubernetes/public/kustomization.yaml")).toMatch(/^components: \[\.\.\/ingress\]$/m);
});

test("the backup's pod is restricted as the service's is, and has its folder", () => {
  const linesOf = (file: string): string[] =>
    [
      ...read(file).matchAll(
        /^ +(?:automount|enableService|runAs|fsGroup|seccomp|allowPriv|readOnlyRoot|capabilities|- \{ name: (?:TYCHE_DATA_DIR|data|tmp), (?:value|mount)).*/gm,
      ),
    ].map(([line]) => line.trim());
  expect(linesOf(BACKUP_JOB)).toHaveLength(12);
  expect(linesOf(PODS[0]!)).toEqual(linesOf(BACKUP_JOB));
});

test("the oracle's pod is restricted as the service's is", () => {
  const [service, oracle] = PODS.map((file) =>
    /terminationGrace[^]*?containers:|securityContext:\n {12}[^]*?volumeMounts:/g[Symbol.matchAll](
      read(file),
    ),
  );
  const linesOf = (found: Iterable<RegExpMatchArray>): string[] =>
    [...found].flatMap(([text]) => text.split("\n")).filter((line) => !line.trim().startsWith("#"));
  const lines = linesOf(service!);
  expect(lines.length).toBeGreaterThan(15);
  expect(linesOf(oracle!)).toEqual(lines);
});

test("the examples of a public network's configuration are ones, and the folder that pods read is made of them", () => {
  const folder = "deploy/kubernetes/public";
  const environment = { DATABASE_URL: "postgres://x", TYCHE_OPERATOR_KEY: `0x${"1".repeat(64)}` };
  const networks = ["service", "oracle"].map((name) => {
    const file = path.join(ROOT, "deploy", `${name}.example.json`);
    return readConfig({ file, dataDir: ROOT, environment }).config.networks["sepolia"];
  });
  expect(networks[0]).toMatchObject({ oracleUrl: "http://oracle:3000" });
  expect(read(`${folder}/oracle.yaml`)).toContain(
    "metadata: { name: oracle }\nspec:\n  selector: { app: oracle }\n  ports: [{ name: http, port: 3000",
  );
  expect(compose).toMatch(/^ {2}oracle:$/m);
  expect(compose).toContain('environment: { PORT: "3000" }');
  const contracts = path.join(ROOT, "deploy", "sepolia.json");
  expect(networks).toEqual([expect.objectContaining({ contracts }), expect.objectContaining({ contracts })]);
  const kustomization = read(`${folder}/kustomization.yaml`);
  const [, files] = /files: \[([^\]]+)\]/.exec(kustomization)!;
  for (const text of [kustomization, read("docs/deploy.md")])
    expect([...text.matchAll(/^(?:# +)?cp \.\.\S+ (config\/\S+)/gm)].map(([, file]) => file)).toEqual(
      files!.split(", "),
    );
});

test("what docs/deploy.md adds to these files names what is in them, and variables that Tyche reads", () => {
  const page = read("docs/deploy.md");
  const [, overlay = ""] = /^```yaml\n([^]*?)^```/m.exec(page)!;
  expect(overlay).toContain("resources: [../embedded]");
  expect(overlay).toContain("{ kind: StatefulSet, name: tyche }");
  const settings = [...overlay.matchAll(/\bTYCHE_\w+/g)].map(([name]) => name);
  expect(settings).toEqual(["TYCHE_CONFIG"]);
  for (const name of settings) expect(read("docs/operations.md")).toContain(`| \`${name}\` |`);
});

test("docs/deploy.md sets for systemd what Tyche reads and what the example's configuration names", () => {
  const [, settings = ""] = /^cat >\/etc\/tyche\/service\.env <<END\n([^]*?)^END$/m.exec(
    read("docs/deploy.md"),
  )!;
  const names = settings.match(/^\w+(?==)/gm)!;
  const environment = { ...Object.fromEntries(names.map((name) => [name, "https://x"])), TYCHE_CONFIG: "" };
  const { variables, unknownVariables } = readConfig({ dataDir: ROOT, environment });
  const named = [...read("deploy/service.example.json").matchAll(/"env": "(\w+)"/g)].map(([, name]) => name!);
  expect(names.toSorted()).toEqual([...variables, "TYCHE_CONFIG", ...named].toSorted());
  for (const name of unknownVariables) expect(named).toContain(name);
});

test(".env.example sets what the compose files read, and all that they require", () => {
  const example = read("deploy/.env.example");
  const lines = [...example.matchAll(/^(?:# )?([A-Z_]+)=(.*)$/gm)];
  const used = [...compose.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name!);
  for (const [, name] of lines) expect([...used, "COMPOSE_FILE", "COMPOSE_PROFILES"]).toContain(name);
  const names = lines.map(([, name]) => name);
  const required = [...compose.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name!);
  expect(new Set(required)).toEqual(new Set(["TYCHE_DOMAIN", "POSTGRES_PASSWORD"]));
  expect(names).toEqual(expect.arrayContaining([...required, "TYCHE_OPERATOR_KEY"]));
  const valuesOf = (name: string): string[] =>
    lines.filter((line) => line[1] === name).map(([, , value]) => value!);
  expect(valuesOf("COMPOSE_FILE")).toEqual(["compose.public.yaml"]);
  expect(valuesOf("COMPOSE_PROFILES")).toEqual(["domain", "public"]);
  expect(compose).toMatch(/profiles: \[domain\][^]*profiles: \[public, nodes\]/);
});
