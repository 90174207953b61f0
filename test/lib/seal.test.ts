import { expect, test } from "vitest";
import { deriveKey, open, seal } from "../../src/lib/seal.ts";

const master = new Uint8Array(32).fill(1);

test("opens what was sealed", () => {
  const key = deriveKey(master, "a");
  expect(Buffer.from(open(key, seal(key, Buffer.from("secret"), "place"), "place")).toString()).toBe(
    "secret",
  );
});

test("each purpose has a key of its own, the same one every time", () => {
  expect(deriveKey(master, "a")).toEqual(deriveKey(master, "a"));
  expect(deriveKey(master, "a")).not.toEqual(deriveKey(master, "b"));
});

test("the same text is sealed differently each time", () => {
  expect(seal(master, Buffer.from("x"), "p")).not.toEqual(seal(master, Buffer.from("x"), "p"));
});

test("another key, another place or a changed byte", () => {
  const sealed = seal(master, Buffer.from("secret"), "place");
  expect(() => open(deriveKey(master, "b"), sealed, "place")).toThrow("unable to authenticate data");
  expect(() => open(master, sealed, "elsewhere")).toThrow("unable to authenticate data");
  const changed = Uint8Array.from(sealed);
  changed[30]! ^= 1;
  expect(() => open(master, changed, "place")).toThrow("unable to authenticate data");
});
