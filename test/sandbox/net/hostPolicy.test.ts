import { expect, test } from "vitest";
import { createHostPolicy } from "../../../sandbox/host/net/hostPolicy.ts";

test("a host, a host and port, an address, or everything", () => {
  const entries = [
    "api.example.com",
    "Internal_1",
    "10.0.0.7:8080",
    "[::1]",
    "[::1]:8080",
    "xn--bcher-kva.example",
  ];
  const policy = createHostPolicy(entries);
  expect(policy.isAllowed("api.example.com", 1)).toBe(true);
  expect(policy.isAllowed("internal_1", 80)).toBe(true);
  expect(policy.isAllowed("10.0.0.7", 8080)).toBe(true);
  expect(policy.isAllowed("10.0.0.7", 8081)).toBe(false);
  expect(policy.isAllowed("::1", 443)).toBe(true);
  expect(createHostPolicy(["*"]).isAllowed("anything", 1)).toBe(true);
});

test.each([
  ["http://127.0.0.1", ""],
  ["127.0.0.1:0", "a port is from 1 to 65535; "],
  ["127.0.0.1:99999", "a port is from 1 to 65535; "],
  ["127.0.0.1:http", ""],
  ["127.1", "URLs write this host as 127.0.0.1; "],
  ["bücher.example", "URLs write this host as xn--bcher-kva.example; "],
  ["::1", ""],
  ["[::0001]", "URLs write this host as [::1]; "],
  ["*.example.com", ""],
  ["a b", ""],
  ["a/b", ""],
  ["user@host", ""],
  ["host:", ""],
  ["", ""],
])("the entry %j is refused by name, with the form it should have", (entry, hint) => {
  expect(() => createHostPolicy(["127.0.0.1:8080", entry])).toThrow(
    expect.objectContaining({
      code: "invalid_option",
      message: `allowHosts: ${JSON.stringify(entry)} can't be used: ${hint}an entry is a host (api.example.com, 10.0.0.7, [::1]), a host and port (127.0.0.1:8080), or * for every host`,
    }),
  );
});
