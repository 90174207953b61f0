import { expect, test } from "vitest";
import { createSecretGuard } from "../../sandbox/host/secretGuard.ts";

const VALUE = 'pa"ss/wö rd+1';
const to = (url: string, rest: object = {}) => ({ url: new URL(url), ...rest });

test("default: masks a value in each form that sources and servers show it in", () => {
  const { mask } = createSecretGuard({ secrets: { KEY: VALUE } });
  const bytes = Buffer.from(VALUE);
  const shown = [
    VALUE,
    JSON.stringify(VALUE),
    encodeURIComponent(VALUE),
    bytes.toString("base64"),
    bytes.toString("base64url"),
    bytes.toString("hex"),
  ];
  for (const one of shown) {
    const masked = mask(`a ${one} b`);
    expect(masked).toContain("***");
    expect(masked).not.toContain(one.slice(1, -1));
  }
});

test("bounds: leaves short values and other texts alone", () => {
  const { mask } = createSecretGuard({ secrets: { SHORT: "1234567", KEY: VALUE } });
  expect(mask("1234567 and more")).toBe("1234567 and more");
});

test("bounds: cuts the beginning of a value from a text that was cut there", () => {
  const { mask } = createSecretGuard({ secrets: { KEY: "0123456789" } });
  expect(mask("printed 012345", true)).toBe("printed ");
  expect(mask("printed 012345")).toBe("printed 012345");
  expect(mask("printed 012", true)).toBe("printed 012");
});

test("default: without hosts a source may reach any", () => {
  const guard = createSecretGuard({ secrets: { KEY: VALUE } });
  expect(guard.refuse(to("https://a.example/"))).toBeUndefined();
  expect(guard.breach()).toBeUndefined();
});

test("default: a request elsewhere fails the run, whatever it carries", () => {
  const guard = createSecretGuard({ secrets: { KEY: VALUE }, allowedHosts: { KEY: ["a.example"] } });
  expect(guard.refuse(to("https://A.example:8443/path"))).toBeUndefined();
  expect(guard.breach()).toBeUndefined();
  expect(guard.refuse(to("https://b.a.example/"))).toContain("a.example only");
  expect(guard.breach()).toContain("b.a.example");
});

test("behaviour: each secret leaves for its own hosts alone", () => {
  const guard = createSecretGuard({
    secrets: { ONE: "first-value", TWO: "second-value" },
    allowedHosts: { ONE: ["one.example"], TWO: ["two.example"] },
  });
  const body = Buffer.from("second-value");
  expect(guard.refuse(to("https://two.example/", { body }))).toBeUndefined();
  const headers = [["authorization", `Basic ${btoa("first-value")}`]] as const;
  expect(guard.refuse(to("https://one.example/", { headers }))).toBeUndefined();
  expect(guard.refuse(to("https://two.example/", { headers }))).toContain("ONE may not be sent");
  expect(guard.refuse(to("https://one.example/", { body }))).toContain("TWO may not be sent");
});
