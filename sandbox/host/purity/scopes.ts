import type { AnyNode, Function as FunctionNode, Identifier, Pattern, Program, Statement } from "acorn";
import { Impure } from "./impure.ts";

/** A variable, parameter or function that a source declares. */
export interface Variable {
  /** Whether its value is known to be a number, a bigint, a boolean, null or undefined whenever it is read. */
  isPlain: boolean;
}

/** Maps each identifier of a source to its declaration; an absent one is not declared in the source. */
export type Bindings = ReadonlyMap<Identifier, Variable>;

type Scope = ReadonlyMap<string, Variable>[];

/**
 * Resolves every identifier of a source that stands for a value, by the rules of strict mode. @throws {Impure} For syntax with other rules.
 */
export function resolve(program: Program): Bindings {
  const bindings = new Map<Identifier, Variable>();
  visit(program, [], bindings);
  return bindings;
}

/** Returns the direct children of a node. */
export function childrenOf(node: AnyNode): AnyNode[] {
  return Object.values(node)
    .flat()
    .filter((member): member is AnyNode => typeof member === "object" && member !== null && "type" in member);
}

/** Whether a node is the name of a property and stands for no value. */
function isPropertyName(node: AnyNode, parent: AnyNode): boolean {
  return parent.type === "MemberExpression" && !parent.computed && parent.property === node;
}

/**
 * Whether a child of a node that opens a scope is not in that scope: a function's own name belongs to the block that declares it, and what a `switch`
 * is about doesn't see what its cases declare.
 */
function isOutside(child: AnyNode, node: AnyNode): boolean {
  return (
    (node.type === "FunctionDeclaration" && child === node.id) ||
    (node.type === "SwitchStatement" && child === node.discriminant)
  );
}

function visit(node: AnyNode, scope: Scope, bindings: Map<Identifier, Variable>): void {
  if (node.type === "Identifier") {
    const variable = scope.findLast((names) => names.has(node.name))?.get(node.name);
    if (variable !== undefined) bindings.set(node, variable);
    return;
  }
  const inner = enter(node, scope);
  for (const child of childrenOf(node)) {
    if (!isPropertyName(child, node)) visit(child, isOutside(child, node) ? scope : inner, bindings);
  }
}

/** Returns the scope inside a node. */
function enter(node: AnyNode, scope: Scope): Scope {
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return [...scope, declareFunction(node)];
    case "Program":
    case "BlockStatement":
      return [...scope, declare(node.body.flatMap(declaredBy))];
    case "SwitchStatement":
      return [...scope, declare(node.cases.flatMap((one) => one.consequent).flatMap(declaredBy))];
    case "ForStatement":
      return node.init?.type === "VariableDeclaration" ? [...scope, declare(declaredBy(node.init))] : scope;
    case "ForOfStatement":
      return node.left.type === "VariableDeclaration" ? [...scope, declare(declaredBy(node.left))] : scope;
    default:
      return scope;
  }
}

/** Declares a function's parameters; what its body declares belongs to the body. */
function declareFunction(node: FunctionNode): ReadonlyMap<string, Variable> {
  if (node.type === "FunctionExpression" && node.id) throw new Impure("a named function expression");
  return declare(node.params.flatMap(namesIn));
}

function declare(names: readonly string[]): ReadonlyMap<string, Variable> {
  return new Map(names.map((name) => [name, { isPlain: true }]));
}

function declaredBy(statement: Statement | AnyNode): string[] {
  switch (statement.type) {
    case "VariableDeclaration":
      // A `var` is not scoped to its block, and `using` calls what it finds.
      if (statement.kind !== "const" && statement.kind !== "let") throw new Impure(statement.kind);
      return statement.declarations.flatMap(({ id }) => namesIn(id));
    case "FunctionDeclaration":
      return namesIn(statement.id);
    default:
      return [];
  }
}

function namesIn(pattern: Pattern | null): string[] {
  if (pattern === null) return [];
  switch (pattern.type) {
    case "MemberExpression":
      return [];
    case "Identifier":
      return [pattern.name];
    case "ArrayPattern":
      return pattern.elements.flatMap(namesIn);
    case "RestElement":
      return namesIn(pattern.argument);
    default:
      throw new Impure(pattern.type);
  }
}
