/**
 * Shows any value as one line, errors with class, name, code and message. Part of the source, so it keeps the built-ins that it uses:
 * some sources replace them.
 */
const SHOW = `
const __print = console.log.bind(console), __text = JSON.stringify, __Error = Error;
const __show = (value, depth = 0) => {
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value === "string") return __text(value);
  if (typeof value === "bigint") return value + "n";
  if (typeof value === "symbol") return value.toString();
  if (typeof value === "function") return "function " + value.name + "/" + value.length;
  if (value instanceof __Error || (typeof value.stack === "string" && typeof value.message === "string"))
    return "<" + (value.constructor && value.constructor.name) + " " + value.name + " " + String(value.code) + " " + __text(value.message) + (value.cause !== undefined && depth < 3 ? " cause " + __show(value.cause, depth + 1) : "") + ">";
  if (depth > 4) return "...";
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return value.constructor.name + "[" + Array.from(value).join() + "]";
  if (value instanceof ArrayBuffer) return "ArrayBuffer[" + Array.from(new Uint8Array(value)).join() + "]";
  if (Array.isArray(value)) return "[" + value.map((item) => __show(item, depth + 1)).join(", ") + "]";
  const prototype = Object.getPrototypeOf(value);
  const name = prototype === null ? "null" : prototype === Object.prototype ? "" : (prototype.constructor && prototype.constructor.name) || Object.prototype.toString.call(value).slice(8, -1);
  if (value instanceof Map || value instanceof Set) return name + "(" + [...value].map((item) => __show(item, depth + 1)).join(", ") + ")";
  if (value instanceof Date || value instanceof RegExp) return String(value);
  return name + "{" + Object.keys(value).map((key) => { let item; try { item = value[key] } catch (error) { item = error } return key + ": " + __show(item, depth + 1) }).join(", ") + "}";
};
const __answer = async (number, ask) => {
  let shown;
  try { shown = __show(await ask()) } catch (error) { shown = "throws " + __show(error) }
  __print(number + " " + shown.slice(0, 900).replace(/\\n/g, "\\\\n"));
};
`;

/** Makes a source of expressions, one a line, that prints the value or error of each; lines that begin with `@` are run before. */
export function toAnswers(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const setup = lines.filter((line) => line.startsWith("@")).map((line) => line.slice(1));
  const asks = lines
    .filter((line) => !line.startsWith("@"))
    .map((line, at) => `await __answer(${at}, async () => (${line}\n));`);
  return `${SHOW}${setup.join("\n")}\n${asks.join("\n")}\nreturn new Uint8Array(1);`;
}
