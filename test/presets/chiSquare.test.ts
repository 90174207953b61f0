import { expect, test } from "vitest";
import { chiSquarePValue } from "../../src/presets/chiSquare.ts";

// Quantiles of the chi-square distribution: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.4.
test.each([
  [1, 3.841, 0.05],
  [1, 10.828, 0.001],
  [9, 16.919, 0.05],
  [9, 27.877, 0.001],
  [35, 49.802, 0.05],
  [100, 149.449, 0.001],
])("%i degrees of freedom, statistic %f", (degrees, statistic, probability) => {
  // Counts with the wanted statistic: two cells are off by the same amount, the others are as expected.
  const expected = 1_000;
  const off = Math.sqrt((statistic * expected) / 2);
  const counts = Array.from(
    { length: degrees + 1 },
    (_, index) => expected + (index === 0 ? off : index === 1 ? -off : 0),
  );
  expect(
    chiSquarePValue(
      counts,
      counts.map(() => 1),
    ) / probability,
  ).toBeCloseTo(1, 2);
});

test("weights say how often each is expected", () => {
  expect(chiSquarePValue([300, 100], [3, 1])).toBe(1);
  expect(chiSquarePValue([200, 200], [3, 1])).toBeLessThan(1e-20);
});
