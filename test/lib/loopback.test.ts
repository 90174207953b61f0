import { expect, test } from "vitest";
import {
  hostNameOf,
  isLoopbackAddress,
  isLoopbackHost,
  isLoopbackOrigin,
  isUnspecifiedAddress,
  originHostOf,
} from "../../src/lib/loopback.ts";

test.each(["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"])("%s is loopback", (address) => {
  expect(isLoopbackAddress(address)).toBe(true);
});

test.each(["10.0.0.1", "::", "::ffff:10.0.0.1", "1.127.0.0", "", "localhost"])(
  "%j is not a loopback address",
  (address) => {
    expect(isLoopbackAddress(address)).toBe(false);
  },
);

test.each([
  ["0.0.0.0", true],
  ["::", true],
  ["::ffff:0.0.0.0", true],
  ["127.0.0.1", false],
  ["0.0.0.1", false],
  ["::1", false],
  ["", false],
])("%j is unspecified: %s", (address, expected) => {
  expect(isUnspecifiedAddress(address)).toBe(expected);
});

test.each(["localhost", "localhost:3000", "LOCALHOST:9", "127.0.0.1:3000", "127.9.9.9", "[::1]:3000"])(
  "the Host %s names this machine",
  (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  },
);

test.each([
  "",
  "evil.example",
  "evil.example:3000",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "192.168.1.5:3000",
  "0.0.0.0:3000",
  "[::]:3000",
  "2130706433",
  "localhost:3000:1",
  "localhost:",
  "evil.example:3000@localhost",
  "127.0.0.1:3000@evil.example",
  "localhost:65536",
  "[::1%25eth0]",
  "[127.0.0.1]",
  "localhost,evil.example",
  "localhost/evil",
])("the Host %j names another", (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});

test("a name is told from its port", () => {
  expect(["Tyche.example:80", "tyche.example", "[::1]:80", "a:b"].map(hostNameOf)).toEqual([
    "tyche.example",
    "tyche.example",
    "[::1]",
    "",
  ]);
});

test.each([
  "http://localhost@evil.example",
  "http://evil.example@localhost",
  "http://localhost/evil",
  "capacitor://localhost",
  "localhost",
  "null",
  "",
])("the Origin %j is not a page of this machine", (origin) => {
  expect(isLoopbackOrigin(origin)).toBe(false);
});

test("an origin's host keeps its port", () => {
  expect(originHostOf("https://Tyche.example:8443")).toBe("tyche.example:8443");
  expect(isLoopbackOrigin("http://localhost:5173")).toBe(true);
});
