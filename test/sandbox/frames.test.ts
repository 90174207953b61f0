import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  createFrameReader,
  encodeFrame,
  isShallow,
  type Frame,
  type FrameLimits,
} from "../../sandbox/host/frames.ts";

const ROOMY: FrameLimits = { maxHeaderBytes: 500_000, maxBodyBytes: 500_000 };

const read = (chunks: readonly Uint8Array[], limits = ROOMY): Omit<Frame, "bytes">[] => {
  const frames: Omit<Frame, "bytes">[] = [];
  const push = createFrameReader({
    limits: () => limits,
    onFrame: ({ type, header, body }) => frames.push({ type, header, body: Buffer.from(body) }),
  });
  for (const chunk of chunks) push(chunk);
  return frames;
};

test("length, type, header length, header, body", () => {
  expect(encodeFrame(5, { a: 1 }, Uint8Array.of(9, 8)).toString("hex")).toBe(
    `0000000e0500000007${Buffer.from('{"a":1}').toString("hex")}0908`,
  );
});

test("frames come out as they went in, however the stream is cut", () => {
  const frame = fc.record({
    type: fc.integer({ min: 0, max: 255 }),
    header: fc.oneof(fc.string({ unit: "binary" }), fc.dictionary(fc.string(), fc.integer())),
    body: fc.uint8Array({ maxLength: 300 }),
  });
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      (frames, cuts) => {
        const stream = Buffer.concat(frames.map((one) => encodeFrame(one.type, one.header, one.body)));
        const chunks: Uint8Array[] = [];
        for (let at = 0, cut = 0; at < stream.length; cut++) {
          const end = at + (cuts[cut % cuts.length] as number);
          chunks.push(stream.subarray(at, end));
          at = end;
        }
        const plain = JSON.parse(JSON.stringify(frames.map((one) => one.header))) as unknown[];
        expect(read(chunks)).toEqual(
          frames.map((one, at) => ({ type: one.type, header: plain[at], body: Buffer.from(one.body) })),
        );
      },
    ),
  );
});

test("any bytes are either frames or one refusal", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 })), (chunks) => {
      let refusal: unknown = { code: "sandbox_protocol" };
      try {
        read(chunks, { maxHeaderBytes: 50, maxBodyBytes: 45 });
      } catch (error) {
        refusal = error;
      }
      expect(refusal).toMatchObject({ code: "sandbox_protocol" });
    }),
  );
});

test("a frame longer than allowed is refused by its length alone", () => {
  expect(() => read([Buffer.from("00000065", "hex")], { maxHeaderBytes: 50, maxBodyBytes: 45 })).toThrow(
    "a frame of 101 bytes, at most 100 are taken",
  );
});

test("a frame too short for its own fields, a header too long for its frame, a header that is no JSON", () => {
  expect(() => read([Buffer.from("00000004", "hex")])).toThrow("at least 5");
  expect(() => read([Buffer.from("00000005010000ffff", "hex")])).toThrow("a header of 65535 bytes");
  expect(() => read([Buffer.from("0000000601000000017b", "hex")])).toThrow("not JSON");
});

test("header and body have a limit each, known by the first nine bytes", () => {
  const limits = { maxHeaderBytes: 20, maxBodyBytes: 10 };
  expect(read([encodeFrame(1, "x".repeat(18), new Uint8Array(10))], limits)).toHaveLength(1);
  const beginning = (frame: Buffer) => [frame.subarray(0, 9)];
  expect(() => read(beginning(encodeFrame(1, "x".repeat(19))), limits)).toThrow("a header of 21 bytes");
  expect(() => read(beginning(encodeFrame(1, 7, new Uint8Array(11))), limits)).toThrow("a body of 11 bytes");
});

test("a header nested too deep is refused before it is parsed", () => {
  const limits = { ...ROOMY, maxDepth: 3 };
  expect(read([encodeFrame(1, { a: { b: [1] }, c: "[[[[{{{{" })], limits)).toHaveLength(1);
  expect(() => read([encodeFrame(1, { a: { b: [[1]] } })], limits)).toThrow("deeper than 3");
});

test("nesting is counted outside texts, whatever they hold", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 6 }), (value, max) => {
      const depthOf = (one: unknown): number =>
        typeof one !== "object" || one === null ? 0 : 1 + Math.max(0, ...Object.values(one).map(depthOf));
      expect(isShallow(Buffer.from(JSON.stringify(value)), max)).toBe(depthOf(value) <= max);
    }),
  );
});

test("a frame in single bytes is kept in one array, not in an object for each", () => {
  let frames = 0;
  const push = createFrameReader({ limits: () => ROOMY, onFrame: () => (frames += 1) });
  const stream = encodeFrame(1, {}, new Uint8Array(400_000));
  const beforeBytes = process.memoryUsage().arrayBuffers;
  for (const byte of stream.subarray(0, -1)) push(Uint8Array.of(byte));
  expect(process.memoryUsage().arrayBuffers - beforeBytes).toBeLessThan(32 * 1024 * 1024);
  push(stream.subarray(-1));
  expect(frames).toBe(1);
});
