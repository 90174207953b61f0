import { expect, test } from "vitest";
import { countShownChars, createSecretGuard } from "../../sandbox/host/secretGuard.ts";

const VALUE = 'pa"ss/wö rd+1';
const to = (url: string, rest: object = {}) => ({ url: new URL(url), method: "GET", ...rest });

test("masks a value in lower and upper case, as URLs and headers show it", () => {
  const guard = createSecretGuard({ secrets: { KEY: "tok_9D1C-Private" } });
  expect(guard.mask("no host tok_9d1c-private.example, no TOK_9D1C-PRIVATE")).toBe(
    "no host ***.example, no ***",
  );
});

test("masks a value in each form that sources and servers show it in", () => {
  const { mask } = createSecretGuard({ secrets: { KEY: VALUE } });
  const bytes = Buffer.from(VALUE);
  const json = JSON.stringify(VALUE).slice(1, -1);
  const shown = [
    VALUE,
    json,
    json.replaceAll("/", "\\/").replaceAll("ö", "\\u00F6"),
    encodeURIComponent(VALUE),
    encodeURIComponent(VALUE).toLowerCase(),
    new URLSearchParams([["", VALUE]]).toString().slice(1),
    new URL(`https://a.example/${VALUE}`).pathname.slice(1),
    new URL(`https://a.example/?${VALUE}`).search.slice(1),
    bytes.toString("hex").replaceAll(/../g, "%$&"),
    bytes.toString("base64"),
    bytes.toString("base64url"),
    encodeURIComponent(bytes.toString("base64")),
    btoa(VALUE),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
  ];
  // What is left of base64 holds bits of the neighbours, or none.
  for (const one of shown.flatMap((form) => [form, form.split("").toReversed().join("")]))
    expect(mask(`a ${one} b`)).toMatch(
      /^a (?:={0,2}|(?:D3%){0,2}).{0,2}\*\*\*.{0,2}(?:={0,2}|(?:%3D){0,2}) b$/,
    );
});

test("bounds: leaves short values and other texts alone", () => {
  const { mask } = createSecretGuard({ secrets: { SHORT: "1234567", KEY: VALUE } });
  expect(mask("1234567 and more")).toBe("1234567 and more");
});

test("bounds: masks what is left of a value that was cut, or that stands among other bytes", () => {
  const { mask } = createSecretGuard({ secrets: { KEY: "Sup3r-S3cret-Value" } });
  expect(mask(`Unexpected token 'S', "Sup3r-S3cr"... is not valid JSON`)).toBe(
    `Unexpected token 'S', "***"... is not valid JSON`,
  );
  for (const before of ["", "u", "us", "user:"]) {
    const text = btoa(`${before}Sup3r-S3cret-Value and more`);
    expect(mask(text).length).toBeLessThan(text.length - 18);
  }
  expect(mask("two: Sup3r-S3cret-ValueSup3r-S3cret-Value, one: Sup3r-S3cret-Value")).toBe(
    "two: ***, one: ***",
  );
});

test("a result shows a whole secret, or a piece of one as it would be masked", () => {
  const shownBy = (result: string): number => countShownChars(Buffer.from(result), ["short", VALUE]);
  expect(shownBy(`a ${VALUE}`)).toBe(VALUE.length);
  for (const piece of [VALUE.slice(4), VALUE.toUpperCase(), btoa(VALUE), encodeURI(VALUE), VALUE.slice(0, 8)])
    expect(shownBy(`a ${piece}`)).toBe(8);
  expect(shownBy("a short one")).toBe(5);
  expect(shownBy(VALUE.slice(0, 7))).toBe(0);
  expect(countShownChars(Buffer.from(VALUE), ["", "another value"])).toBe(0);
});

test("without hosts a source may reach any", () => {
  const guard = createSecretGuard({ secrets: { KEY: VALUE } });
  expect(guard.refuse(to("https://a.example/"))).toBeUndefined();
  expect(guard.breach()).toBeUndefined();
});

test("a request elsewhere fails the run, whatever it carries", () => {
  const guard = createSecretGuard({ secrets: { KEY: VALUE }, allowedHosts: { KEY: ["a.example"] } });
  expect(guard.refuse(to("https://A.example:443/path"))).toBeUndefined();
  expect(guard.breach()).toBeUndefined();
  const reason = guard.refuse(to(`https://b.a.example/${encodeURIComponent(VALUE)}`));
  expect(reason).toContain("may not be sent");
  expect(guard.breach()).toEqual({
    message: reason,
    detail: expect.stringContaining("a.example only"),
  });
});

test.each([
  ["http", "http://a.example/", {}, "by https only"],
  ["another port", "https://a.example:8443/", {}, "a.example:8443"],
  ["the usual port instead of one that is named", "https://b.example/", {}, "b.example:8443 only"],
  ["another port although the operator admits it", "http://a.example:8080/", { isAdmitted: true }, ":8080"],
])("a request by %s fails the run", (_, url, more, reason) => {
  const guard = createSecretGuard({
    secrets: { KEY: VALUE },
    allowedHosts: { KEY: ["a.example", "b.example:8443"] },
  });
  expect(guard.refuse(to("https://b.example:8443/"))).toBeUndefined();
  expect(guard.refuse(to("http://a.example/", { isAdmitted: true }))).toBeUndefined();
  expect(guard.breach()).toBeUndefined();
  expect(guard.refuse(to(url, more))).toContain("may not be sent");
  expect(guard.breach()?.detail).toContain(reason);
});

test("each secret leaves for its own hosts alone", () => {
  const guard = createSecretGuard({
    secrets: { ONE: "first-value", TWO: "second-value" },
    allowedHosts: { ONE: ["one.example"], TWO: ["two.example"] },
  });
  const body = Buffer.from("second-value");
  expect(guard.refuse(to("https://two.example/", { body }))).toBeUndefined();
  const headers = [["authorization", `Basic ${btoa("first-value")}`]] as const;
  expect(guard.refuse(to("https://one.example/", { headers }))).toBeUndefined();
  expect(guard.refuse(to("https://two.example/", { headers }))).toContain("may not be sent");
  expect(guard.refuse(to("https://one.example/", { body }))).toContain("may not be sent");
});

test.each([
  ["in its path", `https://two.example/${VALUE}`, {}],
  ["in its query", `https://two.example/?key=${VALUE}`, {}],
  ["as a form", "https://two.example/", { body: Buffer.from(new URLSearchParams({ VALUE }).toString()) }],
  [
    "as JSON of a server in PHP",
    "https://two.example/",
    { body: Buffer.from(JSON.stringify(VALUE).replaceAll("/", "\\/")) },
  ],
  ["back to front", "https://two.example/", { body: Buffer.from(VALUE.split("").toReversed().join("")) }],
])("a request with another host's secret %s fails the run", (_, url, more) => {
  const guard = createSecretGuard({
    secrets: { ONE: VALUE, TWO: "second-value" },
    allowedHosts: { ONE: ["one.example"], TWO: ["two.example"] },
  });
  expect(guard.refuse(to(url, more))).toContain("may not be sent");
});

test("a request with another host's secret as its method fails the run", () => {
  const guard = createSecretGuard({
    secrets: { ONE: "tok_9D1C-Private", TWO: "second-value" },
    allowedHosts: { ONE: ["one.example"], TWO: ["two.example"] },
  });
  expect(guard.refuse(to("https://two.example/", { method: "TOK_9D1C-PRIVATE" }))).toContain(
    "may not be sent",
  );
});

test("with hosts, no module is imported by its URL", () => {
  const source = 'const { ethers } = await import("npm:ethers@6.13.0");';
  const guard = createSecretGuard({ source, secrets: { KEY: VALUE }, allowedHosts: { KEY: ["a.example"] } });
  expect(guard.refuseImport("npm:ethers@6.13.0")).toBeUndefined();
  expect(guard.refuseImport("node:crypto")).toBeUndefined();
  expect(guard.breach()).toBeUndefined();
  expect(guard.refuseImport("HTTPS://a.example/module.js")).toBeDefined();
  expect(guard.refuseImport(" https://a.example/module.js")).toBeDefined();
  expect(guard.refuseImport("ht\ntps:a.example/module.js")).toBeDefined();
  expect(guard.breach()?.detail).toContain("modules");
  for (const specifier of ["https://a.example/", `npm:${VALUE}`])
    expect(createSecretGuard({ secrets: { KEY: VALUE } }).refuseImport(specifier)).toBeUndefined();
});

test("with hosts, no package is imported that the source doesn't name: its name would tell the registry", () => {
  for (const specifier of [`npm:${VALUE}`, `npm:left-pad@${btoa(VALUE)}`, "npm:left-pad-7"]) {
    const source = 'await import("npm:left-pad"); await import("npm:" + secrets.KEY);';
    const guard = createSecretGuard({
      source,
      secrets: { KEY: VALUE },
      allowedHosts: { KEY: ["a.example"] },
    });
    expect(guard.refuseImport("npm:left-pad")).toBeUndefined();
    expect(guard.breach()).toBeUndefined();
    expect(guard.refuseImport(specifier)).toBeDefined();
    expect(guard.breach()?.detail).toContain("packages that it names");
  }
});
