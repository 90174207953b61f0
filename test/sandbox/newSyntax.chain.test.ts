import { afterAll, expect, test } from "vitest";
import { createSandboxPool } from "../../sandbox/index.ts";

const pool = createSandboxPool({ concurrency: 1 });
afterAll(() => pool.close());

/** Syntax of the newest ECMAScript editions and of proposals, where V8 versions would differ first. */
const SYNTAX = String.raw`
{ using a = { [Symbol.dispose]() { console.log("disposed") } } }
{ await using a = { async [Symbol.asyncDispose]() { console.log("disposed") } } }
for (using a of [null]) {}
for (await using a of [null]) {}
for (using of of []) {}
for (using of [1]) {}
for (using in {}) {}
const using = 1; using
using [a] = []
using { a } = {}
using a
using a = 5
using using = null
us\u0069ng a = null
if (true) using a = null
switch (1) { case 1: using a = null }
class C { static { using a = null } }
class C { static { await using a = null } }
function f() { await using a = null }
import defer * as a from "node:path"
import source a from "node:path"
import a from "node:path"
() => import.defer("node:path")
() => import.source("node:path")
() => import.other
() => import.meta
() => import("a", { with: { type: "json" } }, 1)
() => import("a", )
() => import()
await import("data:application/json,5", { with: { type: "json" } })
await import("data:application/json,5", { assert: { type: "json" } })
await import("data:text/javascript,import defer * as a from 'node:path'")
await import("data:text/javascript,import source a from 'node:path'")
await import("data:text/javascript,import source from 'node:path'")
await import("data:text/javascript,import a from 'node:path' assert { type: 'json' }")
await import("data:text/javascript,using a = null")
await import("data:text/javascript,export using a = null")
@decorator class A {}
class A { @decorator a = 1 }
class A { accessor a = 1 }
class A { static prototype = 1 }
class A { static { await 1 } }
class A { a = arguments }
#{ a: 1 }
#[1]
1 |> (a => a)
const a = do { 1 }
const f = () => throw 1
a?.b = 1
f() = 1
f() &&= 1
for (f() of []) {}
for (async of []) {}
for (let of []) {}
label: function f() {}
if (1) function f() {}
<!-- a
var 𝒜 = 1
var \u{11DB0} = 1
/(?<a>x)|(?<a>y)/
/(?<a>x)(?<a>y)/
/(?i:a)b/
/(?i-i:a)/
/(?-:a)/
/(?x:a)/
/(?>a)/
/a++/
/[\p{L}--[a-z]]/v
/[a&&&b]/v
/\p{RGI_Emoji}/v
/[^\p{RGI_Emoji}]/v
/[\q{abc|d}]/v
/\p{Script=Sidetic}/u
/\p{ID_Compat_Math_Start}/u
/\p{IDS_Unary_Operator}/u
/\R/u
/(?<=a)*/
/a/uv
/a/r`
  .trim()
  .split("\n");

test("every version of Node takes and refuses the same syntax, with the same words", async () => {
  const lines: string[] = [];
  for (const syntax of SYNTAX) {
    const result = await pool.run({ source: `${syntax}\nreturn new Uint8Array()` });
    lines.push(
      `${syntax}  →  ${result.ok ? "taken" : `${result.error.kind}: ${result.error.detail ?? result.error.message}`}`,
    );
  }
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("newSyntax.txt");
});
