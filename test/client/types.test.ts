import { expectTypeOf, test } from "vitest";
import type * as client from "../../src/client/index.ts";
import type { TycheClient } from "../../src/client/index.ts";
import type { RequestView } from "../../src/http/requestView.ts";
import type { DryRunView } from "../../src/requests/accept/dryRuns.ts";
import type * as results from "../../src/requests/read/results.ts";
import type * as views from "../../src/requests/read/views.ts";
import type { Verification } from "../../src/verify/verification.ts";

const tyche = { submit: {} } as TycheClient;

test("default: presets take their own parameters, which may be left out where each has a default", () => {
  void (() => tyche.preset("coinflip"));
  void (() => tyche.preset("range", { min: "1", max: 6n }, { network: "fuji" }));
  const rolled = () => tyche.preset("nDice");
  expectTypeOf(rolled).returns.resolves.toEqualTypeOf<client.PresetResult<readonly number[]>>();
  const submitted = () => tyche.submit.preset("lotto", { list: ["a"] });
  expectTypeOf(submitted).returns.resolves.toEqualTypeOf<
    client.Submitted<client.PresetResult<readonly string[]>>
  >();
  // @ts-expect-error a lotto needs its list
  void (() => tyche.preset("lotto"));
  // @ts-expect-error there is no such preset
  void (() => tyche.preset("loot"));
  // @ts-expect-error a range has no such parameter
  void (() => tyche.preset("range", { maximum: 3 }));
});

test("default: presets of one's own come from a generated type", () => {
  const own = {} as TycheClient<{
    loot: { params: { luck?: client.Decimal; kind: "sword" | "shield" }; value: "rare" | "common" };
  }>;
  const dropped = () => own.preset("loot", { kind: "sword", luck: 5 });
  expectTypeOf(dropped).returns.resolves.toEqualTypeOf<client.PresetResult<"rare" | "common">>();
  // @ts-expect-error a kind that it does not have
  void (() => own.preset("loot", { kind: "bow" }));
});

test("behaviour: what the service answers is what the client says", () => {
  expectTypeOf<results.PresetResult>().toExtend<client.PresetResult>();
  expectTypeOf<keyof results.PresetResult>().toEqualTypeOf<keyof client.PresetResult>();
  expectTypeOf<results.FunctionResult>().toExtend<client.FunctionResult>();
  expectTypeOf<keyof results.FunctionResult>().toEqualTypeOf<keyof client.FunctionResult>();
  expectTypeOf<results.RandomResult>().toExtend<client.RandomResult>();
  expectTypeOf<keyof results.RandomResult>().toEqualTypeOf<keyof client.RandomResult>();
  expectTypeOf<results.ConsumerResult>().toExtend<client.ConsumerResult>();
  expectTypeOf<results.SimulateResult>().toExtend<client.SimulateResult>();
  expectTypeOf<keyof results.SimulateResult>().toEqualTypeOf<keyof client.SimulateResult>();
  expectTypeOf<results.DappDeletion>().toExtend<client.DappDeletion>();
  expectTypeOf<keyof results.DappDeletion>().toEqualTypeOf<keyof client.DappDeletion>();
  expectTypeOf<DryRunView>().toExtend<client.DryRunView>();
  expectTypeOf<keyof DryRunView>().toEqualTypeOf<keyof client.DryRunView>();
  expectTypeOf<views.PresetView>().toExtend<client.PresetView>();
  expectTypeOf<keyof views.PresetView>().toEqualTypeOf<keyof client.PresetView>();
  expectTypeOf<views.NetworkView>().toExtend<client.NetworkView>();
  expectTypeOf<keyof views.NetworkView>().toEqualTypeOf<keyof client.NetworkView>();
  expectTypeOf<(view: client.RequestView) => void>().toBeCallableWith({} as RequestView);
  expectTypeOf<keyof RequestView>().toEqualTypeOf<keyof client.RequestView>();
  expectTypeOf<Verification>().toExtend<client.Verification>();
  expectTypeOf<keyof Verification>().toEqualTypeOf<keyof client.Verification>();
});
