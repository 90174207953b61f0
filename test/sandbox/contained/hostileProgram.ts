import * as fc from "fast-check";

/** The behaviour of a child that an attacker fully controls: it writes frames, over and over, for as long as it lives. */
export interface HostileProgram {
  readonly name: string;
  /** None: it computes until it is killed. */
  readonly steps: readonly HostileStep[];
  /** Bytes per write; 0: a whole frame. */
  readonly chunkBytes?: number;
  /** How often the steps are written. Default: endlessly. */
  readonly repeat?: number;
  /** Whether it ignores the parent's answers. */
  readonly isDeaf?: boolean;
}

/** One frame, or something that looks like one. */
export interface HostileStep {
  readonly type: number;
  /** Usually JSON; `$RUN` is the run's number, `$N` counts up. */
  readonly header: string;
  /** Text of the body, repeated to `bodyBytes`. */
  readonly body?: string;
  readonly bodyBytes?: number;
  /** Bytes to overwrite: offset, value. */
  readonly flips?: readonly (readonly [offset: number, value: number])[];
  /** Number of bytes to cut off at the end. */
  readonly missingBytes?: number;
  /** Where it is written. Default: standard output. */
  readonly to?: "stdout" | "stderr";
}

const RESULT = '{"run":$RUN,"error":null,"timeMs":1,"memoryBytes":1,"touched":[],"reusable":true}';
const CALL = (name: string) => `{"run":$RUN,"call":$N,"name":"${name}"}`;
const FETCH = (members: string) =>
  `{"url":"x","method":"GET","headers":[],"redirect":"follow",${members}"hasBody":false}`;
/** A host call's message: the length of its header in 32 bits, then the header. It is written as text, so only lengths with bytes below 128 work. */
const message = (json: string) => `\0${String.fromCharCode(0, 0, 0)}${json}`;
const LONG = "npm:a@" + Array.from({ length: 200 }, (_, at) => at).join("||");

/** Writes nothing and computes until its time is over, as a source may: what the others cost is compared with this. */
export const BUSY: HostileProgram = { name: "computes, writes nothing", steps: [] };

/** The obvious floods. */
export const FLOODS: readonly HostileProgram[] = [
  {
    name: "console output, 16 KB a frame",
    steps: [{ type: 2, header: '{"run":$RUN}', body: "x", bodyBytes: 16_384 }],
  },
  {
    name: "console output, a byte a frame",
    steps: [{ type: 2, header: '{"run":$RUN}', body: "x", bodyBytes: 1 }],
  },
  {
    name: "console output, a byte a chunk",
    chunkBytes: 1,
    steps: [{ type: 2, header: '{"run":$RUN}', body: "x", bodyBytes: 9 }],
  },
  {
    name: "imports of a long range",
    steps: [{ type: 3, header: CALL("import"), body: `{"specifier":"${LONG}","type":""}` }],
  },
  {
    name: "imports, deaf",
    isDeaf: true,
    steps: [{ type: 3, header: CALL("import"), body: '{"specifier":"npm:a","type":""}' }],
  },
  {
    name: "requests with a header of lists",
    steps: [{ type: 3, header: CALL("fetch"), body: message(FETCH(`"more":[${"[],".repeat(20_000)}0],`)) }],
  },
  {
    name: "requests to nowhere",
    steps: [{ type: 3, header: CALL("fetch"), body: message(FETCH("")), bodyBytes: 150_000 }],
  },
  {
    name: "calls of unknown names, withdrawn",
    steps: [
      { type: 3, header: CALL("x") },
      { type: 4, header: '{"run":$RUN,"call":$N}' },
    ],
  },
  { name: "ready", steps: [{ type: 1, header: '{"done":$N}' }] },
  { name: "ready for nothing", steps: [{ type: 1, header: '{"done":0}' }] },
  {
    name: "standard error",
    steps: [{ type: 0, header: "", to: "stderr", bodyBytes: 65_536, body: "out of memory " }],
  },
  { name: "headers of 128 KB", steps: [{ type: 2, header: `{"run":$RUN,"more":"${"x".repeat(130_000)}"}` }] },
  {
    name: "headers of 60,000 lists in each other",
    steps: [{ type: 2, header: `{"run":$RUN,"more":${"[".repeat(60_000)}${"]".repeat(60_000)}}` }],
  },
  {
    name: "results at once, as long as may be",
    repeat: 1,
    steps: [
      { type: 5, header: RESULT, body: "x", bodyBytes: 256 },
      { type: 1, header: '{"done":$RUNS}' },
    ],
  },
  {
    name: "errors at once, with all their texts",
    repeat: 1,
    steps: [
      {
        type: 5,
        header: RESULT.replace(
          "null",
          `{"kind":"thrown","message":"${"m".repeat(16_384)}","stack":"${"s".repeat(16_384)}","detail":"${"d".repeat(16_384)}"}`,
        ),
      },
      { type: 1, header: '{"done":$RUNS}' },
    ],
  },
  {
    name: "half a frame in single bytes",
    chunkBytes: 1,
    repeat: 1,
    steps: [{ type: 3, header: CALL("x"), bodyBytes: 150_000, missingBytes: 1 }],
  },
  { name: "the end of the process", repeat: 0, steps: [] },
];

const header = fc.oneof(
  fc.constantFrom(
    '{"run":$RUN}',
    CALL("fetch"),
    CALL("import"),
    '{"run":$RUN,"call":$N}',
    '{"done":$N}',
    RESULT,
  ),
  fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.stringify(value)),
  fc.string({ maxLength: 60 }),
);
const step: fc.Arbitrary<HostileStep> = fc.record(
  {
    type: fc.integer({ min: 0, max: 7 }),
    header,
    body: fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constant(message(FETCH(""))),
      fc.constant('{"specifier":"npm:a","type":""}'),
    ),
    bodyBytes: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 300_000 })),
    flips: fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 255 })), {
      maxLength: 2,
    }),
    missingBytes: fc.integer({ min: 0, max: 20 }),
    to: fc.constantFrom("stdout", "stdout", "stdout", "stderr"),
  },
  { requiredKeys: ["type", "header"] },
);

/** Any program: frames of every kind, intact and damaged, in chunks of any size. */
export const anyProgram: fc.Arbitrary<HostileProgram> = fc.record(
  {
    name: fc.constant("made up"),
    steps: fc.array(step, { minLength: 1, maxLength: 6 }),
    chunkBytes: fc.constantFrom(0, 0, 1, 7, 4_096, 65_536),
    repeat: fc.constantFrom(1, 50, 1e9),
    isDeaf: fc.boolean(),
  },
  { requiredKeys: ["name", "steps"] },
);

/** The child's script: for each run it executes the program given as the run's source. */
export const HOSTILE_CHILD = `
const { writeSync } = require("node:fs");
const WAIT = new Int32Array(new SharedArrayBuffer(4));
const put = (to, bytes) => {
  for (let at = 0; at < bytes.length;) {
    try { at += writeSync(to, bytes, at); }
    catch (error) { if (error.code !== "EAGAIN") process.exit(); Atomics.wait(WAIT, 0, 0, 1); }
  }
};
const frame = (type, header, body) => {
  const text = Buffer.from(header);
  const prefix = Buffer.alloc(9);
  prefix.writeUInt32BE(5 + text.length + body.length, 0);
  prefix.writeUInt8(type, 4);
  prefix.writeUInt32BE(text.length, 5);
  return Buffer.concat([prefix, text, body]);
};
let runs = 0, n = 0, stream = Buffer.alloc(0);
const bytesOf = (step, run) => {
  if (step.to === "stderr") return Buffer.alloc(step.bodyBytes ?? 1, step.body ?? "x");
  const header = step.header.replace("$RUNS", runs).replace("$RUN", run).replace("$N", step.type === 4 ? n : ++n);
  let body = Buffer.from(step.body ?? "");
  if (step.bodyBytes !== undefined) body = Buffer.concat([body.subarray(0, step.bodyBytes), Buffer.alloc(Math.max(0, step.bodyBytes - body.length), "x")]);
  // The length of a call's header, which its text leaves open.
  if (step.type === 3 && body[0] === 0 && body.length > 4) body.writeUInt32BE(Math.max(0, Buffer.byteLength(step.body) - 4), 0);
  const bytes = frame(step.type, header, body);
  for (const [at, value] of step.flips ?? []) if (at < bytes.length) bytes[at] = value;
  return bytes.subarray(0, bytes.length - (step.missingBytes ?? 0));
};
const play = (program, run) => {
  if (program.repeat === 0) process.exit();
  while (program.steps.length === 0);
  if (program.isDeaf) process.stdin.pause();
  for (let times = program.repeat ?? Infinity; times > 0; times--) {
    for (const step of program.steps) {
      const bytes = bytesOf(step, run);
      const size = program.chunkBytes || bytes.length;
      for (let at = 0; at < bytes.length; at += size) put(step.to === "stderr" ? 2 : 1, bytes.subarray(at, at + size));
    }
  }
};
process.stdin.on("data", (chunk) => {
  stream = Buffer.concat([stream, chunk]);
  while (stream.length >= 4 && stream.length >= 4 + stream.readUInt32BE(0)) {
    const end = 4 + stream.readUInt32BE(0);
    const type = stream[4];
    const header = JSON.parse(stream.subarray(9, 9 + stream.readUInt32BE(5)));
    stream = stream.subarray(end);
    if (type !== 1) continue;
    runs += 1;
    play(JSON.parse(header.source), header.run);
  }
});
process.stdin.on("end", () => process.exit());
put(1, frame(1, '{"done":0}', Buffer.alloc(0)));
`;
