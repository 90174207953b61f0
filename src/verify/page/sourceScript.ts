import { GIVEN_MEMBERS, PLAIN_GLOBALS } from "./plainSource.ts";

/**
 * What the script from {@link createSourceScript} posts when a source has ended or has reached something that may differ from machine to
 * machine; the first post counts. `thrown` is the text that nodes report of an error, `stopped` why there is no such text.
 */
export type ScriptOutcome =
  | { readonly result: string }
  | { readonly thrown: string }
  | { readonly stopped: string }
  | { readonly differing: string };

/**
 * Returns a script for a worker that runs a source once, on the first message `{ args, bytesArgs }`, and posts its outcome: the returned bytes
 * as hex, or the message of the error that it threw. Everything that is not plain ECMAScript is first removed from the global object.
 *
 * @param source the body of an async function that `findObstacle` accepts, so that no part of it ends outside that body.
 */
export function createSourceScript(source: string): string {
  return `"use strict";
const post = self.postMessage.bind(self);
const encoder = new TextEncoder();
const kept = new Set(${JSON.stringify([...PLAIN_GLOBALS, "globalThis", "onmessage"])});
const encodeInteger = (name, least, most) => (value) => {
  const input = "input into Functions." + name;
  if (typeof value !== "number" && typeof value !== "bigint") throw new Error(input + " is not a number or bigint");
  if (typeof value === "number" && !Number.isInteger(value)) throw new Error(input + " is not an integer");
  const integer = BigInt(value);
  if (integer < least) throw new Error(input + (least === 0n ? " is negative" : " is too small"));
  if (integer > most) throw new Error(input + " is too large");
  const hex = BigInt.asUintN(256, integer).toString(16).padStart(64, "0");
  return Uint8Array.from({ length: 32 }, (_, i) => parseInt(hex.slice(2 * i, 2 * i + 2), 16));
};
const Functions = Object.freeze({
  encodeUint256: encodeInteger("encodeUint256", 0n, 2n ** 256n - 1n),
  encodeInt256: encodeInteger("encodeInt256", -(2n ** 255n), 2n ** 255n - 1n),
  encodeString: (value) => encoder.encode(value),
});
const toBytes = (value) => {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (value instanceof Uint8Array) return value;
  throw new Error("returned value not an ArrayBuffer or Uint8Array");
};
const trap = (holder, name) => {
  const get = () => {
    post({ differing: name });
    throw new Error(name + " is not repeated here");
  };
  Object.defineProperty(holder, name, { get, set: get });
};
const console = Object.freeze(Object.fromEntries(${JSON.stringify(GIVEN_MEMBERS.console)}.map((name) => [name, () => {}])));
const main = (Functions, console, args, bytesArgs) => (async () => {
${source}
})();
const listen = self.addEventListener.bind(self);
listen("message", ({ data }) => {
  trap(Math, "random");
  trap(Error, "captureStackTrace");
  trap(Error, "stackTraceLimit");
  for (const kind of [() => {}, async () => {}, function* () {}, async function* () {}])
    trap(Object.getPrototypeOf(kind), "constructor");
  for (const { prototype } of [String, Number, BigInt, Array, Object, Object.getPrototypeOf(Int8Array)])
    for (const name of Object.getOwnPropertyNames(prototype))
      if (/^(?:to)?Locale/i.test(name)) trap(prototype, name);
  for (let at = self; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Reflect.ownKeys(at)) if (!kept.has(name)) Reflect.deleteProperty(at, name);
  main(Functions, console, data.args, data.bytesArgs).then(toBytes).then(
    (bytes) => post({ result: Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("") }),
    (thrown) => {
      const message = thrown instanceof Error ? thrown.message : thrown;
      post(typeof message === "string" ? { thrown: message } : { stopped: "it throws no text" });
    },
  );
}, { once: true });
`;
}
