import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, test, vi } from "vitest";
import { ERROR_TABLE } from "../../src/http/errorTable.ts";
import {
  ConnectionError,
  createClient,
  createExplorer,
  ERROR_CLASSES,
  FunctionFailedError,
  IdempotencyConflictError,
  InvalidOptionError,
  OverloadedError,
  RequestFailedError,
  TimeoutError,
  UnauthenticatedError,
  type ApiError,
  type ClientOptions,
} from "../../src/client/index.ts";
import { FunctionFailedError as SourceFailedError } from "../../src/requests/accept/runDetails.ts";
import { API_KEY } from "../http/exampleService.ts";
import { startHarness, type Harness } from "../http/harness.ts";

type Fetch = typeof globalThis.fetch;

/** Connects a client to an in-memory service, with `fetch` in between. */
async function connect(fetch: (given: Fetch) => Fetch = (given) => given, more: Partial<ClientOptions> = {}) {
  const harness = await startHarness({ limits: { heartbeatMs: 20 } });
  const calls: Request[] = [];
  const counted: Fetch = (input, init) => {
    const request = new Request(input, init);
    calls.push(request);
    return globalThis.fetch(request);
  };
  const client = createClient({
    baseUrl: harness.server.url,
    apiKey: API_KEY,
    retryDelayMs: 1,
    fetch: fetch(counted),
    ...more,
  });
  return { ...harness, client, calls };
}

/** Answers the first `count` calls itself. */
function first(count: number, answer: () => Response | Promise<Response>): (given: Fetch) => Fetch {
  let calls = 0;
  return (given) => (input, init) => (calls++ < count ? Promise.resolve(answer()) : given(input, init));
}

function endings(service: Harness["service"]): number {
  return service.submitted.length;
}

const BUSY = { data: { success: false, code: "overloaded", err: "busy" } };

describe("a call", () => {
  test("one whose answer was lost is sent again with the same key, and is one request", async () => {
    let lost = 0;
    const losing =
      (given: Fetch): Fetch =>
      async (input, init) => {
        const response = await given(input, init);
        if (lost++ > 1) return response;
        await response.text();
        throw new TypeError("the connection broke");
      };
    // A given number of retries is not limited in time; the default is, until the first answer.
    const { client, service, calls } = await connect(losing, { retries: 8 });
    expect(await client.preset("range", { min: 1, max: 6n })).toMatchObject({ success: true });
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
    expect(new Set(service.submitted.map(({ options }) => options.idempotencyKey)).size).toBe(1);
  });

  test("two calls have two keys, and a caller's own is kept", async () => {
    const { client, calls } = await connect();
    await client.preset("coinflip");
    await client.preset("coinflip", {}, { network: "sepolia", confirmations: 5 });
    await client.random({}, { idempotencyKey: "mine" });
    const [one, two, mine] = calls.map(({ headers }) => headers.get("idempotency-key"));
    expect(one).toMatch(/^[0-9a-f]{32}$/);
    expect(two).not.toBe(one);
    expect(mine).toBe("mine");
  });

  test("what the service puts off is sent again after the time that it asks for", async () => {
    const busy = () =>
      Response.json(
        { data: { success: false, code: "overloaded", err: "busy" } },
        { status: 503, headers: { "retry-after": "0" } },
      );
    const { client } = await connect(first(2, busy));
    expect(await client.random()).toMatchObject({ success: true });
  });

  test("a retry doesn't come before the time that the service asks for", async () => {
    const delays = vi.spyOn(globalThis, "setTimeout");
    const busy = () => Response.json(BUSY, { status: 503, headers: { "retry-after": "1" } });
    const { client, calls } = await connect(first(1, busy));
    expect(await client.networks()).not.toEqual([]);
    // Whatever else runs in this process has timers, too: of whole milliseconds, where a retry's has a random part.
    const waits = delays.mock.calls.map(([, ms = 0]) => ms).filter((ms) => ms > 1000 && ms < 1100);
    expect(waits).toEqual([expect.closeTo(1001, 0)]);
    expect(calls).toHaveLength(1);
    delays.mockRestore();
  });

  test("an end that the service has stored is not asked for again", async () => {
    const { client, service, calls } = await connect();
    service.behave({ fails: { code: "request_failed", message: "the callback reverted" } });
    const error = await client.preset("coinflip").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RequestFailedError);
    expect(error).toMatchObject({ code: "request_failed", status: 502, message: "the callback reverted" });
    expect((error as ApiError).id).toMatch(/^req_/);
    expect(calls).toHaveLength(1);
  });

  test("a key that nobody knows is an UnauthenticatedError, without a retry", async () => {
    const { client, calls } = await connect(undefined, { apiKey: "tyche_wrong" });
    await expect(client.networks()).rejects.toBeInstanceOf(UnauthenticatedError);
    expect(calls).toHaveLength(1);
  });

  test.each([
    [undefined, "undefined"],
    ["127.0.0.1:3900", '"127.0.0.1:3900"'],
    ["localhost:3900", '"localhost:3900"'],
    ["ftp://tyche.example", '"ftp://tyche.example"'],
    ["http://name:word@tyche.example", '"http://…@tyche.example"'],
    ["http://tyche.example/?key=1", '"http://tyche.example/?key=1"'],
  ])("the address %s is refused with what is expected", (baseUrl, given) => {
    const message = `baseUrl is ${given}; expected the service's http or https URL, such as "http://127.0.0.1:3000"`;
    expect(() => createClient({ baseUrl: baseUrl!, apiKey: API_KEY })).toThrow(
      new InvalidOptionError(message),
    );
    expect(() => createExplorer({ baseUrl: baseUrl! })).toThrow(message);
  });

  test("a key that is not set is not sent", async () => {
    const { client, calls } = await connect(undefined, { apiKey: undefined as never });
    await expect(client.networks()).rejects.toThrow("no API key was sent");
    expect(calls).toHaveLength(1);
  });

  test("what no header can carry is not sent", async () => {
    const { client, calls } = await connect();
    await expect(client.random({}, { idempotencyKey: "Bestellung-ü" })).rejects.toThrow(
      new InvalidOptionError(
        "the idempotency-key header has a character that can't be sent: use visible ASCII characters",
      ),
    );
    expect(calls).toHaveLength(0);
  });

  test.each([
    ["empty", "", "0 bytes long"],
    ["too long", "ä".repeat(1_025), "2050 bytes long"],
    ["not given", undefined, "no text"],
  ])("a secret whose value is %s is neither encrypted nor sent", async (_what, value, given) => {
    const { client, calls } = await connect();
    await expect(client.secrets.set("API_KEY", { value: value! })).rejects.toThrow(
      new InvalidOptionError(`value is ${given}; expected text of 1 to 2048 bytes in UTF-8`),
    );
    expect(calls).toHaveLength(0);
  });

  test("a refused source says where it failed", async () => {
    const { client } = await connect(
      () => () =>
        Promise.resolve(
          Response.json(
            {
              data: {
                success: false,
                code: "function_failed",
                err: "boom",
                console: "x",
                consoleTruncated: true,
                timeMs: 1.5,
                memoryBytes: 0,
                httpRequests: 2,
                line: 3,
                column: 7,
                dryRunUrl: "https://tyche.example.org/dapps/dapp_1/dry-runs/dry_1",
              },
            },
            { status: 422 },
          ),
        ),
    );
    const error = await client
      .runFunction({ network: "fuji", source: "…" })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FunctionFailedError);
    const dryRunUrl = "https://tyche.example.org/dapps/dapp_1/dry-runs/dry_1";
    const measured = { consoleTruncated: true, timeMs: 1.5, memoryBytes: 0, httpRequests: 2 };
    expect(error).toMatchObject({
      message: "boom",
      console: "x",
      ...measured,
      line: 3,
      column: 7,
      dryRunUrl,
    });
  });

  test("other parameters under a known key are a conflict", async () => {
    const { client } = await connect();
    await client.random({}, { idempotencyKey: "k" });
    const again = client.random({ numWords: 2 }, { idempotencyKey: "k" });
    await expect(again).rejects.toBeInstanceOf(IdempotencyConflictError);
  });

  test.each([
    ["something that is not there", () => Promise.reject(new TypeError("refused"))],
    ["a proxy's own page", () => Promise.resolve(new Response("<html>", { status: 502 }))],
    ["JSON of somebody else", () => Promise.resolve(Response.json({ hello: "world" }))],
  ])("%s is a ConnectionError once the retries are used up", async (_name, answer) => {
    let calls = 0;
    const { client } = await connect(
      () => () => {
        calls += 1;
        return answer();
      },
      { retries: 2 },
    );
    await expect(client.presets()).rejects.toBeInstanceOf(ConnectionError);
    expect(calls).toBe(3);
  });

  test("an address where nothing ever answered is given up sooner than a service that went away", async () => {
    let calls = 0;
    let isThere = false;
    const { client } = await connect((given) => (...asked) => {
      calls += 1;
      return isThere ? given(...asked) : Promise.reject(new TypeError("refused"));
    });
    await expect(client.presets()).rejects.toBeInstanceOf(ConnectionError);
    expect(calls).toBeLessThanOrEqual(5);
    isThere = true;
    await client.presets();
    isThere = false;
    calls = 0;
    await expect(client.presets()).rejects.toBeInstanceOf(ConnectionError);
    expect(calls).toBe(9);
  });

  test("a CSV file that was put off or broke off is asked for again, and is whole", async () => {
    const answers = [() => Response.json(BUSY, { status: 503 }), () => new Response(breakAtOnce())];
    const { client, calls } = await connect((given) => async (input, init) => {
      const answer = answers.shift();
      return answer === undefined ? given(input, init) : answer();
    });
    expect(await client.usageCsv()).toMatch(/^day,network,.*\r\n2026-11-01,sepolia,.*\r\n$/);
    expect(calls).toHaveLength(1);
  });

  test("a CSV file that breaks off each time is a ConnectionError, and a refused one the service's error", async () => {
    const broken = await connect(() => async () => new Response(breakAtOnce()), { retries: 1 });
    await expect(broken.client.usageCsv()).rejects.toBeInstanceOf(ConnectionError);
    const { client } = await connect();
    await expect(client.usageCsv({ from: "yesterday" })).rejects.toMatchObject({ code: "invalid_parameter" });
  });

  test("a service that asks for minutes gets no retry", async () => {
    const busy = () =>
      Response.json(
        { data: { success: false, code: "overloaded", err: "busy" } },
        { status: 503, headers: { "retry-after": "600" } },
      );
    const { client } = await connect(first(1, busy));
    const error = await client.random().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OverloadedError);
    expect((error as ApiError).retryAfterMs).toBe(600_000);
  });

  test("a signal ends a call with its reason, and a limit with a TimeoutError that names the request", async () => {
    const { client, service } = await connect();
    service.behave("pend");
    const controller = new AbortController();
    const submitted = await client.submit.random();
    const aborted = submitted.wait({ signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    const late = await submitted.wait({ timeoutMs: 30 }).catch((thrown: unknown) => thrown);
    expect(late).toBeInstanceOf(TimeoutError);
    expect(late).toMatchObject({ code: "timeout", id: submitted.id });
  });
});

describe("waiting", () => {
  test("a call that the service answers still_pending goes on over the stream", async () => {
    const { client, service, server } = await connect((given) => async (input, init) => {
      const headers = new Headers(init?.headers);
      if (headers.has("prefer")) headers.set("prefer", "wait=0");
      return given(input, { ...init, headers });
    });
    service.behave("pend");
    const answer = client.preset("coinflip");
    await expect.poll(() => endings(service)).toBe(1);
    const page = await client.requests();
    service.advance(page.items[0]!.id, "randomness");
    service.advance(page.items[0]!.id, "fulfilled");
    expect(await answer).toMatchObject({ success: true });
    expect(server.url).toMatch(/^http/);
  });

  test("a stream that breaks off goes on after its last state, and gives no state twice", async () => {
    const lastIds: (string | null)[] = [];
    const { client, service } = await connect((given) => async (input, init) => {
      const response = await given(input, init);
      if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
      lastIds.push(new Headers(init?.headers).get("last-event-id"));
      return lastIds.length > 3 ? response : new Response(breakAfterEvent(response.body!), response);
    });
    service.behave("pend");
    const { id, stream } = await client.submit.preset("coinflip");
    const states: unknown[] = [];
    for await (const event of stream()) {
      states.push(event.type === "state" ? event.state : event.type);
      const next = { received: "submitted", submitted: "randomness", randomness: "fulfilled" } as const;
      if (event.type === "state" && event.state in next)
        service.advance(id, next[event.state as keyof typeof next]);
    }
    expect(states).toEqual(["received", "submitted", "randomness", "fulfilled", "result"]);
    expect(lastIds).toEqual([null, "1", "2", "3"]);
  });

  test("a request whose dry run comes first is stored once, and followed from its first state", async () => {
    let lost = 0;
    const losing =
      (given: Fetch): Fetch =>
      async (input, init) => {
        const response = await given(input, init);
        if (lost++ > 0) return response;
        throw new TypeError("the connection broke");
      };
    const { client, service, calls } = await connect(losing, { retries: 8 });
    const { id, wait } = await client.submit.preset("coinflip", {}, { dryRunsFirst: true });
    expect(await wait()).toMatchObject({ success: true });
    expect(id).toMatch(/^req_/);
    expect(calls.slice(0, 2).map(({ headers }) => headers.get("prefer"))).toEqual([null, null]);
    expect(service.submitted.map(({ options }) => options.isAsync)).toEqual([undefined]);
  });

  test("a source that fails in the dry run that comes first is refused, with what it wrote", async () => {
    const { client, service } = await connect();
    const details = {
      success: false,
      requestId: "",
      result: "0x",
      parsedResult: "",
      err: "no",
      url: "",
      consoleTruncated: false,
      timeMs: 1.5,
      memoryBytes: 1_048_576,
      httpRequests: 2,
    } as const;
    service.behave({ throws: new SourceFailedError({ ...details, console: "so far", line: 2, column: 7 }) });
    const call = client.submit.runFunction({ network: "sepolia", source: "…" }, { dryRunsFirst: true });
    const error = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FunctionFailedError);
    expect(error).toMatchObject({ message: "no", console: "so far", line: 2, column: 7, id: undefined });
  });

  test("the failure of a request ends its stream", async () => {
    const { client, service } = await connect();
    service.behave({ fails: { code: "oracle_timeout", message: "nobody answered" } });
    const { wait } = await client.submit.random();
    await expect(wait()).rejects.toMatchObject({ code: "oracle_timeout", name: "OracleTimeoutError" });
  });
});

/** Returns a body that begins and then breaks. */
function breakAtOnce(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("day,")),
    pull: (controller) => controller.error(new TypeError("terminated")),
  });
}

/** Lets the first event through, then breaks. */
function breakAfterEvent(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let seen = "";
  return body.pipeThrough(
    new TransformStream({
      transform(chunk: Uint8Array, controller) {
        if (/data: .*\n\n/.test(seen)) return;
        seen += Buffer.from(chunk).toString();
        controller.enqueue(chunk);
        if (/data: .*\n\n/.test(seen)) controller.terminate();
      },
    }),
  );
}

describe("the module", () => {
  test("every code that a caller can meet has its class", () => {
    // The first two need a page of the application, the third a header that fetch doesn't send.
    const others = ["form_refused", "sign_in_refused", "expectation_failed"];
    expect([...Object.keys(ERROR_CLASSES), ...others].toSorted()).toEqual(
      Object.keys(ERROR_TABLE).toSorted(),
    );
    expect(new Set(Object.values(ERROR_CLASSES)).size).toBe(Object.keys(ERROR_CLASSES).length);
  });

  test("a bundle of it has no dependency and at most 10 kB gzipped, without what encrypts secrets", async () => {
    const entry = new URL("../../src/client/index.ts", import.meta.url).pathname;
    const { outputFiles, metafile } = await build({
      entryPoints: [entry],
      bundle: true,
      minify: true,
      splitting: true,
      outdir: "bundle",
      write: false,
      metafile: true,
      format: "esm",
      platform: "browser",
    });
    const main = outputFiles.find(({ path }) => path.endsWith("/index.js"))!;
    expect(gzipSync(main.contents).length).toBeLessThan(10_000);
    const { inputs } = Object.entries(metafile.outputs).find(([name]) => name.endsWith("/index.js"))![1];
    expect(Object.keys(inputs).filter((file) => !file.startsWith("src/client/"))).toEqual([]);
    const sizes = outputFiles
      .filter((file) => file !== main)
      .map(({ contents }) => gzipSync(contents).length);
    expect(Math.max(...sizes)).toBeLessThan(25_000);
  });

  test("the types of the built-in presets are those that are generated", async () => {
    const { describeOwnPresets } = await import("../../pack/presetTypes.ts");
    const committed = await readFile(new URL("../../src/client/presets.ts", import.meta.url), "utf8");
    expect(committed, "run npm run types").toBe(await describeOwnPresets());
  });
});
