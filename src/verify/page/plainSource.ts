import { parse, type AnyNode } from "acorn";

/** Of ECMAScript, what has the same result on every machine and at any time. */
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

/** What the page gives a source beside those. */
const GIVEN: ReadonlySet<string> = new Set(["args", "bytesArgs", "Functions", ...PLAIN_GLOBALS]);
const ENCODERS: ReadonlySet<string> = new Set(["encodeString", "encodeUint256", "encodeInt256"]);

/**
 * Says why a source can't be repeated where there is nothing but ECMAScript; `undefined` where it can. It is judged by its text; what
 * the text hides finds nothing in the place where it runs.
 */
export function findObstacle(source: string): string | undefined {
  let body: AnyNode;
  try {
    body = parseBody(source);
  } catch {
    return "the source is not plain ECMAScript";
  }
  const nodes = [...walk(body)];
  const declared = new Set(nodes.flatMap(namesDeclaredBy));
  for (const node of nodes) {
    const obstacle = findObstacleAt(node, declared);
    if (obstacle !== undefined) return obstacle;
  }
  return undefined;
}

/** Parses a source as what it is compiled as: the body of one async arrow function, and nothing behind it. */
function parseBody(source: string): AnyNode {
  const program = parse(`(async () => {\n${source}\n});`, { ecmaVersion: "latest", sourceType: "module" });
  const [statement, ...more] = program.body;
  const expression = statement?.type === "ExpressionStatement" ? statement.expression : undefined;
  if (more.length > 0 || expression?.type !== "ArrowFunctionExpression" || !expression.async)
    throw new SyntaxError("more than a body");
  return expression.body;
}

function findObstacleAt(node: AnyNode, declared: ReadonlySet<string>): string | undefined {
  switch (node.type) {
    case "ImportExpression":
    case "MetaProperty":
      return "the source imports modules";
    case "ThisExpression":
      return "the source uses `this`";
    case "MemberExpression":
      return findObstacleInMember(node);
    case "Identifier":
      return declared.has(node.name) || GIVEN.has(node.name) || isName(node)
        ? undefined
        : `the source uses ${node.name}, which is not part of ECMAScript or differs from run to run`;
    default:
      return undefined;
  }
}

function findObstacleInMember(node: AnyNode & { readonly type: "MemberExpression" }): string | undefined {
  const { object, property, computed } = node;
  if (computed || property.type !== "Identifier") return undefined;
  const { name } = property;
  if (object.type === "Identifier" && object.name === "Functions" && !ENCODERS.has(name))
    return `the source uses Functions.${name}`;
  return name === "random" || name === "stack" || name.startsWith("toLocale")
    ? `the source uses ${name}, which may differ from machine to machine`
    : undefined;
}

/** Identifiers that {@link walk} came by as names of properties and labels. */
const names = new WeakSet<AnyNode>();
const isName = (node: AnyNode): boolean => names.has(node);

function* walk(node: AnyNode): Generator<AnyNode> {
  markNames(node);
  yield node;
  for (const member of Object.values(node).flat() as unknown[])
    if (typeof member === "object" && member !== null && "type" in member) yield* walk(member as AnyNode);
}

function markNames(node: AnyNode): void {
  if (node.type === "MemberExpression" && !node.computed) names.add(node.property);
  if (
    (node.type === "Property" || node.type === "MethodDefinition" || node.type === "PropertyDefinition") &&
    !node.computed
  )
    // `{ name }` is both: the value is another node of the same name only where it is spelt out.
    if (node.type !== "Property" || !node.shorthand) names.add(node.key);
  if (
    (node.type === "LabeledStatement" ||
      node.type === "BreakStatement" ||
      node.type === "ContinueStatement") &&
    node.label
  )
    names.add(node.label);
}

function namesDeclaredBy(node: AnyNode): string[] {
  switch (node.type) {
    case "VariableDeclarator":
      return namesIn(node.id);
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return [...(node.id ? [node.id.name] : []), ...node.params.flatMap(namesIn)];
    case "ClassDeclaration":
    case "ClassExpression":
      return node.id ? [node.id.name] : [];
    case "CatchClause":
      return node.param ? namesIn(node.param) : [];
    default:
      return [];
  }
}

function namesIn(pattern: AnyNode | null): string[] {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern.name];
    case "ArrayPattern":
      return pattern.elements.flatMap(namesIn);
    case "ObjectPattern":
      return pattern.properties.flatMap((one) => namesIn(one.type === "Property" ? one.value : one));
    case "RestElement":
      return namesIn(pattern.argument);
    case "AssignmentPattern":
      return namesIn(pattern.left);
    default:
      return [];
  }
}
