import { expect, test } from "vitest";
import { createLauncher } from "../../../sandbox/host/launch.ts";

test.runIf(process.platform === "linux")(
  "default: Linux with util-linux offers every layer, without a warning",
  () => {
    expect(createLauncher().containment).toEqual({
      resourceLimits: true,
      noNewPrivileges: true,
      unprivilegedUser: true,
      networkNamespace: true,
      warnings: [],
    });
  },
);

test("behaviour: where no tool is found children start all the same, and each missing layer is named", async () => {
  const launcher = createLauncher({ toolFolders: [] });
  expect(launcher.containment).toMatchObject({
    resourceLimits: false,
    noNewPrivileges: false,
    networkNamespace: false,
  });
  expect(launcher.containment.warnings.join(" ")).toMatch(/prlimit .* setpriv .* unshare /);
  const child = launcher.launch("/nowhere.cjs");
  const code = await new Promise((resolve) => child.once("exit", resolve));
  expect(code).toBe(1);
});
