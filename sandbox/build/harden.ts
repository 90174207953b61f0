import { type Node as AcornNode, parse } from "acorn";

type Node = AcornNode & Record<string, unknown>;

/** Built-ins whose members the guest reads by name; the bundler numbers a second name of the same built-in. */
const BUILT_IN =
  /^(?:AggregateError|Array|ArrayBuffer|Atomics|BigInt|BigInt64Array|BigUint64Array|Boolean|DataView|Date|Error|EvalError|FinalizationRegistry|Float32Array|Float64Array|Function|Int8Array|Int16Array|Int32Array|Iterator|JSON|Map|Math|Number|Object|Promise|Proxy|RangeError|ReferenceError|Reflect|RegExp|Set|SharedArrayBuffer|String|Symbol|SyntaxError|TypeError|URIError|Uint8Array|Uint8ClampedArray|Uint16Array|Uint32Array|WeakMap|WeakRef|WeakSet)(?=\d?$|$)/;
const FUNCTIONS = "decodeURIComponent encodeURIComponent isFinite isNaN parseFloat parseInt";
/** Names of the methods and of the accessors that built-in prototypes have. */
const METHODS = new Set(
  [
    Array,
    ArrayBuffer,
    BigInt,
    DataView,
    Date,
    Function,
    Iterator,
    Map,
    Number,
    Object,
    Promise,
    RegExp,
    Set,
    String,
    Symbol,
    Object.getPrototypeOf(Uint8Array) as { prototype: object },
    WeakMap,
    WeakRef,
    WeakSet,
  ].flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype)),
).difference(new Set(["constructor", "length", "name", "arguments", "caller", "__proto__"]));
METHODS.add("next");
/** Members of the platform's own classes that the guest uses itself. */
const PLATFORM_METHODS =
  "append cancel enqueue getAll getReader getWriter pipeThrough pipeTo read releaseLock respond tee throwIfAborted";
for (const name of PLATFORM_METHODS.split(" ")) METHODS.add(name);
const ACCESSORS = new Set(
  "size byteLength byteOffset buffer description detached resizable maxByteLength flags source aborted href readable reason signal type writable".split(
    " ",
  ),
);
const LISTED = new Set(["Map", "Set", "WeakMap", "WeakSet"]);

/**
 * Rewrites one of the guest's scripts so that it uses the built-ins as they were before the source ran, whatever the source has done to
 * them since. Its value becomes a function of the captured built-ins (`sandbox/guest/captured.ts`) that returns the script's value.
 * Only sources that may replace built-ins get such scripts (`replacesBuiltIns`): looking up a method takes longer in them.
 */
export function hardenScript(code: string): string {
  const program = parse(code, { ecmaVersion: "latest" }) as unknown as Node;
  const used = new Set<string>();

  const print = (node: Node, isAwaited = false): string => {
    const special = printSpecial(node, isAwaited);
    return special ?? printParts(node, isAwaited);
  };
  /** Prints a node as it is, around its parts. */
  function printParts(node: Node, isAwaited: boolean): string {
    const inAsync = isFunction(node) ? node["async"] === true && node["generator"] !== true : isAwaited;
    let text = "";
    let at = node.start;
    for (const part of partsOf(node)) {
      const before = code.slice(at, part.start);
      const printed = print(part, inAsync);
      // Minified code has no blank between a keyword and what needs none.
      text += /[\w$]$/.test(before) && /^[\w$]/.test(printed) ? `${before} ${printed}` : before + printed;
      at = part.end;
    }
    return text + code.slice(at, node.end);
  }
  /**
   * Prints a chain as a function of what stands before its last `?.`, so that its methods are looked up as all others; undefined if that
   * isn't possible.
   */
  function printChain(node: Node, isAwaited: boolean): string | undefined {
    const links = linksOf(node["expression"] as Node);
    const at = links.findIndex(isOptional);
    const link = links[at];
    const isMember = link?.type === "MemberExpression";
    const head = (isMember ? link["object"] : undefined) as Node | undefined;
    if (head === undefined || /\b(?:await|yield)\b/.test(code.slice(head.end, node.end))) {
      const first = links.findLast(isOptional) as Node;
      const start = (first["object"] ?? (first["callee"] as Node)["object"] ?? first["callee"]) as Node;
      for (const part of linksOf(start)) part["inChain"] = false;
      return undefined;
    }
    const before = linksOf(head);
    const isChain = before.some(isOptional);
    if (!isChain) for (const part of before) part["inChain"] = false;
    const { start, end } = head;
    const value = print(
      isChain ? { type: "ChainExpression", start, end, expression: head } : head,
      isAwaited,
    );
    for (const part of links.slice(0, at + 1)) part["inChain"] = false;
    (link as Node)["object"] = { type: "Head", start, end };
    return `builtIns$.maybe(${value},(head$)=>${print(node["expression"] as Node)})`;
  }
  const list = (nodes: readonly Node[], isAwaited: boolean): string =>
    nodes.map((node) => print(node, isAwaited)).join(",");

  function printSpecial(node: Node, isAwaited: boolean): string | undefined {
    switch (node.type) {
      case "Identifier": {
        const name = BUILT_IN.exec(node["name"] as string)?.[0];
        if (name !== undefined) used.add(node["name"] as string);
        return undefined;
      }
      case "ChainExpression":
        return printChain(node, isAwaited);
      case "Head":
        return "head$";
      case "BinaryExpression":
        return node["operator"] === "instanceof"
          ? `builtIns$.isInstance(${list([node["left"], node["right"]] as Node[], isAwaited)})`
          : undefined;
      case "CallExpression":
        return printCall(node, isAwaited);
      case "MemberExpression":
        return printMember(node, isAwaited);
      case "NewExpression": {
        const callee = node["callee"] as Node;
        const [first, ...more] = node["arguments"] as Node[];
        const name = builtIn(callee);
        if (first === undefined || name === undefined || first.type === "SpreadElement") return undefined;
        if (LISTED.has(name)) return `builtIns$.make(${print(callee)},${print(first, isAwaited)})`;
        if (!name.endsWith("Array")) return undefined;
        return `new ${print(callee)}(builtIns$.items(${print(first, isAwaited)})${more.map((node) => `,${print(node, isAwaited)}`).join("")})`;
      }
      case "ForOfStatement": {
        if (node["await"] === true) return undefined;
        const [left, right, body] = [node["left"], node["right"], node["body"]] as [Node, Node, Node];
        return `for(${print(left, isAwaited)} of builtIns$.items(${print(right, isAwaited)}))${print(body, isAwaited)}`;
      }
      case "ForInStatement": {
        const [left, right, body] = [node["left"], node["right"], node["body"]] as [Node, Node, Node];
        return `for(${print(left, isAwaited)} in builtIns$.names(${print(right, isAwaited)}))${print(body, isAwaited)}`;
      }
      case "SpreadElement":
        return node["inObject"] === true
          ? undefined
          : `...builtIns$.items(${print(node["argument"] as Node, isAwaited)})`;
      case "YieldExpression":
        return node["delegate"] === true && node["inAsync"] !== true
          ? `yield*builtIns$.items(${print(node["argument"] as Node, isAwaited)})`
          : undefined;
      case "ArrayPattern": {
        const elements = node["elements"] as (Node | null)[];
        if (elements.some((element) => element?.type === "RestElement")) return undefined;
        return `{${elements.flatMap((element, at) => (element === null ? [] : [`${at}:${print(element, isAwaited)}`])).join(",")}}`;
      }
      case "VariableDeclarator": {
        const [id, init] = [node["id"], node["init"]] as [Node, Node | null];
        if (init === null) return undefined;
        if (id.type === "ArrayPattern") return `${print(id)}=${asList(id, init, isAwaited)}`;
        if (id.type !== "ObjectPattern") return undefined;
        const keys = (id["properties"] as Node[]).map(({ key }) => (key as Node | undefined)?.["name"]);
        if (keys.every(Boolean) && keys.some((key) => key === "length" || ACCESSORS.has(key as string)))
          return `${print(id)}=builtIns$.pick(${print(init, isAwaited)},${JSON.stringify(keys)})`;
        if (init.type === "MemberExpression" && (init["property"] as Node)["name"] === "prototype")
          return builtIn(init["object"] as Node) === undefined
            ? undefined
            : `${print(id)}=builtIns$.pick(${print(init, isAwaited)},${JSON.stringify(keys)})`;
        if (init.type !== "Identifier") return undefined;
        if (init["name"] === "globalThis") {
          const keys = (id["properties"] as Node[]).map((property) => property["key"] as Node | undefined);
          return keys.every((key) => key !== undefined && builtIn(key) !== undefined)
            ? `${print(id)}=builtIns$.globals`
            : undefined;
        }
        const name = builtIn(init);
        return name === undefined ? undefined : `${print(id)}=builtIns$.statics.${name}`;
      }
      case "AssignmentExpression": {
        const [left, right] = [node["left"], node["right"]] as [Node, Node];
        if (left.type === "ArrayPattern") return `(${print(left)}=${asList(left, right, isAwaited)})`;
        if (left.type === "ObjectPattern" && right.type === "Identifier") {
          const name = builtIn(right);
          return name === undefined ? undefined : `${print(left)}=builtIns$.statics.${name}`;
        }
        if (left.type !== "MemberExpression") return undefined;
        return printParts(left, isAwaited) + code.slice(left.end, right.start) + print(right, isAwaited);
      }
      case "SequenceExpression":
        return `(${printParts(node, isAwaited)})`;
      case "Literal":
        return "regex" in node ? `builtIns$.regExp(${code.slice(node.start, node.end)})` : undefined;
      case "ReturnStatement": {
        const value = node["argument"] as Node | null;
        return isAwaited && value !== null ? `return await(${print(value, true)});` : undefined;
      }
      case "ArrowFunctionExpression": {
        const body = node["body"] as Node;
        if (node["async"] !== true || body.type === "BlockStatement") return undefined;
        return `async(${list(node["params"] as Node[], true)})=>await(${print(body, true)})`;
      }
      default:
        return undefined;
    }
  }
  const asList = (pattern: Node, value: Node, isAwaited: boolean): string => {
    const elements = pattern["elements"] as (Node | null)[];
    const hasRest = elements.at(-1)?.type === "RestElement";
    const printed = print(value, isAwaited);
    return hasRest ? `builtIns$.items(${printed})` : `builtIns$.list(${printed},${elements.length})`;
  };

  function printCall(node: Node, isAwaited: boolean): string | undefined {
    const [callee, args] = [node["callee"], node["arguments"]] as [Node, Node[]];
    if (callee.type !== "MemberExpression" || node["inChain"] === true) return undefined;
    const [object, property] = [callee["object"], callee["property"]] as [Node, Node];
    if (callee["computed"] === true)
      return isSymbol(property) && object.type !== "Super"
        ? `builtIns$.call(${print(object, isAwaited)},${print(property)}${args.map((arg) => `,${print(arg, isAwaited)}`).join("")})`
        : undefined;
    const name = property["name"] as string;
    if (property.type !== "Identifier" || object.type === "Super" || builtIn(object) !== undefined)
      return undefined;
    if (!METHODS.has(name)) return undefined;
    return `builtIns$.call(${[print(object, isAwaited), `"${name}"`].join(",")}${args.map((arg) => `,${print(arg, isAwaited)}`).join("")})`;
  }

  function printMember(node: Node, isAwaited: boolean): string | undefined {
    const [object, property] = [node["object"], node["property"]] as [Node, Node];
    // A symbol's member is read as it is: it may be a proxy's, whose traps a source counts.
    if (node["computed"] === true || node["isTarget"] === true || node["inChain"] === true) return undefined;
    const name = property["name"] as string;
    if (property.type !== "Identifier") return undefined;
    const owner = builtIn(object);
    if (owner !== undefined) return `builtIns$.statics.${owner}.${name}`;
    if (builtIn(node) !== undefined) return `builtIns$.globals.${name}`;
    if (object.type === "MemberExpression" && (object["property"] as Node)["name"] === "prototype") {
      const prototypeOf = builtIn(object["object"] as Node);
      if (prototypeOf !== undefined)
        return `builtIns$.member(builtIns$.statics.${prototypeOf}.prototype,"${name}")`;
    }
    if (name === "length" && object.type !== "Super")
      return `builtIns$.lengthOf(${print(object, isAwaited)})`;
    if (ACCESSORS.has(name) && object.type !== "Super")
      return `builtIns$.member(${print(object, isAwaited)},"${name}")`;
    return undefined;
  }

  mark(program);
  const [statement] = program["body"] as Node[];
  const text = print((statement as Node)["expression"] as Node);
  const names = [...used].map((name) => {
    const original = BUILT_IN.exec(name)?.[0] as string;
    return original === name ? name : "";
  });
  const known = [...new Set([...names.filter(Boolean), ...FUNCTIONS.split(" ")])];
  return `((builtIns$)=>{"use strict";const{${known.join(",")}}=builtIns$.globals;return ${text}})`;
}

const isFunction = (node: Node): boolean => /Function/.test(node.type);

/** Whether the node is a well-known symbol, e.g. `Symbol.iterator`. */
const isSymbol = (node: Node): boolean =>
  node.type === "MemberExpression" && builtIn(node["object"] as Node) === "Symbol";

const isOptional = (node: Node): boolean => node["optional"] === true;

/** Returns the name of the built-in that the node is: `Map`, or `globalThis.Map`. */
function builtIn(node: Node): string | undefined {
  const isMember =
    node.type === "MemberExpression" &&
    node["computed"] === false &&
    (node["object"] as Node)["name"] === "globalThis";
  const name = isMember ? (node["property"] as Node) : node;
  return name.type === "Identifier" ? BUILT_IN.exec(name["name"] as string)?.[0] : undefined;
}

function partsOf(node: Node): Node[] {
  const parts = new Set<Node>();
  for (const [key, value] of Object.entries(node)) {
    // The key of a shorthand property is its value too.
    if (key === "key" && node["shorthand"] === true) continue;
    for (const part of Array.isArray(value) ? (value as unknown[]) : [value])
      if (typeof part === "object" && part !== null && "type" in part) parts.add(part as Node);
  }
  return [...parts].sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Notes what a node can't know of itself: that it is assigned to, belongs to an optional chain, or is spread in an object. */
function mark(node: Node, inChain = false, inAsync = false): void {
  if (inChain) node["inChain"] = true;
  if (node.type === "UpdateExpression" || (node.type === "UnaryExpression" && node["operator"] === "delete"))
    (node["argument"] as Node)["isTarget"] = true;
  if (node.type === "YieldExpression") node["inAsync"] = inAsync;
  if (node.type === "ForOfStatement" || node.type === "ForInStatement")
    (node["left"] as Node)["isTarget"] = true;
  const ownAsync = isFunction(node) ? node["async"] === true : inAsync;
  for (const part of partsOf(node)) {
    if (node.type === "ObjectExpression" && part.type === "SpreadElement") part["inObject"] = true;
    if (node.type === "ObjectPattern" || node.type === "ArrayPattern" || node.type === "AssignmentPattern")
      part["isTarget"] = true;
    // The arguments of a chain's calls are expressions of their own.
    const continues =
      node.type === "ChainExpression" ||
      (inChain && (part === node["callee"] || part === node["object"]) && isLink(part));
    mark(part, continues, ownAsync);
  }
}

/** Returns the members and calls of a chain, the last first. */
function linksOf(node: Node): Node[] {
  if (!isLink(node)) return [];
  return [node, ...linksOf((node["callee"] ?? node["object"]) as Node)];
}

const isLink = (node: Node): boolean => node.type === "MemberExpression" || node.type === "CallExpression";
