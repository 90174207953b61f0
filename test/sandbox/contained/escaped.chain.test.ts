import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startEscaped, type Escaped } from "./startEscaped.ts";

const isRoot = process.getuid?.() === 0;
let escaped: Escaped;
let server: Server;
let port: number;
let connections = 0;

beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as { port: number }).port;
  escaped = await startEscaped();
});
afterAll(() => {
  escaped.stop();
  server.close();
});

const DENIED = /^ERR_ACCESS_DENIED$|^Error: Access to this API has been restricted/;
/** Node 24's permission model doesn't cover the network: there the system call filter refuses sockets. */
const NO_SOCKET = process.allowedNodeEnvironmentFlags.has("--allow-net") ? DENIED : /^EPERM$/;
const NO_NAME = process.allowedNodeEnvironmentFlags.has("--allow-net")
  ? DENIED
  : /^EAI_AGAIN$|^ECONNREFUSED$/;
const attempts: readonly (readonly [what: string, code: string, error: RegExp])[] = [
  ["reads its own script", "return require('fs').readFileSync(process.argv[1], 'utf8').length", DENIED],
  ["reads the addon it loaded", "return require('fs').readFileSync(process.argv[2]).length", DENIED],
  ["reads /etc/passwd", "return require('fs').readFileSync('/etc/passwd', 'utf8')", DENIED],
  [
    "reads its environment from /proc",
    "return require('fs').readFileSync('/proc/self/environ', 'utf8')",
    DENIED,
  ],
  ["reads another process's memory", "return require('fs').openSync('/proc/1/mem', 'r')", DENIED],
  ["lists a folder", "return require('fs').readdirSync('/')", DENIED],
  ["lists a folder with promises", "return await require('fs/promises').readdir('/')", DENIED],
  ["lists its descriptors", "return require('fs').readdirSync('/proc/self/fd')", DENIED],
  ["asks whether a file exists", "require('fs').accessSync('/etc/passwd')", DENIED],
  ["stats a file", "return require('fs').statSync('/etc/passwd').size", DENIED],
  ["writes a file", "require('fs').writeFileSync('/tmp/tyche-escaped-file', 'x')", DENIED],
  [
    "writes with a stream",
    "await new Promise((y, n) => require('fs').createWriteStream('/tmp/tyche-e').on('error', n).on('open', y))",
    DENIED,
  ],
  ["makes a folder", "require('fs').mkdirSync('/tmp/tyche-escaped-dir')", DENIED],
  ["makes a link", "require('fs').symlinkSync('/etc/passwd', '/tmp/tyche-link')", DENIED],
  ["removes a file", "require('fs').rmSync(process.argv[1])", DENIED],
  ["changes a file's mode", "require('fs').chmodSync(process.argv[1], 0o777)", DENIED],
  ["opens a path through a buffer", "return require('fs').openSync(Buffer.from('/etc/passwd'))", DENIED],
  ["opens a path through a URL", "return require('fs').openSync(new URL('file:///etc/passwd'))", DENIED],
  [
    "escapes by a path with dots",
    "return require('fs').openSync(process.argv[1] + '/../../../etc/passwd')",
    DENIED,
  ],
  ["watches a file", "require('fs').watch('/etc/passwd')", DENIED],
  ["loads a module from a file", "return require('/etc/passwd')", /ERR_ACCESS_DENIED|MODULE_NOT_FOUND/],
  ["imports a module from a file", "return await import('file:///etc/passwd')", /./],
  [
    "opens a database file",
    "return new (require('node:sqlite').DatabaseSync)('/tmp/tyche.db')",
    /ERR_UNKNOWN_BUILTIN_MODULE|MODULE_NOT_FOUND/,
  ],
  ["writes a heap snapshot", "return require('v8').writeHeapSnapshot('/tmp/tyche.heap')", DENIED],
  ["writes a report", "return process.report.writeReport('/tmp/tyche.json')", DENIED],
  ["starts a program", "return require('child_process').spawnSync('/bin/true').status ?? 0", DENIED],
  ["starts a shell", "return require('child_process').execSync('id').toString()", DENIED],
  [
    "starts a program without waiting",
    "await new Promise((y, n) => require('child_process').spawn('/bin/true').on('error', n).on('exit', y))",
    DENIED,
  ],
  ["forks itself", "require('child_process').fork(process.argv[1])", DENIED],
  ["replaces itself by a program", "process.execve('/bin/true', ['true'])", DENIED],
  ["starts a worker", "new (require('worker_threads').Worker)('1', { eval: true })", DENIED],
  ["starts a cluster", "require('cluster').fork()", DENIED],
  ["loads native code again", "process.dlopen({ exports: {} }, process.argv[2])", DENIED],
  ["loads a system library", "process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6')", DENIED],
  [
    "reaches old bindings of processes",
    "return process.binding('process_wrap') && new (process.binding('process_wrap').Process)().spawn({ file: '/bin/true', args: ['true'] })",
    /./,
  ],
  ["reaches old bindings of files", "return process.binding('fs').open('/etc/passwd', 0, 0o666)", /./],
  ["starts WASI", "new (require('node:wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } })", DENIED],
  ["opens an inspector", "require('inspector').open(0, '127.0.0.1')", DENIED],
  ["sets its user", "process.setuid(0); return process.getuid()", /^EPERM$/],
  ["sets its groups", "process.setgroups([0])", /^EPERM$/],
  [
    "connects to a port",
    "await new Promise((y, n) => require('net').connect(PORT, '127.0.0.1').on('connect', y).on('error', n))",
    NO_SOCKET,
  ],
  [
    "connects over IPv6",
    "await new Promise((y, n) => require('net').connect(PORT, '::1').on('connect', y).on('error', n))",
    NO_SOCKET,
  ],
  [
    "connects to a socket file",
    "await new Promise((y, n) => require('net').connect('/run/x.sock').on('connect', y).on('error', n))",
    NO_SOCKET,
  ],
  [
    "connects to an abstract socket",
    "await new Promise((y, n) => require('net').connect('\\0x').on('connect', y).on('error', n))",
    NO_SOCKET,
  ],
  [
    "listens",
    "await new Promise((y, n) => require('net').createServer().on('error', n).listen(0, '127.0.0.1', y))",
    NO_SOCKET,
  ],
  [
    "requests over HTTP",
    "await new Promise((y, n) => require('http').get('http://127.0.0.1:PORT').on('response', y).on('error', n))",
    NO_SOCKET,
  ],
  ["fetches", "try { await fetch('http://127.0.0.1:PORT') } catch (e) { throw e.cause ?? e }", NO_SOCKET],
  [
    "sends a datagram",
    "await new Promise((y, n) => require('dgram').createSocket('udp4').on('error', n).send('x', PORT, '127.0.0.1', (e) => e ? n(e) : y()))",
    NO_SOCKET,
  ],
  ["resolves a name", "await require('dns').promises.lookup('localhost.example')", NO_NAME],
  ["asks a name server", "await new (require('dns').promises.Resolver)().resolve4('example.com')", NO_NAME],
];

describe("code that has escaped the isolate", () => {
  test.each(attempts)("%s", async (_what, code, error) => {
    const outcome = await escaped.attempt(code.replaceAll("PORT", String(port)));
    expect(outcome).not.toHaveProperty("value");
    expect(outcome.error ?? outcome.uncaught).toMatch(error);
  });

  test("permissions that were given up can't be had back", async () => {
    const scopes = [
      "fs",
      "fs.read",
      "fs.write",
      "addon",
      "child",
      "worker",
      "net",
      "inspector",
      "wasi",
      "ffi",
    ];
    const { value } = await escaped.attempt(
      `return ${JSON.stringify(scopes)}.filter((scope) => process.permission.has(scope))`,
    );
    expect(value).toEqual([]);
  });

  test("the environment holds the time zone and nothing else", async () => {
    expect((await escaped.attempt("return { ...process.env }")).value).toEqual({ TZ: "UTC" });
    expect((await escaped.attempt("return process.cwd()")).value).toBe("/");
  });

  test("nothing ever connected", () => {
    expect(connections).toBe(0);
  });
});

describe.runIf(process.platform === "linux")("the process as the kernel sees it", () => {
  const proc = (path: string): string => `/proc/${escaped.child.pid}/${path}`;
  const status = (name: string): string =>
    new RegExp(`^${name}:[ \\t]*(.*)$`, "m").exec(readFileSync(proc("status"), "utf8"))?.[1] ?? "";

  test("three pipes and Node's own event descriptors are open", () => {
    const open = readdirSync(proc("fd")).map((fd) => [Number(fd), readlinkSync(proc(`fd/${fd}`))] as const);
    const pipes = open.filter(([fd, target]) => fd <= 2 && /^(socket|pipe):/.test(target));
    expect(pipes).toHaveLength(3);
    const rest = open.filter(([fd]) => fd > 2).map(([, target]) => target);
    expect(
      rest.filter(
        (target) =>
          !/^(anon_inode:\[?(eventpoll|eventfd|io_uring)\]?|pipe:\[\d+\]|\/dev\/null)$/.test(target),
      ),
    ).toEqual([]);
  });

  test("no new privileges, no capabilities", () => {
    expect(status("NoNewPrivs")).toBe("1");
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"])
      expect(Number.parseInt(status(set), 16)).toBe(0);
  });

  test("no core, no written file, few descriptors, bounded data", () => {
    const limits = readFileSync(proc("limits"), "utf8");
    expect(limits).toMatch(/^Max core file size\s+0\s+0/m);
    expect(limits).toMatch(/^Max file size\s+0\s+0/m);
    expect(limits).toMatch(/^Max open files\s+64\s+64/m);
    expect(limits).toMatch(/^Max data size\s+1610612736\s+1610612736/m);
  });

  test.runIf(isRoot)("an unprivileged user and group of its own, no groups", () => {
    const ids = status("Uid").split(/\s+/).map(Number);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toBeGreaterThanOrEqual(61_184);
    expect(status("Gid").split(/\s+/).map(Number)).toEqual(ids);
    expect(status("Groups").trim()).toBe("");
  });

  test.runIf(isRoot)("a network namespace of its own without an interface that is up", () => {
    expect(readlinkSync(proc("ns/net"))).not.toBe(readlinkSync("/proc/self/ns/net"));
    const interfaces = readFileSync(proc("net/dev"), "utf8").trim().split("\n").slice(2);
    expect(interfaces.map((line) => line.trim().split(":")[0])).toEqual(["lo"]);
    expect(readFileSync(proc("net/fib_trie"), "utf8")).toBe("");
  });

  test("it can't signal the service", async () => {
    expect(await escaped.attempt(`process.kill(${process.pid}, 0)`)).toEqual({ error: "EPERM" });
  });

  test.runIf(isRoot)(
    "below a folder closed to others it changes users by itself, with the same end",
    async () => {
      const late = await startEscaped({ folderMode: 0o700 });
      try {
        const text = readFileSync(`/proc/${late.child.pid}/status`, "utf8");
        expect(text).toMatch(/^Uid:\s+6\d{4}\s+6\d{4}\s+6\d{4}\s+6\d{4}$/m);
        expect(text).toMatch(/^NoNewPrivs:\s+1$/m);
        expect(text).toMatch(/^CapEff:\s+0+$/m);
        expect(text).toMatch(/^CapPrm:\s+0+$/m);
        expect(text).toMatch(/^Groups:\s*$/m);
        expect(await late.attempt("process.setuid(0)")).toEqual({ error: "EPERM" });
      } finally {
        late.stop();
      }
    },
  );

  test("taking memory without end fails at its limit", async () => {
    const greedy = await startEscaped();
    try {
      const grab =
        "const all = []; try { for (;;) all.push(Buffer.alloc(2 ** 26, 1)) } catch (e) { const n = all.length; all.length = 0; return n }";
      const { value } = await greedy.attempt(grab);
      expect(Number(value) * 64).toBeLessThan(1_536);
    } finally {
      greedy.stop();
    }
  });
});
