import type { Static, TSchema } from "typebox";
import { createRequestSchemas, type Checked, type RequestSchemas } from "../api/parameters/requestSchemas.ts";
import type { NetworkView, PresetView } from "../api/types.ts";
import type { Service } from "../requests/service.ts";
import { compileValidator, type Validator } from "../lib/schemaCheck.ts";

/** The request schemas for one set of networks and presets, with their validators. */
export interface LiveSchemas {
  readonly networks: ReadonlyMap<string, NetworkView>;
  readonly presets: ReadonlyMap<string, PresetView>;
  readonly requests: RequestSchemas;
  readonly validate: {
    readonly [K in keyof RequestSchemas]: Validator<Checked<K>>;
  };
}

/**
 * Returns a function that gives the current schemas. They are rebuilt only when the service's lists of networks or presets change,
 * so a request costs two comparisons.
 */
export function createLiveSchemas(service: Service): () => LiveSchemas {
  let networks: readonly NetworkView[] | undefined;
  let presets: readonly PresetView[] | undefined;
  let live: LiveSchemas | undefined;
  return () => {
    if (live === undefined || networks !== service.networks() || presets !== service.presets()) {
      networks = service.networks();
      presets = service.presets();
      live = compileLiveSchemas(networks, presets);
    }
    return live;
  };
}

function compileLiveSchemas(networks: readonly NetworkView[], presets: readonly PresetView[]): LiveSchemas {
  const requests = createRequestSchemas({
    networks: networks.map(({ name }) => name),
    embedded: networks.filter(({ embedded }) => embedded).map(({ name }) => name),
    presets: presets.map(({ name }) => name),
    maxWords: Math.max(...networks.map(({ vrf }) => vrf.maxWords), 1),
  });
  return {
    networks: new Map(networks.map((network) => [network.name, network])),
    presets: new Map(presets.map((preset) => [preset.name, preset])),
    requests,
    validate: Object.fromEntries(
      Object.entries(requests).map(([name, schema]) => [name, compileOnFirstCall(schema)]),
    ) as LiveSchemas["validate"],
  };
}

/** A service that has just started answers before it has compiled some thirty schemas. */
function compileOnFirstCall<S extends TSchema>(schema: S): Validator<Static<S>> {
  let validate: Validator<Static<S>> | undefined;
  return (values) => (validate ??= compileValidator(schema))(values);
}
