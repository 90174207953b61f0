/** What V8 provides in an isolate but TypeScript's ECMAScript library doesn't declare. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: ArrayBuffer);
  }
  class Instance {
    constructor(module: Module, imports?: never);
  }
}

declare module "punycode/punycode.es6.js" {
  export function decode(label: string): string;
  export function encode(label: string): string;
  export function ucs2decode(text: string): number[];
  export function ucs2encode(points: readonly number[]): string;
}
