/** What V8 provides in an isolate but TypeScript's ECMAScript library doesn't declare. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: ArrayBuffer);
  }
  class Instance {
    constructor(module: Module, imports?: never);
  }
}
