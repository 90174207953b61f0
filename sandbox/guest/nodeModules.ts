/**
 * Modules that `import()` resolves without asking the host. Maps a specifier, e.g. `node:buffer`, to the chunk whose
 * exports are the module's, `default` included, or to `chunk#member` if a member of the chunk's exports holds them.
 */
export const nodeModules: Readonly<Record<string, string>> = bothWays({
  assert: "node#assert",
  "assert/strict": "node#assertStrict",
  async_hooks: "node#asyncHooks",
  buffer: "buffer",
  child_process: "nodeSystem#childProcess",
  console: "node#console",
  crypto: "nodeCrypto",
  diagnostics_channel: "node#diagnosticsChannel",
  dns: "nodeSystem#dns",
  events: "node#events",
  fs: "nodeSystem#fs",
  "fs/promises": "nodeSystem#fsPromises",
  http: "nodeSystem#http",
  https: "nodeSystem#http",
  module: "nodeSystem#module",
  net: "nodeSystem#net",
  os: "nodeSystem#os",
  path: "node#path",
  "path/posix": "node#pathPosix",
  "path/win32": "node#pathWin32",
  perf_hooks: "node#perfHooks",
  process: "nodeSystem#process",
  punycode: "node#punycode",
  querystring: "node#querystring",
  readline: "node#readline",
  "readline/promises": "node#readlinePromises",
  stream: "nodeStream#stream",
  "stream/consumers": "nodeStream#consumers",
  "stream/promises": "nodeStream#promises",
  "stream/web": "node#streamWeb",
  string_decoder: "node#stringDecoder",
  sys: "node#util",
  timers: "node#timers",
  "timers/promises": "node#timersPromises",
  tls: "nodeSystem#net",
  tty: "nodeSystem#tty",
  url: "node#url",
  util: "node#util",
  "util/types": "node#utilTypes",
  vm: "node#vm",
  worker_threads: "nodeSystem#worker",
  zlib: "node#zlib",
});

/** Adds the second name of each module: Node's modules can be imported with and without `node:`. */
function bothWays(modules: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(modules).flatMap(([name, chunk]) => [
      [name, chunk],
      [`node:${name}`, chunk],
    ]),
  );
}
