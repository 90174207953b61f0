import { expect, test } from "vitest";
import { addressGroup } from "../../src/lib/addressGroup.ts";

test("addresses of one IPv6 /64 are one group, those of two are two", () => {
  const first = addressGroup("2001:db8:1:2::1");
  expect(addressGroup("2001:db8:1:2:ffff:ffff:ffff:ffff")).toBe(first);
  expect(addressGroup("2001:0db8:0001:0002:0:0:0:3")).toBe(first);
  expect(addressGroup("2001:db8:1:3::1")).not.toBe(first);
});

test("each IPv4 address is a group, the same one where IPv6 carries it", () => {
  expect(addressGroup("192.0.2.1")).toBe("192.0.2.1");
  expect(addressGroup("::ffff:192.0.2.1")).toBe("192.0.2.1");
  expect(addressGroup("192.0.2.2")).not.toBe("192.0.2.1");
});

test("a zone makes no other group", () => {
  expect(addressGroup("fe80::1%eth0")).toBe(addressGroup("fe80::1%eth1"));
});

test.each(["", "unknown", "a proxy's own word", "192.0.2.1, 192.0.2.2"])(
  "%j, which is no address, is in the group of all such",
  (text) => {
    expect(addressGroup(text)).toBe("unknown");
  },
);
