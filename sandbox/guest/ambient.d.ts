/** What V8 offers in an isolate and TypeScript's own library for ECMAScript does not declare. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: ArrayBuffer);
  }
  class Instance {
    constructor(module: Module, imports?: never);
  }
}
