import { scalarString } from "../convert.ts";
import { makeIterable } from "../pairIterator.ts";
import { exposeInterface, illegalConstructor, printWith, requireArguments } from "../webIdl.ts";
import type { BlobTools } from "./blob.ts";

type File = InstanceType<BlobTools["File"]>;
/** A name with its value. */
export type Entry = [name: string, value: string | File];

/** `FormData`, with what reads its entries. */
export type FormDataTools = ReturnType<typeof createFormData>;

/** Creates `FormData` (XMLHttpRequest Standard, §4). */
export function createFormData({ File, isBlob, isFile }: BlobTools) {
  let entriesOf: (form: FormData) => Entry[];

  class FormData {
    #entries: Entry[] = [];
    static {
      entriesOf = (form) => form.#entries;
    }
    constructor(form: unknown = undefined) {
      if (form !== undefined) throw illegalConstructor();
    }
    append(name: unknown, value: unknown, filename: unknown = undefined): void {
      const prefix = "Failed to execute 'append' on 'FormData'";
      requireArguments(arguments.length, 2, prefix);
      this.#entries.push(readEntry(name, value, filename, prefix));
    }
    delete(name: unknown): void {
      const prefix = "Failed to execute 'name' on 'FormData'";
      requireArguments(arguments.length, 1, prefix);
      const key = scalarString(name, prefix, "Argument 1");
      this.#entries = this.#entries.filter((entry) => entry[0] !== key);
    }
    get(name: unknown): string | File | null {
      const prefix = "Failed to execute 'get' on 'FormData'";
      requireArguments(arguments.length, 1, prefix);
      const key = scalarString(name, prefix, "Argument 1");
      return this.#entries.find((entry) => entry[0] === key)?.[1] ?? null;
    }
    getAll(name: unknown): (string | File)[] {
      const prefix = "Failed to execute 'getAll' on 'FormData'";
      requireArguments(arguments.length, 1, prefix);
      const key = scalarString(name, prefix, "Argument 1");
      return this.#entries.filter((entry) => entry[0] === key).map((entry) => entry[1]);
    }
    has(name: unknown): boolean {
      const prefix = "Failed to execute 'has' on 'FormData'";
      requireArguments(arguments.length, 1, prefix);
      const key = scalarString(name, prefix, "Argument 1");
      return this.#entries.some((entry) => entry[0] === key);
    }
    set(name: unknown, value: unknown, filename: unknown = undefined): void {
      const prefix = "Failed to execute 'set' on 'FormData'";
      requireArguments(arguments.length, 2, prefix);
      const made = readEntry(name, value, filename, prefix);
      const at = this.#entries.findIndex((entry) => entry[0] === made[0]);
      if (at < 0) this.#entries.push(made);
      else
        this.#entries = this.#entries
          .filter((entry, index) => index === at || entry[0] !== made[0])
          .map((entry, index) => (index === at ? made : entry));
    }
  }
  makeIterable(FormData, "FormData", entriesOf);
  Object.defineProperty(FormData, "length", { value: 1, configurable: true });
  Object.defineProperty(FormData.prototype.append, "length", { value: 3, configurable: true });
  Object.defineProperty(FormData.prototype.set, "length", { value: 3, configurable: true });
  printWith(FormData.prototype as object, (self, inspect, options) => {
    const isForm = FormData.prototype.isPrototypeOf(self);
    const entries = isForm ? Object.fromEntries(self as Iterable<[string, unknown]>) : {};
    return `${self.constructor.name} ${inspect(entries, options)}`;
  });
  exposeInterface(FormData);

  function readEntry(name: unknown, value: unknown, filename: unknown, prefix: string): Entry {
    const key = scalarString(name, prefix, "Argument 1");
    if (!isBlob(value)) return [key, scalarString(value, prefix, "Argument 2")];
    const named = filename === undefined ? undefined : scalarString(filename, prefix, "Argument 3");
    if (isFile(value) && named === undefined) return [key, value as File];
    const { type, lastModified } = value as File;
    return [key, new File([value], named ?? "blob", { type, ...(isFile(value) && { lastModified }) })];
  }
  return { FormData, entriesOf };
}
