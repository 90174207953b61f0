/** Why a module could not be imported. A normal outcome of a run: the source's `import()` rejects with it. */
export interface ModuleFailure {
  /** Message of the `TypeError` (code `ERR_MODULE_NOT_FOUND`) that the nodes' Deno rejects with. */
  readonly message: string;
  /** What to do about it, for the source's author; absent if the message says it. */
  readonly hint?: string;
}

/** Thrown inside the module loader only; callers get a {@link ModuleFailure}. */
export class ModuleFailureError extends Error {
  readonly failure: ModuleFailure;

  constructor(message: string, hint?: string) {
    super(message);
    this.name = "ModuleFailureError";
    this.failure = hint === undefined ? { message } : { message, hint };
  }
}
