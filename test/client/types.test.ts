import { expectTypeOf, test } from "vitest";
import type * as client from "../../src/client/index.ts";
import type { TycheClient } from "../../src/client/index.ts";

const tyche = { submit: {} } as TycheClient;

test("presets take their own parameters, which may be left out where each has a default", () => {
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

test("presets of one's own come from a generated type", () => {
  const own = {} as TycheClient<{
    loot: { params: { luck?: client.Decimal; kind: "sword" | "shield" }; value: "rare" | "common" };
  }>;
  const dropped = () => own.preset("loot", { kind: "sword", luck: 5 });
  expectTypeOf(dropped).returns.resolves.toEqualTypeOf<client.PresetResult<"rare" | "common">>();
  // @ts-expect-error a kind that it does not have
  void (() => own.preset("loot", { kind: "bow" }));
});
