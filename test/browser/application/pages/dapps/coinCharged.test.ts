import { expect, test } from "vitest";
import { sumCoinCharged } from "../../../../../src/browser/application/pages/dapps/coinCharged.ts";

test("coin is summed by network, without networks where none was charged", () => {
  const sums = sumCoinCharged([
    { network: "polygon_amoy", coinWei: "7000000000000000001" },
    { network: "sepolia", coinWei: "5" },
    { network: "polygon_amoy", coinWei: "2" },
    { network: "fuji", coinWei: "0" },
    { network: null, coinWei: "0" },
  ]);
  expect([...sums]).toEqual([
    ["polygon_amoy", 7_000_000_000_000_000_003n],
    ["sepolia", 5n],
  ]);
});
