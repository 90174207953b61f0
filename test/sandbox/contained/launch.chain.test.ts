import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createChildLauncher } from "../../../sandbox/host/launch.ts";
import { requireLayers, type MissingLayer } from "../../../sandbox/host/layers.ts";

const isLinux = process.platform === "linux";

/** Kernels before 5.13 have no Landlock. */
const hasLandlock = createChildLauncher().containment.landlock;

test.runIf(isLinux && hasLandlock)("Linux with Debian's tools offers every layer, without a warning", () => {
  expect(createChildLauncher().containment).toEqual({
    systemCallFilter: true,
    ownUser: process.getuid?.() === 0,
    landlock: true,
    networkNamespace: true,
    missing: [],
    warnings: [],
  });
});

test.runIf(isLinux)("without unshare and perl the filter stands alone, and warnings say so", () => {
  const { containment } = createChildLauncher({ toolFolders: [] });
  expect(containment).toMatchObject({ networkNamespace: false, systemCallFilter: true, missing: [] });
  expect(containment.landlock).toBe(false);
  expect(containment.warnings).toEqual([
    expect.stringMatching(/^unshare does not work here/),
    expect.stringMatching(/^Landlock does not work here/),
  ]);
});

const FILTER: MissingLayer = { name: "system-calls", text: "There is no filter on plan9." };
const USER: MissingLayer = { name: "user", text: "Tyche runs as root." };

test("layers that are missing are named, with the words that accept them", () => {
  const refuse = (): void => requireLayers([FILTER, USER], []);
  expect(refuse).toThrow(expect.objectContaining({ code: "sandbox_layers_missing" }));
  expect(refuse).toThrow(/system-calls: There is no filter on plan9\.\n {2}user: Tyche runs as root\./);
  expect(refuse).toThrow(/TYCHE_ACCEPT_MISSING=system-calls,user$/);
});

test("a layer that is accepted does not accept another", () => {
  expect(() => requireLayers([FILTER, USER], ["system-calls"])).toThrow(/TYCHE_ACCEPT_MISSING=user$/);
  expect(() => requireLayers([FILTER, USER], ["user", "system-calls"])).not.toThrow();
});

test("a name that is no layer is refused", () => {
  expect(() => requireLayers([], ["landlok"])).toThrow(/"landlok" can't be used: .* system-calls, user$/);
});

test("a child that can't confine itself ends, and says how to go on", () => {
  const confine = fileURLToPath(new URL("../../../sandbox/host/child/confine.ts", import.meta.url));
  const code = `import(${JSON.stringify(confine)}).then(({ confine }) => { confine('{"uid":null,"isFilterRequired":true,"kernel":null}'); process.stdout.write("went on") })`;
  const { signal, stdout, stderr } = spawnSync(
    process.execPath,
    ["--no-warnings", "--permission", "--allow-fs-read=*", "--eval", code],
    { encoding: "utf8" },
  );
  expect({ signal, stdout }).toEqual({ signal: "SIGKILL", stdout: "" });
  expect(stderr).toMatch(
    /^system-calls: .* TYCHE_ACCEPT_MISSING=system-calls runs sources without this layer$/,
  );
});

test.runIf(isLinux && process.getuid?.() === 0)(
  "a root that may not change users starts no pool, unless by leave",
  () => {
    const index = new URL("../../../sandbox/index.ts", import.meta.url);
    const code = `const { createSandboxPool } = await import(${JSON.stringify(index)});
      const pool = createSandboxPool({ concurrency: 1, onWarning: (text) => console.log(text) });
      console.log(await pool.run({ source: "return Functions.encodeUint256(1n)" }));
      await pool.close();`;
    const bounded = ["--bounding-set", "-setuid,-setgid", "--inh-caps", "-setuid,-setgid"];
    const node = [process.execPath, "--no-warnings", "--input-type=module", "--eval"];
    const start = (accepted: string) =>
      spawnSync("setpriv", [...bounded, ...node, code], {
        encoding: "utf8",
        env: { ...process.env, TYCHE_ACCEPT_MISSING: accepted },
      });
    const refused = start("");
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/user: Tyche runs as root, but may not change to another user/);
    const accepted = start("user");
    expect(accepted.stdout).toMatch(/^Accepted as missing: user\. Tyche runs as root/);
    expect(accepted.stdout).toMatch(/ok: true/);
  },
);
