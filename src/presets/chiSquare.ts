/**
 * Returns the probability that counts deviate at least this far from the expected ones by chance: Pearson's chi-square test with
 * `counts.length - 1` degrees of freedom. `weights` are relative, one for each count. Meaningful if every expected count is at least 5.
 */
export function chiSquarePValue(counts: readonly number[], weights: readonly number[]): number {
  const draws = sum(counts);
  const totalWeight = sum(weights);
  let statistic = 0;
  for (const [index, count] of counts.entries()) {
    const expected = (draws * (weights[index] as number)) / totalWeight;
    statistic += (count - expected) ** 2 / expected;
  }
  return upperGamma((counts.length - 1) / 2, statistic / 2);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Regularised upper incomplete gamma function Q(a, x): by the series of P below a + 1, by Legendre's continued fraction above. */
function upperGamma(a: number, x: number): number {
  if (x <= 0) return 1;
  const scale = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    // P(a, x) = x^a e^-x / Γ(a) · Σ x^n / (a (a + 1) … (a + n))
    let term = 1 / a;
    let series = term;
    for (let n = 1; term > series * 1e-16; n += 1) {
      term *= x / (a + n);
      series += term;
    }
    return 1 - series * scale;
  }
  // Q(a, x) = x^a e^-x / Γ(a) · 1/(x+1-a- 1(1-a)/(x+3-a- …)), evaluated by Lentz's method
  let b = x + 1 - a;
  let c = Number.MAX_VALUE;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < 100_000; n += 1) {
    const numerator = -n * (n - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  return fraction * scale;
}

/** ln Γ(x) for x > 0: Stirling's series, after the recurrence has brought x above 10. */
function logGamma(x: number): number {
  let shift = 0;
  let z = x;
  for (; z < 10; z += 1) shift -= Math.log(z);
  const series = 1 / (12 * z) - 1 / (360 * z ** 3) + 1 / (1_260 * z ** 5) - 1 / (1_680 * z ** 7);
  return shift + (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + series;
}
