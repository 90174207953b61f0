import { fails, returns, type HostileCase } from "./case.ts";

const say = (expression: string): string => `return Functions.encodeString(String(${expression}))`;

/** Sources that reach for things outside the isolate. */
export const reach: readonly HostileCase[] = [
  returns(
    "the function constructor's global",
    say("Functions.encodeUint256.constructor('return this')() === globalThis"),
    "true",
  ),
  returns(
    "the console's function constructor",
    say("console.log.constructor('return typeof require')()"),
    "undefined",
  ),
  returns(
    "a timer's function constructor",
    say("setTimeout.constructor('return typeof module + typeof require + typeof __filename')()"),
    "undefinedundefinedundefined",
  ),
  returns(
    "the constructor of the constructor of everything",
    say(
      "[this, args, secrets, Functions, console, globalThis].map((x) => x?.constructor?.constructor?.('return typeof __dirname')()).join()",
    ),
    ",undefined,undefined,undefined,undefined,undefined",
  ),
  returns(
    "what a context of node:vm has",
    say(
      "(await import('node:vm')).runInNewContext(\"[typeof require, typeof process, typeof Deno, typeof Function('return this')().fetch, typeof [].constructor.constructor('return this')().Functions, typeof (async () => {}).constructor('return import(1)')]\").join()",
    ),
    "undefined,undefined,undefined,undefined,undefined,function",
  ),
  returns(
    "contexts of node:vm whose opening the stack's end or a timeout cut short",
    "const vm = await import('node:vm'); const made = globalThis.made = []; globalThis.open = () => { for (;;) made.push(vm.createContext({})) }; const f = () => { try { f() } catch {} if (made.length < 2) try { made.push(vm.createContext({})) } catch {} }; f(); for (let i = 0; i < 9; i++) try { vm.runInThisContext('open()', { timeout: 1 }) } catch {} return Functions.encodeString(String(made.every((c) => vm.runInContext('typeof queueMicrotask', c) === 'function')))",
    "true",
  ),
  fails(
    "an import in a context of node:vm",
    "return (await import('node:vm')).runInNewContext(\"import('node:fs')\")",
    /./,
  ),
  returns("`this`", say("this === undefined"), "true"),
  fails("`arguments`", "return arguments", /arguments is not defined/),
  returns(
    "the caller of a function",
    say("(() => { try { return (function f() { return f.caller })() } catch (e) { return e.name } })()"),
    "TypeError",
  ),
  returns(
    "call sites",
    "let seen = []; Error.prepareStackTrace = (_e, sites) => { for (const s of sites) seen.push(typeof s.getThis(), typeof s.getFunction()); return '' }; new Error().stack; setTimeout(() => {}, 0); return Functions.encodeString(String(seen.every((t) => t === 'undefined')))",
    "true",
  ),
  returns(
    "call sites of our own code",
    "let seen = []; Error.prepareStackTrace = (_e, sites) => { for (const s of sites) seen.push(s.getThis(), s.getFunction()); return '' }; try { Functions.encodeUint256(-1) } catch (e) { e.stack } return Functions.encodeString(String(seen.every((t) => t === undefined)))",
    "true",
  ),
  returns("paths in a stack", say("/[/\\\\]|node:|file:/.test(new Error().stack)"), "false"),
  returns(
    "paths in the stack of our own error",
    "try { Functions.encodeUint256(-1) } catch (e) { return Functions.encodeString(String(/[/\\\\]|node:|file:/.test(e.stack))) }",
    "false",
  ),
  returns(
    "paths in an import's error",
    "try { await import('npm:x') } catch (e) { return Functions.encodeString(String(/[/\\\\]work|node_modules|\\.cjs/.test(e.stack))) }",
    "false",
  ),
  returns(
    "the names that stand for import",
    say("typeof $impt$ + typeof $tych$ + typeof $____0 + typeof $____1"),
    "undefinedundefinedundefinedundefined",
  ),
  returns(
    "names of isolated-vm on the global object",
    say(
      "Reflect.ownKeys(globalThis).filter((k) => /ivm|isolate|host|dispatch|boot|callback/i.test(String(k))).join()",
    ),
    "",
  ),
  returns(
    "a reference through Array.prototype's setters",
    "let caught = []; for (let i = 0; i < 5; i++) Object.defineProperty(Array.prototype, i, { set(v) { caught.push = v; caught = { v } }, configurable: true }); setTimeout(() => {}, 1); clearTimeout(1); return Functions.encodeString(String(caught.v?.constructor?.constructor?.('return typeof require')()))",
    "undefined",
  ),
  returns(
    "a reference through Object.prototype's setters",
    "let caught; for (const k of ['1', '2', 'resolve', 'reject', 'callback', 'host', 'a', 'chunk']) Object.defineProperty(Object.prototype, k, { set(v) { caught = v }, configurable: true }); import('npm:x').catch(() => {}); setTimeout(() => {}, 1); return Functions.encodeString(typeof caught)",
    "undefined",
  ),
  returns(
    "what a thenable is called with",
    "let text; await { then(r) { text = Function.prototype.toString.call(r); r() } }; return Functions.encodeString(text.slice(0, 20))",
    "function () { [nativ",
  ),
  returns(
    "what a timer is called with",
    "const got = await new Promise((r) => setTimeout(function (...a) { r([this.constructor.constructor('return typeof require')(), a.length]) }, 1)); return Functions.encodeString(String(got))",
    "undefined,0",
  ),
  returns(
    "`this` of a strict getter on Functions",
    say("Object.getOwnPropertyNames(Functions).sort().join()"),
    "encodeInt256,encodeString,encodeUint256,makeHttpRequest",
  ),
  fails("a file system module", "return (await import('node:fs')).readFileSync('/etc/passwd')", /./),
  fails(
    "a process module",
    "const { execSync } = await import('node:child_process'); return execSync('id')",
    /./,
  ),
  fails(
    "a worker module",
    "const { Worker } = await import('node:worker_threads'); new Worker('1', { eval: true })",
    /./,
  ),
  fails(
    "a virtual machine module",
    "const vm = await import('node:vm'); return vm.runInThisContext('process')",
    /./,
  ),
  fails("a native binding", "return process.binding('fs')", /./),
  fails("a file by import", "return await import('file:///etc/passwd')", /./),
  fails("a file by a bare name", "return await import('/etc/passwd')", /./),
  fails(
    "data by import",
    "return (await import('data:text/javascript,export default new Uint8Array(1)')).default.x.y",
    /./,
  ),
  fails("a blob by import", "return await import('blob:null/1')", /./),
  fails("require", "return require('fs')", /require is not defined/),
  fails("process.mainModule", "return process.mainModule.require('fs')", /./),
  fails("a file with Deno", "return Deno.readFileSync('/etc/passwd')", /./),
  fails("the environment with Deno", "return Functions.encodeString(Deno.env.get('PATH'))", /./),
  fails("a program with Deno", "return new Deno.Command('id').outputSync().stdout", /./),
  fails("ending the process", "process.exit(0); for (;;) {}", /./),
  fails("ending Deno", "Deno.exit(0); for (;;) {}", /./),
  fails("killing the process", "process.kill(process.ppid, 9); throw new Error('alive')", /./),
  fails("native syntax", "%DebugPrint(1)", /RAM exceeded/),
  fails("an HTML comment", "<!-- x\nreturn new Uint8Array(1)", /RAM exceeded/),
  fails("a with statement", "with ({}) {}", /RAM exceeded/),
  fails("a worker", "new Worker('data:text/javascript,1'); throw new Error('none')", /./),
  fails("shared realms", "return new ShadowRealm().evaluate('1').x.y", /./),
  returns("a debugger statement", "debugger; return Functions.encodeString('done')", "done"),
  returns(
    "import.meta",
    say("import.meta.url === undefined || !/work|tmp\\/tyche|node_modules/.test(import.meta.url)"),
    "true",
  ),
  returns("the time zone", say("Intl.DateTimeFormat().resolvedOptions().timeZone"), "UTC"),
  returns(
    "code from strings in its own realm only",
    say("(0, eval)('typeof args') + new Function('return typeof secrets')()"),
    "undefinedundefined",
  ),
  returns(
    "async functions from strings",
    say("await (async () => {}).constructor('return typeof require')()"),
    "undefined",
  ),
  returns("weak references to collected realms", say("new WeakRef({}).deref() !== 5"), "true"),
];
