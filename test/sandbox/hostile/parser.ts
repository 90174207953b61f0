import { fails, garbles, returns, type HostileCase } from "./case.ts";

const OR_DEEP = {
  error: /^syntax error, RAM exceeded, or other error$|Maximum call stack size exceeded|runtime exceeded/,
  kinds: ["syntax", "thrown", "timeout", "sandbox", "memory"] as const,
  limits: { timeoutMs: 4_000 },
};
const many = (text: string, times: number): string => text.repeat(times);
const MEGABYTE = 1_048_576;

/** For sources that the TypeScript compiler takes exponential time for: the test needs only the start of it. */
const OR_LATE = { ...OR_DEEP, limits: { timeoutMs: 150 } };

/** Makes V8's parser give up, so that the TypeScript compiler gets the source. */
const TYPED = "let z: number;\n";

/** Sources that attack parsers: V8's, and the TypeScript compiler's after V8's has failed, which takes at most 30,720 bytes. */
export const parser: readonly HostileCase[] = [
  garbles("round brackets", many("(", 30_000), OR_DEEP),
  garbles("square brackets", many("[", 30_000), OR_DEEP),
  garbles("curly brackets", many("{", 30_000), OR_DEEP),
  garbles("closing brackets", many("}", 30_000), OR_DEEP),
  garbles("nested templates", many("`${", 20_000), OR_DEEP),
  garbles("angle brackets", many("<", 30_000), OR_DEEP),
  garbles("type arguments", many("a<", 15_000), OR_DEEP),
  garbles("calls with type arguments", many("f<f<", 5_000) + many(">", 10_000), OR_DEEP),
  garbles("arrow functions with types", many("(a: b) => ", 3_000), OR_DEEP),
  garbles("arrow functions that may be types", many("a ? (b) : (c) => ", 1_700), OR_DEEP),
  garbles("brackets that may be arrow functions", many("((a: ", 6_000), OR_DEEP),
  garbles("nested conditional types", `type A = ${many("X extends Y ? Z : ", 1_700)}`, OR_DEEP),
  garbles("nested object types", `let a: ${many("{ a: ", 6_000)}`, OR_DEEP),
  garbles("nested function types", `let a: ${many("(a: ", 7_500)}`, OR_DEEP),
  garbles("nested tuple types", `let a: ${many("[", 20_000)}`, OR_DEEP),
  garbles("templates with type arguments", TYPED + many("f<T>`${", 150), OR_LATE),
  garbles("arrow functions that may be type arguments", TYPED + many("async <T>(a = ", 400), OR_LATE),
  garbles("arrow functions with type parameters", TYPED + many("<T>(a = ", 600), OR_LATE),
  garbles("results that may be types", TYPED + many("x ? (a) : (b): c => ", 250), OR_LATE),
  garbles("typeof words in type arguments", TYPED + many("f<typeof f<", 450), OR_DEEP),
  garbles("types that may be objects", TYPED + many("a<{b:", 1_000), OR_DEEP),
  garbles("types before a bracket", `${TYPED}${many("<T>", 1_600)})`, OR_DEEP),
  garbles("labels", `${TYPED}${many("a: ", 10_000)})`, OR_DEEP),
  garbles("typed JSX", TYPED + many("<a>", 1_600), OR_DEEP),
  garbles("divisions behind a type", TYPED + many("/a/ /b ", 4_000), OR_DEEP),
  garbles(
    "an enum whose texts double",
    `enum A { a0 = "xxxxxxxx", ${Array.from({ length: 40 }, (_, at) => `a${at + 1} = a${at} + a${at}`).join(", ")} }`,
    OR_DEEP,
  ),
  garbles("dots of a namespace", `namespace a${many(".a", 10_000)} { export const x = 1 } )`, OR_DEEP),
  garbles("casts", `x ${many("as x ", 6_000)} )`, OR_DEEP),
  garbles("assertions", `x${many("!", 30_000)} )`, OR_DEEP),
  garbles("decorators", many("@a ", 10_000), OR_DEEP),
  garbles("classes in classes", many("class A { x = ", 2_000), OR_DEEP),
  garbles("functions in functions", many("function f(){", 10_000), OR_DEEP),
  garbles("namespaces", many("namespace A {", 2_300), OR_DEEP),
  garbles("enums in enums", many("enum A { B = ", 2_300), OR_DEEP),
  garbles("conditions", many("if (1) ", 20_000), OR_DEEP),
  garbles("ternaries", many("a ? ", 20_000), OR_DEEP),
  garbles("arrows", many("a => ", 20_000), OR_DEEP),
  garbles("async words", many("async ", 20_000), OR_DEEP),
  garbles("await words", many("await ", 30_000), OR_DEEP),
  garbles("new words", many("new ", 30_000), OR_DEEP),
  garbles("typeof words and a bracket", `${many("typeof ", 30_000)})`, OR_DEEP),
  garbles("negations and a bracket", `${many("!", 100_000)})`, OR_DEEP),
  garbles("imports", many("import(", 20_000), OR_DEEP),
  garbles("import words", many("import ", 20_000), OR_DEEP),
  garbles("import.meta in a row", many("import.meta.", 20_000), OR_DEEP),
  garbles("JSX", many("<a>", 10_000), OR_DEEP),
  garbles("regular expressions or divisions", many("/a/ /b ", 20_000), OR_DEEP),
  garbles("an open comment", `/*${many("*", 100_000)}`),
  garbles("an open text", `'${many("a", 100_000)}`),
  garbles("an open template", `\`${many("a", 100_000)}`),
  garbles("an open regular expression", `/${many("[", 100_000)}`),
  garbles("a regular expression with many groups", `/${many("(", 50_000)}/`, OR_DEEP),
  garbles("backslashes", many("\\", 50_000)),
  garbles("escapes of code points", `"${many("\\u{", 20_000)}`),
  garbles("hash signs", many("#", 50_000)),
  garbles("zero bytes", many("\0", 1_000)),
  garbles("lone surrogates", many("\ud800", 1_000)),
  garbles("two megabytes of letters and a bracket", `${many("a", 2 * MEGABYTE)} )`, OR_DEEP),
  garbles("a megabyte of digits and a bracket", `${many("1", MEGABYTE)} )`, OR_DEEP),
  garbles(
    "a megabyte of brackets that match",
    `${many("(", MEGABYTE / 2)}1${many(")", MEGABYTE / 2)}`,
    OR_DEEP,
  ),
  garbles("a megabyte of open brackets", many("(", MEGABYTE), OR_DEEP),
  returns(
    "a megabyte of comment",
    `/*${many("x", MEGABYTE)}*/ return Functions.encodeString('done')`,
    "done",
  ),
  returns("a megabyte of lines", `${many("\n", MEGABYTE)}return Functions.encodeString('done')`, "done"),
  returns("a megabyte of semicolons", `${many(";", MEGABYTE)}return Functions.encodeString('done')`, "done", {
    limits: { timeoutMs: 4_000 },
  }),
  returns(
    "a megabyte of text",
    `const s = "${many("x", MEGABYTE)}"; return Functions.encodeString(String(s.length))`,
    String(MEGABYTE),
  ),
  returns(
    "a megabyte of functions",
    `${many("function f(){return 1};", 47_000)}return Functions.encodeString('done')`,
    "done",
    { limits: { timeoutMs: 4_000 } },
  ),
  garbles(
    "a megabyte of typed functions",
    `let x: number;${many("function f(a:number){return a};", 35_000)}return Functions.encodeString('done')`,
  ),
  returns(
    "a hundred thousand variables",
    `${Array.from({ length: 100_000 }, (_, at) => `let v${at}=1;`).join("")}return Functions.encodeString('done')`,
    "done",
    { limits: { timeoutMs: 5_000 } },
  ),
  fails(
    "a sum of a hundred thousand terms",
    `return ${many("1+", 100_000)}1`,
    /returned value not|Maximum call stack size exceeded|RAM exceeded/,
    { kinds: ["result", "thrown", "syntax"], limits: { timeoutMs: 4_000 } },
  ),
  returns(
    "line separators as line ends",
    "let a = 1\u2028let b = 2\u2029return Functions.encodeString(String(a + b))",
    "3",
  ),
  returns("a byte order mark", "\ufeffreturn Functions.encodeString('done')", "done"),
  returns("replacement patterns", "return Functions.encodeString('$& $` $\\' $1 $$')", "$& $` $' $1 $$"),
  returns("a comment at the end", "return Functions.encodeString('done') // comment", "done"),
  returns("a tag at the end", "return Functions.encodeString('done') // </script>", "done"),
];
