import type { AnyNode, CallExpression, MemberExpression, NewExpression, Program } from "acorn";
import {
  ARITHMETIC,
  CLASSES,
  COMPARISONS,
  CONVERSIONS,
  METHODS,
  ONE_ARGUMENT,
  PROPERTIES,
  STATICS,
  UNARY,
  VALUES,
} from "./allowed.ts";
import { Impure } from "./impure.ts";
import type { IsPlain } from "./plainValues.ts";
import { childrenOf, type Bindings } from "./scopes.ts";

/** Syntax that may appear anywhere, unchecked. */
const FREE: ReadonlySet<string> = new Set([
  "Program",
  "BlockStatement",
  "EmptyStatement",
  "ExpressionStatement",
  "IfStatement",
  "ForStatement",
  "WhileStatement",
  "DoWhileStatement",
  "SwitchStatement",
  "SwitchCase",
  "ReturnStatement",
  "ThrowStatement",
  "VariableDeclaration",
  "VariableDeclarator",
  "ArrayExpression",
  "ArrayPattern",
  "RestElement",
  "SpreadElement",
  "TemplateLiteral",
  "TemplateElement",
  "AssignmentExpression",
  "UpdateExpression",
  "LogicalExpression",
  "ConditionalExpression",
  "SequenceExpression",
]);

/** What the rules need to know about a source. */
export interface Facts {
  readonly bindings: Bindings;
  readonly isPlain: IsPlain;
}

/** Checks a whole source against the rules. @throws {Impure} On the first breach. */
export function assertPure(node: Program | AnyNode, facts: Facts): void {
  for (const child of assertNode(node, facts)) assertPure(child, facts);
}

/** Checks one node against the rules and returns the nodes below it that remain to be checked. */
function assertNode(node: AnyNode, facts: Facts): readonly AnyNode[] {
  switch (node.type) {
    case "Literal":
      return "regex" in node ? refuse("a regular expression") : [];
    case "Identifier":
      return facts.bindings.has(node) || VALUES.has(node.name) ? [] : refuse(node.name);
    case "UnaryExpression":
      return UNARY.has(node.operator) ? [node.argument] : refuse(node.operator);
    case "BinaryExpression":
      if (node.operator !== "+" && !ARITHMETIC.has(node.operator) && !COMPARISONS.has(node.operator))
        return refuse(node.operator);
      return childrenOf(node);
    case "ForOfStatement":
      if (node.await || node.left.type !== "VariableDeclaration") return refuse("this for");
      return childrenOf(node);
    case "BreakStatement":
    case "ContinueStatement":
      return node.label ? refuse("a label") : [];
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return node.async || node.generator ? refuse("an async function or a generator") : childrenOf(node);
    case "MemberExpression":
      return assertMember(node, facts);
    case "CallExpression":
      return assertCall(node, facts);
    case "NewExpression":
      return assertNew(node, facts);
    default:
      if (!FREE.has(node.type)) return refuse(node.type);
      assertTarget(node);
      return childrenOf(node);
  }
}

/** Checks a property access: it may read a listed name, or read and write by a plain value, an index. */
function assertMember(node: MemberExpression, { isPlain }: Facts): readonly AnyNode[] {
  const { object, property } = node;
  if (node.optional) return refuse("optional chaining");
  if (node.computed) return isPlain(property) ? [object, property] : refuse("a computed name");
  return PROPERTIES.has(nameOf(property)) ? [object] : refuse(`.${nameOf(property)}`);
}

/** Refuses to write a property by its name. */
function assertTarget(node: AnyNode): void {
  const targets =
    node.type === "AssignmentExpression"
      ? [node.left]
      : node.type === "UpdateExpression" || node.type === "RestElement"
        ? [node.argument]
        : node.type === "ArrayPattern"
          ? node.elements
          : [];
  for (const target of targets)
    if (target?.type === "MemberExpression" && !target.computed) refuse("a property set by its name");
}

function assertCall(node: CallExpression, facts: Facts): readonly AnyNode[] {
  const { callee } = node;
  if (node.optional) return refuse("optional chaining");
  if (isGlobal(callee, facts) && CONVERSIONS.has(nameOf(callee))) return node.arguments;
  if (callee.type !== "MemberExpression" || callee.computed) return [callee, ...node.arguments];
  const { object, property } = callee;
  if (callee.optional) return refuse("optional chaining");
  const name = nameOf(property);
  const statics = isGlobal(object, facts) ? STATICS[nameOf(object)] : undefined;
  if (statics !== undefined) {
    if (!statics.has(name)) return refuse(`${nameOf(object)}.${name}`);
    const isShort = node.arguments.length === 1 && node.arguments[0]?.type !== "SpreadElement";
    return ONE_ARGUMENT.has(name) && !isShort ? refuse(`more arguments of ${name}`) : node.arguments;
  }
  if (!METHODS.has(name)) return refuse(`.${name}()`);
  const [first, ...more] = node.arguments;
  // A conversion never becomes a value: the method calls it and drops it.
  if (more.length === 0 && first !== undefined && isGlobal(first, facts) && CONVERSIONS.has(nameOf(first)))
    return name === "map" || name === "filter" || name === "some" || name === "every"
      ? [object]
      : refuse(name);
  return [object, ...node.arguments];
}

function assertNew(node: NewExpression, facts: Facts): readonly AnyNode[] {
  const { callee } = node;
  return isGlobal(callee, facts) && CLASSES.has(nameOf(callee)) ? node.arguments : refuse("new");
}

function isGlobal(node: AnyNode, { bindings }: Facts): boolean {
  return node.type === "Identifier" && !bindings.has(node);
}

function nameOf(node: AnyNode): string {
  return node.type === "Identifier" ? node.name : "";
}

function refuse(what: string): never {
  throw new Impure(what);
}
