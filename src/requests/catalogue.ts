import type { Preset } from "../presets/preset.ts";
import type { PresetProblem } from "../presets/presetProblem.ts";
import type { PresetRegistry } from "../presets/presetRegistry.ts";
import { takeApart, type ShownResult } from "../presets/presetShow.ts";
import type { RequestRecord } from "./service.ts";
import type { ServiceNetwork } from "./serviceNetwork.ts";
import type { NetworkView, PresetView } from "./views.ts";

/** What the service offers. Each list is the same array until its content changes. */
export interface Catalogue {
  networks(): readonly NetworkView[];
  presets(): readonly PresetView[];
  presetProblems(): readonly PresetProblem[];
  /** See `Service.showResult`. */
  showResult(
    this: void,
    request: Pick<RequestRecord, "kind" | "params" | "outcome">,
  ): ShownResult | undefined;
}

/** Creates the catalogue of the served networks and the live presets. */
export function createCatalogue(
  networks: ReadonlyMap<string, ServiceNetwork>,
  registry: Pick<PresetRegistry, "list" | "problems">,
): Catalogue {
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
    showResult({ kind, params, outcome }) {
      const { preset: name } = params as { readonly preset?: string };
      const show = kind === "preset" && registry.list().find((one) => one.name === name)?.definition.show;
      if (!show || outcome === null || !("parsedResult" in outcome) || !outcome.success) return undefined;
      return takeApart(show, outcome.parsedResult, params as Readonly<Record<string, unknown>>);
    },
  };
}

function viewOf(preset: Preset): PresetView {
  const { name, title, description, parameters, parameterOrder, returnType, examples } = preset;
  return {
    name,
    title,
    description,
    parameters: { ...parameters },
    parameterOrder: [...parameterOrder],
    returnType,
    examples: examples.map((example) => ({
      params: { ...example.params },
      parsedResult: example.parsedResult,
    })),
  };
}
