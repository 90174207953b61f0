import type { NetworkView, PresetView } from "../../api/types.ts";
import type { Preset } from "../../presets/preset.ts";
import type { PresetRegistry } from "../../presets/presetRegistry.ts";
import type { Service } from "../service.ts";
import type { ServiceNetwork } from "../serviceNetwork.ts";

/** Creates the catalogue of the served networks and the live presets. Each list is the same array until its content changes. */
export function createCatalogue(
  networks: ReadonlyMap<string, ServiceNetwork>,
  registry: Pick<PresetRegistry, "list" | "problems">,
): Pick<Service, "networks" | "presets" | "presetProblems"> {
  let networkViews: readonly NetworkView[] = [];
  let presetViews: { readonly of: unknown; readonly views: readonly PresetView[] } = {
    of: undefined,
    views: [],
  };
  return {
    networks() {
      const views = [...networks.values()].map((network) => network.view());
      if (views.length !== networkViews.length || views.some((view, i) => view !== networkViews[i]))
        networkViews = views;
      return networkViews;
    },
    presets() {
      const presets = registry.list();
      if (presetViews.of !== presets) presetViews = { of: presets, views: presets.map(viewOf) };
      return presetViews.views;
    },
    presetProblems: () => registry.problems(),
  };
}

function viewOf(preset: Preset): PresetView {
  const { name, title, description, parameters, parameterOrder, returnType, value, examples, written } =
    preset;
  return {
    name,
    title,
    description,
    parameters: { ...parameters },
    parameterOrder: [...parameterOrder],
    source: written.source,
    returnType,
    value: { ...value },
    examples: examples.map((example) => ({
      params: { ...example.params },
      parsedResult: example.parsedResult,
    })),
  };
}
