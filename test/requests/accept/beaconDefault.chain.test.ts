import { beforeAll, expect, test } from "vitest";
import { loadPreset } from "../../../src/presets/loadPreset.ts";
import type { Preset } from "../../../src/presets/preset.ts";
import { checkPresetCommand } from "../../../src/requests/accept/commandChecker.ts";
import { QUICKNET } from "../../../src/beacon/drand.ts";

const COMMAND = { kind: "preset", network: "sepolia", preset: "coinflip", params: {} } as const;

let preset: Preset;
beforeAll(async () => {
  preset = await loadPreset("plugins", "coinflip");
});

test.each([
  { call: undefined, dapp: undefined, isDefault: false, waits: false },
  { call: undefined, dapp: undefined, isDefault: true, waits: true },
  { call: undefined, dapp: "none", isDefault: true, waits: false },
  { call: undefined, dapp: "drand", isDefault: false, waits: true },
  { call: "none", dapp: "drand", isDefault: true, waits: false },
  { call: "drand", dapp: "none", isDefault: false, waits: true },
] as const)("call $call, dapp $dapp, network $isDefault: waits for a round: $waits", (one) => {
  const { params } = checkPresetCommand(one.call === undefined ? COMMAND : { ...COMMAND, beacon: one.call }, {
    preset,
    network: {
      beacon: { chain: QUICKNET, relays: [], marginSeconds: 3, isDefault: one.isDefault },
    },
    dapp: one.dapp === undefined ? {} : { beacon: one.dapp },
  });
  expect(params.beacon !== undefined).toBe(one.waits);
});
