import { expect, test } from "vitest";
import { createApiKey, hashApiKey, isApiKey } from "../../src/dapps/apiKey.ts";

test("a new key is well formed and its own", () => {
  const [a, b] = [createApiKey(), createApiKey()];
  expect(a).toMatch(/^tyche_[0-9A-Za-z]{39}$/);
  expect(isApiKey(a)).toBe(true);
  expect(a).not.toBe(b);
  expect(hashApiKey(a)).toHaveLength(32);
});

test("a typing error, a blank or another prefix is no key", () => {
  const key = createApiKey();
  const swapped = key.replace(/(.)$/, (last) => (last === "a" ? "b" : "a"));
  for (const text of [swapped, `${key} `, key.slice(1), key.toUpperCase(), "", "tyche_"])
    expect(isApiKey(text)).toBe(false);
});
