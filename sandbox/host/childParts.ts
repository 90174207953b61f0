/**
 * What a child needs beside its script, in V8's own encoding: a text in the script would be scanned and hashed at each start, a sixth of
 * its processor time.
 */
export interface ChildParts {
  /** Script whose value is `boot`. */
  readonly bootstrap: string;
  /** Scripts by chunk name whose value is the chunk. */
  readonly chunks: Readonly<Record<string, string>>;
  /** The same for sources that may replace built-ins: each script's value is a function of the captured ones that returns the chunk. */
  readonly hardened: Readonly<Record<string, string>>;
  /** Programs of the compilers of TypeScript, compressed: that of decorators is six times as large. */
  readonly compilers: { readonly types: Uint8Array; readonly decorators: Uint8Array };
}

/** Returns the path of a child's {@link ChildParts}: `build/buildChild.ts` puts them beside its script, which reads them at its start. */
export function partsFile(script: string): string {
  return script.replace(/\.cjs$/, ".parts");
}
