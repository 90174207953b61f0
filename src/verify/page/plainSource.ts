import { parse, type AnyNode, type Program } from "acorn";
import { analyze } from "eslint-scope";

/** The parts of ECMAScript that give the same result on every machine and at any time. */
export const PLAIN_GLOBALS: readonly string[] = [
  ..."undefined NaN Infinity Object Array String Number Boolean BigInt Symbol Map Set WeakMap WeakSet Promise JSON Math RegExp".split(
    " ",
  ),
  ..."Error TypeError RangeError SyntaxError EvalError ReferenceError URIError AggregateError Iterator Reflect Proxy".split(
    " ",
  ),
  ..."ArrayBuffer DataView Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array".split(
    " ",
  ),
  ..."Float32Array Float64Array BigInt64Array BigUint64Array parseInt parseFloat isNaN isFinite".split(" "),
  ..."encodeURI encodeURIComponent decodeURI decodeURIComponent".split(" "),
];

/** What the page gives a source besides those. */
const GIVEN: ReadonlySet<string> = new Set(["args", "bytesArgs", "Functions", "console", ...PLAIN_GLOBALS]);
/** What a source may use of the objects that the page gives it. What a node logs decides nothing, so the page logs nothing. */
export const GIVEN_MEMBERS = {
  Functions: ["encodeString", "encodeUint256", "encodeInt256"],
  console: ["log", "info", "warn", "error", "debug"],
} as const;

/**
 * Says why a source can't be repeated with ECMAScript alone; `undefined` if it can. Judges by the text; names that the text hides
 * don't exist in the environment where it runs.
 */
export function findObstacle(source: string): string | undefined {
  let program: Program;
  try {
    program = parseSource(source);
  } catch {
    return "the source is not plain ECMAScript";
  }
  const unknown = namesOutside(program).find((name) => !GIVEN.has(name));
  if (unknown === "fetch") return usesHttp(unknown);
  if (unknown !== undefined)
    return `the source uses ${unknown}, which is not part of ECMAScript or differs from run to run`;
  for (const node of walk(program)) {
    const obstacle = findObstacleAt(node);
    if (obstacle !== undefined) return obstacle;
  }
  return undefined;
}

/** Says of HTTP what a run says that has used it. */
function usesHttp(name: string): string {
  return `the source uses HTTP (${name}), so its result can depend on more than its arguments`;
}

/** Parses a source in the form in which it is compiled: the body of one async arrow function, with nothing after it. */
function parseSource(source: string): Program {
  // The page runs it in a script, where these start comments; the nodes run it in a module, where they are operators.
  if (/<!--|-->/.test(source)) throw new SyntaxError("an HTML comment");
  const program = parse(`(async () => {\n${source}\n});`, {
    ecmaVersion: "latest",
    sourceType: "module",
    ranges: true,
  });
  const [statement, ...more] = program.body;
  const expression = statement?.type === "ExpressionStatement" ? statement.expression : undefined;
  if (more.length > 0 || expression?.type !== "ArrowFunctionExpression" || !expression.async)
    throw new SyntaxError("more than a body");
  return program;
}

/** Returns the names that a program uses outside the scope of any declaration. */
function namesOutside(program: Program): string[] {
  const { globalScope } = analyze(program as Parameters<typeof analyze>[0], {
    ecmaVersion: 2022,
    sourceType: "module",
  });
  return globalScope!.through.map(({ identifier }) => identifier.name);
}

function findObstacleAt(node: AnyNode): string | undefined {
  switch (node.type) {
    case "ImportExpression":
    case "MetaProperty":
      return "the source imports modules";
    case "ThisExpression":
      return "the source uses `this`";
    case "MemberExpression":
      return findObstacleInMember(node);
    default:
      return undefined;
  }
}

function findObstacleInMember(node: AnyNode & { readonly type: "MemberExpression" }): string | undefined {
  const { object, property, computed } = node;
  if (computed || property.type !== "Identifier") return undefined;
  const { name } = property;
  if (object.type === "Identifier" && (object.name === "Functions" || object.name === "console")) {
    const given: readonly string[] = GIVEN_MEMBERS[object.name];
    const text = `${object.name}.${name}`;
    if (!given.includes(name)) return name === "makeHttpRequest" ? usesHttp(text) : `the source uses ${text}`;
  }
  return name === "random" || name === "stack" || /^(?:to)?[Ll]ocale/.test(name)
    ? `the source uses ${name}, which may differ from machine to machine`
    : undefined;
}

function* walk(node: AnyNode): Generator<AnyNode> {
  yield node;
  for (const member of Object.values(node).flat() as unknown[])
    if (typeof member === "object" && member !== null && "type" in member) yield* walk(member as AnyNode);
}
