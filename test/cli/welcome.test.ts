import { expect, test } from "vitest";
import pc from "picocolors";
import { describeTaken, printWelcome, type Welcome } from "../../src/cli/startCommand.ts";

const WELCOME = {
  url: "https://tyche.example.org",
  localUrl: "http://127.0.0.1:3000",
  apiKey: "tyche_key",
  networks: [{ name: "sepolia" }],
  signInLink: "https://tyche.example.org/sign-in?code=secret",
  operatorTokenAt: "/data/operator-token",
  dataDir: "/data",
  down: { networks: [], remedies: [] },
};

const WITH_FILE: Welcome = { ...WELCOME, apiKeyFile: "/data/api-key" };

function print(isTerminal: boolean, welcome = WITH_FILE): string {
  let text = "";
  const out = (line: string): void => void (text += line);
  printWelcome(welcome, 1_000, { out, err: out, colors: pc.createColors(false), isTerminal });
  return text;
}

test("a person sees the key and the link that signs in", () => {
  expect(print(true)).toContain("API key   tyche_key");
  expect(print(true)).toContain("export TYCHE_API_KEY=tyche_key\n");
  expect(print(true)).toContain(WELCOME.signInLink);
});

test("links have the address for callers, and a shell on this machine gets its own", () => {
  expect(print(true)).toContain("API       https://tyche.example.org\n");
  expect(print(true)).toContain("https://tyche.example.org/explorer activity");
  expect(print(true)).toContain("export TYCHE_URL=http://127.0.0.1:3000\n");
});

test("a log gets neither, but the files to look into", () => {
  const text = print(false);
  expect(text).not.toMatch(/tyche_key|secret/);
  expect(text).toContain("API key   in /data/api-key");
  expect(text).toContain(`export TYCHE_API_KEY="$(cat '/data/api-key')"\n`);
  expect(text).toContain("the token in /data/operator-token");
});

test("the data directory is exported for commands in any folder", () => {
  expect(print(true)).toContain("export TYCHE_DATA_DIR='/data'\n");
  expect(print(true, { ...WITH_FILE, dataDir: "/my data" })).toContain("export TYCHE_DATA_DIR='/my data'\n");
  expect(print(true, { ...WITH_FILE, dataDir: "/it's" })).toContain(
    String.raw`export TYCHE_DATA_DIR='/it'\''s'` + "\n",
  );
});

test("the command that prints the key runs after its data directory is exported", () => {
  expect(print(false, { ...WELCOME, dataDir: "/my data" })).toContain(`
    export TYCHE_URL=http://127.0.0.1:3000
    export TYCHE_DATA_DIR='/my data'
    export TYCHE_API_KEY="$(npx tyche dapp config --env | sed -n s/^TYCHE_API_KEY=//p)"
    curl -X POST`);
});

test("where the data directory holds no key, the command that shows it is named", () => {
  expect(print(false, WELCOME)).toContain("API key   shown by `npx tyche dapp config`");
});

test("the last lines say which networks are down, why, and what to do about all of them", () => {
  const down = {
    networks: [
      { name: "fuji", why: "its chain is newer", isTriedAgain: false },
      { name: "sepolia", why: "two\nlines", isTriedAgain: false },
    ],
    remedies: ["start once with TYCHE_ACCEPT_CHAINS=fuji,sepolia"],
  };
  const text = print(false, { ...WITH_FILE, down });
  expect(text).toContain("Ready in 1.00 s, but fuji, sepolia can't serve: see below\n");
  expect(text).toMatch(
    / {2}✗ fuji {12}its chain is newer {2}✗ sepolia {9}two lines\n {2}start once with TYCHE_ACCEPT_CHAINS=fuji,sepolia\.\n {2}Then restart the service: it doesn't try fuji, sepolia again by itself\.\n$/,
  );
});

test("a restart is asked for only for networks that are not tried again", () => {
  const away = { name: "sepolia", why: "no answer", isTriedAgain: true };
  const remedies = ["Nodes of sepolia are tried again"];
  const alone = print(false, { ...WITH_FILE, networks: [], down: { networks: [away], remedies } });
  expect(alone).toMatch(/ {2}✗ sepolia {9}no answer\n {2}Nodes of sepolia are tried again\.$/);
  expect(alone).toContain("presets?network=sepolia&preset=coinflip");
  const fuji = { name: "fuji", why: "another chain", isTriedAgain: false };
  expect(print(false, { ...WITH_FILE, down: { networks: [away, fuji], remedies } })).toContain(
    "doesn't try fuji again by itself",
  );
});

test.each([
  [[8546], "port 8546 is taken by another program or not permitted, so an RPC URL above is new"],
  [[8548, 8545], "ports 8545, 8548 are taken by other programs or not permitted, so RPC URLs above are new"],
])("ports %s that are taken take one line", (ports, text) => {
  expect(describeTaken(ports)).toContain(text);
});
