import type { DappDirectory } from "../../src/dapps/dapps.ts";
import { createOperatorAccess, MIN_TOKEN_CHARACTERS } from "../../src/people/access.ts";
import { createExplorer } from "../../src/explorer/explorer.ts";
import type { OperatorPart } from "../../src/http/operatorPart.ts";
import { DEFAULT_PRESETS_FOLDER } from "../../src/requests/accept/presetFolder.ts";
import { readPresets } from "../../src/requests/accept/presetTools.ts";
import type { People } from "../../src/people/people.ts";
import type { LogTriggers } from "../../src/triggers/logTriggers.ts";
import type { Secrets } from "../../src/requests/secrets.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore } from "../../src/store/store.ts";
import type { Schedules } from "../../src/triggers/schedules.ts";
import type { Webhooks } from "../../src/webhooks/webhooks.ts";
import { createExampleService } from "./exampleService.ts";
import { startHarness, type Harness } from "./harness.ts";

export const OPERATOR_TOKEN = "x".repeat(MIN_TOKEN_CHARACTERS);

/** Describes the operator's part; `operator.test.ts` calls its operations on a real service. */
export async function describeOperator(): Promise<OperatorPart> {
  const unreachable = (): never => {
    throw new Error("this part is described, not called");
  };
  return {
    access: await createOperatorAccess({
      operatorToken: OPERATOR_TOKEN,
      store: await openStore(createSqliteDialect(":memory:")),
    }),
    people: {} as People,
    baseUrl: unreachable,
    dapps: {} as DappDirectory,
    explorer: createExplorer(new Map()),
    readConfigVars: unreachable,
    readBalances: unreachable,
    readChainConsumers: unreachable,
  };
}

/** Starts the HTTP layer in front of an example service that has the built-in presets, so that `/openapi.json` describes them. */
export async function startPresetHarness(): Promise<Harness> {
  const presets = (await readPresets(DEFAULT_PRESETS_FOLDER)).map(({ preset }) => preset!);
  const service = createExampleService();
  const live = presets.map(({ definition, ...preset }) => ({
    ...preset,
    examples: [...definition.examples],
  }));
  Object.assign(service, { presets: () => live });
  return await startHarness({
    more: {
      service,
      operator: await describeOperator(),
      webhooks: {} as Webhooks,
      secrets: {} as Secrets,
      schedules: {} as Schedules,
      logTriggers: {} as LogTriggers,
    },
  });
}
