import { countShownChars, type RunRequest, type RunResult } from "../../../sandbox/index.ts";
import { fromHexText } from "../../lib/hex.ts";
import { toSandboxSecrets, type Secret } from "../../secrets/sealSecret.ts";
import { decodeSecretsReference } from "../../secrets/secretsReference.ts";
import type { NamedSlots, SecretsHolder } from "../../secrets/holder.ts";
import type { ThresholdPublicKey } from "../../secrets/tdh2.ts";
import type { Vault } from "./vault.ts";

/** Creates the holder of a vault. */
export function createHolder({
  vault,
  threshold,
  runner,
}: {
  readonly vault: Pick<Vault, "keep" | "drop" | "open">;
  readonly threshold: ThresholdPublicKey;
  readonly runner: { readonly run: (request: RunRequest) => Promise<RunResult> };
}): Required<SecretsHolder> {
  const open = ({ reference, subscriptionId }: NamedSlots): Promise<readonly Secret[]> =>
    vault.open(decodeSecretsReference(fromHexText(reference)), subscriptionId);
  return {
    threshold,
    keep: (slot) => vault.keep(slot),
    drop: (owner, slotIds) => vault.drop(owner, slotIds),
    describe: async (slots) =>
      (await open(slots)).map(({ name, allowedHosts }) => ({
        name,
        ...(allowedHosts === undefined ? {} : { allowedHosts }),
      })),
    async run(slots, request) {
      const secrets = await open(slots);
      const run = await runner.run({ ...request, ...toSandboxSecrets(secrets) });
      const values = secrets.map(({ value }) => value);
      return { run, shownChars: run.ok ? countShownChars(run.bytes, values) : 0 };
    },
  };
}
