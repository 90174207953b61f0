import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createFrameReader, encodeFrame, type Frame } from "../../sandbox/host/frames.ts";

const read = (chunks: readonly Uint8Array[], maxFrameBytes = 1_000_000): Frame[] => {
  const frames: Frame[] = [];
  const push = createFrameReader({
    maxFrameBytes,
    onFrame: (frame) => frames.push({ ...frame, body: frame.body.slice() }),
  });
  for (const chunk of chunks) push(chunk);
  return frames;
};

test("default: length, type, header length, header, body", () => {
  expect(encodeFrame(5, { a: 1 }, Uint8Array.of(9, 8)).toString("hex")).toBe(
    `0000000e0500000007${Buffer.from('{"a":1}').toString("hex")}0908`,
  );
});

test("behaviour: frames come out as they went in, however the stream is cut", () => {
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

test("behaviour: any bytes are either frames or one refusal", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 })), (chunks) => {
      let refusal: unknown = { code: "sandbox_protocol" };
      try {
        read(chunks, 100);
      } catch (error) {
        refusal = error;
      }
      expect(refusal).toMatchObject({ code: "sandbox_protocol" });
    }),
  );
});

test("error: a frame longer than allowed is refused by its length alone", () => {
  expect(() => read([Buffer.from("00000065", "hex")], 100)).toThrow(
    "a frame of 101 bytes, at most 100 are taken",
  );
});

test("error: a frame too short for its own fields, a header too long for its frame, a header that is no JSON", () => {
  expect(() => read([Buffer.from("00000004", "hex")])).toThrow("at least 5");
  expect(() => read([Buffer.from("00000005010000ffff", "hex")])).toThrow("a header of 65535 bytes");
  expect(() => read([Buffer.from("0000000601000000017b", "hex")])).toThrow("not JSON");
});
