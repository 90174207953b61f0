/** Formats the entries of collections as they appear between the braces; `depth` is that of the entries. */

import type { Inspection } from "./inspection.ts";
import { formatPrimitive } from "./primitive.ts";
import { formatProperty } from "./property.ts";

const more = (left: number): string => `... ${left} more item${left > 1 ? "s" : ""}`;

/** Formats an array's elements; holes appear as `<n empty items>`. */
export function listEntries(state: Inspection, list: readonly unknown[], depth: number): string[] {
  const output: string[] = [];
  const limit = Math.min(Math.max(0, state.iterableLimit), list.length);
  let index = 0;
  while (index < list.length && output.length < limit) {
    if (Object.hasOwn(list, index)) {
      output.push(formatProperty(state, list, depth, index, "list", true));
      index++;
      continue;
    }
    const start = index;
    while (index < list.length && !Object.hasOwn(list, index)) index++;
    output.push(state.stylize(`<${index - start} empty item${index - start > 1 ? "s" : ""}>`, "undefined"));
  }
  if (index < list.length) output.push(more(list.length - index));
  return output;
}

/** Formats a typed array's elements. */
export function typedArrayEntries(state: Inspection, array: Uint8Array): string[] {
  const shown = Math.min(Math.max(0, state.iterableLimit), array.length);
  const output = Array.from({ length: shown }, (_, at) => formatPrimitive(state, array[at]));
  if (array.length > shown) output.push(more(array.length - shown));
  if (state.showHidden) {
    for (const key of ["BYTES_PER_ELEMENT", "length", "byteLength", "byteOffset"] as const)
      output.push(`[${key}]: ${formatPrimitive(state, array[key])}`);
    output.push(
      `[buffer]: ${array.buffer.constructor.name} { byteLength: ${formatPrimitive(state, array.buffer.byteLength)} }`,
    );
  }
  return output;
}

/** Formats a set's members. */
export function setEntries(state: Inspection, set: Set<unknown>, depth: number): string[] {
  state.indentation += 2;
  const values = [...Set.prototype.values.call(set)];
  const output = values.slice(0, state.collectionLimit).map((entry) => state.format(state, entry, depth));
  if (values.length > output.length) output.push(more(values.length - output.length));
  state.indentation -= 2;
  return output;
}

/** Formats a map's entries as `key => value`. */
export function mapEntries(state: Inspection, map: Map<unknown, unknown>, depth: number): string[] {
  state.indentation += 2;
  const pairs = [...Map.prototype.entries.call(map)];
  const output = pairs
    .slice(0, state.collectionLimit)
    .map(([key, entry]) => `${state.format(state, key, depth)} => ${state.format(state, entry, depth)}`);
  if (pairs.length > output.length) output.push(more(pairs.length - output.length));
  state.indentation -= 2;
  return output;
}

/** Formats the only entry of an `ArrayBuffer`: its bytes in hex. */
export function bufferEntries(state: Inspection, buffer: ArrayBuffer): string[] {
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(buffer);
  } catch {
    return ["(detached)"];
  }
  const shown = Math.min(Math.max(0, state.iterableLimit), bytes.length);
  let text = Array.from(bytes.subarray(0, shown), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const left = bytes.length - shown;
  if (left > 0) text += ` ... ${left} more byte${left > 1 ? "s" : ""}`;
  return [`${state.stylize("[Uint8Contents]", "special")}: <${text}>`];
}
