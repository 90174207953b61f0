import { parse, type AnyNode, type Identifier, type Pattern } from "acorn";

/** Globals that tell a source about the machine. */
const GLOBALS: ReadonlySet<string> = new Set([
  "Deno",
  "process",
  "navigator",
  "Intl",
  "RangeError",
  "WeakRef",
  "FinalizationRegistry",
]);
/** Properties that do. */
const PROPERTY = /^(?:memory|stack|toLocale\w*)$/;

/**
 * Finds a name in a source whose value may differ from machine to machine; such use can't be observed in a run. Only names that the code uses count.
 * Comments and texts don't, nor do names that the source declares, nor the creation of a `RangeError`: only a caught one tells the depth of the
 * stack. Returns `undefined` if there is none, or if the source isn't JavaScript.
 */
export function findMachineName(source: string): string | undefined {
  const nodes = nodesOf(source);
  const read = nodes.flatMap(propertiesReadBy).find((name) => PROPERTY.test(name));
  if (read !== undefined) return read;
  const declared = new Set(nodes.flatMap(patternsOf).flatMap(namesIn));
  const others = new Set<AnyNode>(nodes.flatMap((node) => [...keyOf(node), ...createdBy(node)]));
  const used = nodes.find(
    (node) =>
      node.type === "Identifier" && GLOBALS.has(node.name) && !declared.has(node.name) && !others.has(node),
  );
  return used === undefined ? undefined : (used as Identifier).name;
}

/** Returns all nodes of a source; none if it isn't JavaScript. */
function nodesOf(source: string): AnyNode[] {
  try {
    // The form in which it is compiled.
    const program = parse(`(async () => {\n${source}\n});`, { ecmaVersion: "latest", sourceType: "module" });
    const found: AnyNode[] = [program];
    // No recursion, which deep nesting would end.
    for (let at = 0; at < found.length; at += 1)
      for (const member of Object.values(found[at]!).flat() as unknown[])
        if (typeof member === "object" && member !== null && "type" in member) found.push(member as AnyNode);
    return found;
  } catch {
    return [];
  }
}

/** Returns the names of the properties that a node reads, if the text has them. */
function propertiesReadBy(node: AnyNode): string[] {
  const keys =
    node.type === "MemberExpression"
      ? [{ key: node.property, computed: node.computed }]
      : node.type === "ObjectPattern"
        ? node.properties.filter((one) => one.type === "Property")
        : [];
  return keys.flatMap(({ key, computed }) => {
    if (key.type === "Literal") return [String(key.value)];
    return key.type === "Identifier" && !computed ? [key.name] : [];
  });
}

/** Returns the name of a property in a node, which stands for no variable. */
function keyOf(node: AnyNode): AnyNode[] {
  if (!("computed" in node) || node.computed) return [];
  return [node.type === "MemberExpression" ? node.property : node.key];
}

/** Returns the class of an error that a node creates. */
function createdBy(node: AnyNode): AnyNode[] {
  const isCreation = node.type === "NewExpression" || node.type === "CallExpression";
  return isCreation && node.callee.type === "Identifier" && node.callee.name === "RangeError"
    ? [node.callee]
    : [];
}

/** Returns what a node declares. */
function patternsOf(node: AnyNode): (Pattern | null | undefined)[] {
  switch (node.type) {
    case "VariableDeclarator":
    case "ClassDeclaration":
    case "ClassExpression":
      return [node.id];
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return [node.id, ...node.params];
    case "CatchClause":
      return [node.param];
    default:
      return [];
  }
}

function namesIn(pattern: Pattern | null | undefined): string[] {
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
