import { conversionError, dictionary, integer } from "../convert.ts";
import type { Internals } from "../internals.ts";
import { defineGetters, exposeInterface, printGetters, requireCount, wrongThis } from "../webIdl.ts";

interface Settings {
  readonly colorSpace: string;
  readonly pixelFormat: string;
}
type Data = Uint8ClampedArray | Uint8Array;
const { Float16Array } = globalThis as unknown as { readonly Float16Array: new (length: number) => Data };

const PREFIX = "Failed to construct 'ImageData'";
const readLong = integer({ bits: 32 });
const one =
  (type: string, values: readonly string[]) =>
  (value: unknown, prefix: string, context: string): string => {
    const text = typeof value === "string" ? value : "";
    if (values.includes(text)) return text;
    throw conversionError(
      `can not be converted to '${type}' because '${text}' is not a valid enum value`,
      prefix,
      context,
    );
  };
const readMembers = dictionary<Settings>("ImageDataSettings", {
  colorSpace: [one("PredefinedColorSpace", ["srgb", "display-p3"]), "srgb"],
  pixelFormat: [one("ImageDataPixelFormat", ["rgba-unorm8", "rgba-float16"]), "rgba-unorm8"],
});

function readSize(value: unknown, context: string): number {
  try {
    return readLong(value, PREFIX, context);
  } catch {
    throw conversionError("can not be converted to a unsigned long", PREFIX, context);
  }
}

function readSettings(value: unknown, context: string): Settings {
  if (value === undefined || value === null || Object(value) === value)
    return readMembers(value, PREFIX, context);
  throw conversionError("can not be converted to a dictionary", PREFIX, context);
}

/** Creates `ImageData` (HTML, §8.10); `exception` makes a `DOMException`. */
export function createImageData(exception: Internals["exception"]): new (...args: unknown[]) => object {
  const refuse = (name: string, text: string): never => {
    throw exception(`${PREFIX}: ${text}`, name);
  };
  const requireSize = (size: number, name: string): void => {
    if (size === 0) refuse("IndexSizeError", `the source ${name} is zero or not a number`);
  };

  class ImageData {
    readonly #fields: Settings & { readonly data: Data; readonly width: number; readonly height: number };
    static {
      defineGetters(
        ImageData,
        ["width", "height", "data", "pixelFormat", "colorSpace"],
        (image: ImageData) => image.#fields,
      );
    }
    constructor(...args: unknown[]) {
      const [first, second, third] = args;
      requireCount(args.length, 2, PREFIX);
      const tag = ArrayBuffer.isView(first) ? Object.prototype.toString.call(first).slice(8, -1) : "";
      const isGiven = args.length > 3 || tag === "Uint8ClampedArray" || tag === "Float16Array";
      this.#fields = isGiven ? given(first, tag, args) : blank(first, second, third);
    }
  }

  function blank(first: unknown, second: unknown, third: unknown) {
    const [width, height] = [readSize(first, "Argument 1"), readSize(second, "Argument 2")];
    const settings = readSettings(third, "Argument 3");
    requireSize(width, "width");
    requireSize(height, "height");
    try {
      const length = 4 * width * height;
      const data =
        settings.pixelFormat === "rgba-float16" ? new Float16Array(length) : new Uint8ClampedArray(length);
      return { ...settings, data, width, height };
    } catch {
      throw new Error("Failed to allocate ImageData backing store");
    }
  }

  function given(data: unknown, tag: string, [, second, third, fourth]: readonly unknown[]) {
    if (tag === "") throw conversionError("can not be converted to a ArrayBufferView", PREFIX, "Argument 1");
    const width = readSize(second, "Argument 2");
    const height = third === undefined ? undefined : readSize(third, "Argument 3");
    const settings = readSettings(fourth, "Argument 4");
    const { length } = data as Data;
    const format = tag === "Float16Array" ? "rgba-float16" : "rgba-unorm8";
    if (settings.pixelFormat !== format)
      refuse("InvalidStateError", `${tag} must use ${format} pixelFormat.`);
    if (length === 0) refuse("InvalidStateError", "the input data has zero elements");
    if (length % 4 !== 0)
      refuse("InvalidStateError", `the input data length is not a multiple of 4, received ${length}`);
    requireSize(width, "width");
    if (height !== undefined) requireSize(height, "height");
    if ((length / 4) % width !== 0)
      refuse("IndexSizeError", "the input data length is not a multiple of (4 * width)");
    if (height !== undefined && 4 * width * height !== length)
      refuse("IndexSizeError", "the input data length is not equal to (4 * width * height)");
    return { ...settings, data: data as Data, width, height: length / 4 / width };
  }

  Object.defineProperty(ImageData, "length", { value: 2, configurable: true });
  exposeInterface(ImageData, "ImageData", false, wrongThis("expected ImageData"));
  printGetters(ImageData, ["data", "width", "height", "pixelFormat", "colorSpace"]);
  return ImageData;
}
