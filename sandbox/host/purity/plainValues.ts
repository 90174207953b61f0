import type {
  AnyNode,
  CallExpression,
  Expression,
  Identifier,
  Pattern,
  Program,
  SpreadElement,
  Super,
} from "acorn";
import {
  ARITHMETIC,
  COMPARISONS,
  INDEX_PARAMETERS,
  NUMBER_METHODS,
  NUMBER_STATICS,
  TO_NUMBER,
} from "./allowed.ts";
import { childrenOf, type Bindings, type Variable } from "./scopes.ts";

/**
 * Whether an expression is plain: a number, a bigint, a boolean, null or undefined. As a property name, no such value leads to a built-in property.
 */
export type IsPlain = (expression: AnyNode) => boolean;

type Value = Expression | SpreadElement | Super | null;

/**
 * Finds the variables of a source that only ever hold plain values: all count as plain at first, and those assigned anything else are struck out
 * until none is left to strike.
 */
export function findPlainValues(program: Program, bindings: Bindings): IsPlain {
  const assignments = [...assignmentsIn(program, { bindings, indices: new Set(indicesIn(program)) })];
  const isPlain: IsPlain = (node) => isPlainValue(node, bindings, isPlain);
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (const { variable, isPlainValue: staysPlain } of assignments) {
      if (!variable.isPlain || staysPlain(isPlain)) continue;
      variable.isPlain = false;
      isChanged = true;
    }
  }
  return isPlain;
}

/** One way in which a variable gets a value. */
interface Assignment {
  readonly variable: Variable;
  readonly isPlainValue: (isPlain: IsPlain) => boolean;
}

/** What is known about a source's variables before their values are. */
interface Known {
  readonly bindings: Bindings;
  /** Parameters that always receive an index. */
  readonly indices: ReadonlySet<AnyNode>;
}

/** Yields the parameters to which a built-in method passes an index, of functions written directly in the method's call. */
function* indicesIn(node: AnyNode): Generator<AnyNode> {
  for (const child of childrenOf(node)) yield* indicesIn(child);
  if (node.type !== "CallExpression") return;
  const at = INDEX_PARAMETERS[methodOf(node) ?? ""];
  const [callback] = node.arguments;
  const parameter = at !== undefined && callback !== undefined && "params" in callback && callback.params[at];
  if (parameter && parameter.type === "Identifier") yield parameter;
}

/** Returns the name of the method that is called; no such name leads to a function of the source's own. */
function methodOf({ callee }: CallExpression): string | undefined {
  if (callee.type !== "MemberExpression" || callee.computed || callee.property.type !== "Identifier")
    return undefined;
  return callee.property.name;
}

function* assignmentsIn(node: AnyNode, known: Known): Generator<Assignment> {
  const { bindings, indices } = known;
  for (const child of childrenOf(node)) yield* assignmentsIn(child, known);
  switch (node.type) {
    case "VariableDeclarator":
      // Without a value it is undefined, except for the variable of `for (const x of …)`, which its statement assigns.
      if (node.init) yield* assign(node.id, node.init, bindings);
      return;
    case "AssignmentExpression":
      if (node.operator === "=" || ["&&=", "||=", "??=", "+="].includes(node.operator))
        yield* assign(node.left, node.right, bindings);
      return;
    case "ForOfStatement":
      yield* assignAnything(
        node.left.type === "VariableDeclaration" ? node.left.declarations[0]!.id : node.left,
        bindings,
      );
      return;
    case "FunctionDeclaration":
      if (node.id) yield* assignAnything(node.id, bindings);
  }
  if (!("params" in node)) return;
  for (const parameter of node.params)
    if (!indices.has(parameter)) yield* assignAnything(parameter, bindings);
}

function* assign(pattern: Pattern, value: Expression, bindings: Bindings): Generator<Assignment> {
  if (pattern.type === "Identifier") yield* assignTo(pattern, (isPlain) => isPlain(value), bindings);
  else if (pattern.type === "ArrayPattern") {
    const { elements } = pattern;
    // The elements of a literal list go to the pattern's places one by one.
    const list =
      value.type === "ArrayExpression" && !value.elements.some(isUnknown) ? value.elements : undefined;
    for (const [at, element] of elements.entries()) {
      if (element === null) continue;
      const part = list?.[at] as Expression | undefined;
      if (element.type === "Identifier")
        yield* assignTo(
          element,
          (isPlain) =>
            list === undefined
              ? hasPlainElements(value, bindings, isPlain)
              : part === undefined || isPlain(part),
          bindings,
        );
      else yield* assignAnything(element, bindings);
    }
  } else yield* assignAnything(pattern, bindings);
}

function* assignAnything(pattern: Pattern | AnyNode, bindings: Bindings): Generator<Assignment> {
  if (pattern.type === "Identifier") yield* assignTo(pattern, () => false, bindings);
  else if (pattern.type !== "MemberExpression")
    for (const child of childrenOf(pattern)) yield* assignAnything(child, bindings);
}

function* assignTo(
  target: Identifier,
  value: Assignment["isPlainValue"],
  bindings: Bindings,
): Generator<Assignment> {
  const variable = bindings.get(target);
  if (variable !== undefined) yield { variable, isPlainValue: value };
}

function isUnknown(element: Value): boolean {
  return element === null || element.type === "SpreadElement";
}

function isPlainValue(node: AnyNode, bindings: Bindings, isPlain: IsPlain): boolean {
  switch (node.type) {
    case "Literal":
      return typeof node.value !== "string" && !("regex" in node);
    case "Identifier":
      return bindings.get(node)?.isPlain ?? ["undefined", "NaN", "Infinity"].includes(node.name);
    case "UpdateExpression":
      return true;
    case "UnaryExpression":
      return node.operator !== "typeof";
    case "BinaryExpression":
      return (
        isArithmetic(node.operator) || (node.operator === "+" && isPlain(node.left) && isPlain(node.right))
      );
    case "AssignmentExpression":
      if (node.operator === "=") return isPlain(node.right);
      if (isArithmetic(node.operator.slice(0, -1))) return true;
      return isPlain(node.left) && isPlain(node.right);
    case "LogicalExpression":
      return isPlain(node.left) && isPlain(node.right);
    case "ConditionalExpression":
      return isPlain(node.consequent) && isPlain(node.alternate);
    case "SequenceExpression":
      return isPlain(node.expressions.at(-1) as Expression);
    case "CallExpression":
      return givesNumber(node, bindings);
    default:
      return false;
  }
}

function isArithmetic(operator: string): boolean {
  return ARITHMETIC.has(operator) || COMPARISONS.has(operator);
}

function givesNumber(node: CallExpression, bindings: Bindings): boolean {
  const { callee } = node;
  if (callee.type === "Identifier") return isNumberConversion(callee, bindings);
  const method = methodOf(node);
  if (callee.type !== "MemberExpression" || method === undefined) return false;
  const { object } = callee;
  if (object.type === "Identifier" && NUMBER_STATICS.has(object.name) && !bindings.has(object)) return true;
  return NUMBER_METHODS.has(method);
}

function isNumberConversion(node: Identifier, bindings: Bindings): boolean {
  return TO_NUMBER.has(node.name) && !bindings.has(node);
}

/** Whether an expression is a list of plain values that nothing else refers to: its contents can't change before it is destructured. */
function hasPlainElements(node: Expression, bindings: Bindings, isPlain: IsPlain): boolean {
  if (node.type === "ArrayExpression")
    return node.elements.every((one) => !isUnknown(one) && isPlain(one as Expression));
  if (node.type !== "CallExpression" || node.arguments.length !== 1 || methodOf(node) !== "map") return false;
  const [convert] = node.arguments;
  if (convert?.type === "ArrowFunctionExpression") return convert.expression && isPlain(convert.body);
  return convert?.type === "Identifier" && isNumberConversion(convert, bindings);
}
