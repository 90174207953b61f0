import { expect, test } from "vitest";
import { loadPreset } from "../../../src/presets/loadPreset.ts";
import { createCommandChecker } from "../../../src/requests/accept/commandChecker.ts";
import type { ServiceNetwork } from "../../../src/requests/serviceNetwork.ts";

type Options = Parameters<typeof createCommandChecker>[0];

test("runs no preset that was replaced since the call: the chain lacks the source that the call was checked with", async () => {
  const preset = await loadPreset("plugins", "coinflip");
  const stored: string[] = [];
  const ran: string[] = [];
  const checker = createCommandChecker({
    store: {} as Options["store"],
    secrets: {} as Options["secrets"],
    registry: { get: () => preset } as unknown as Options["registry"],
    pool: {
      run: async ({ source }: { readonly source: string }) => {
        ran.push(source);
        return { ok: true, bytes: new Uint8Array(32) };
      },
    } as unknown as Options["pool"],
  });
  const network = {
    view: () => ({ contracts: {} }),
    intake: () => ({
      subscriptions: { find: () => undefined },
      storeSource: async ({ sourceHash }: { readonly sourceHash: string }) => void stored.push(sourceHash),
    }),
  } as unknown as ServiceNetwork;
  const progress = { args: [], returnType: "uint256", sourceHash: preset.sourceHash } as const;
  const content = { kind: "preset", params: { preset: "coinflip" }, outcome: null } as const;
  const replaced = { ...content, progress: { ...progress, sourceHash: `0x${"12".repeat(32)}` } as const };

  await expect(checker.dryRun({ id: "dapp" }, replaced, network)).rejects.toMatchObject({
    code: "request_failed",
    retryable: false,
  });
  expect({ ran, stored }).toEqual({ ran: [], stored: [] });

  await expect(checker.dryRun({ id: "dapp" }, { ...content, progress }, network)).resolves.toEqual({});
  expect({ ran, stored }).toEqual({ ran: [preset.source], stored: [preset.sourceHash] });
});
