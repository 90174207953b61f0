/** Returns the path of the compiler of decorators: `host/build.ts` puts it beside a child's script, which reads it at its start. */
export function compilerFile(script: string): string {
  return script.replace(/\.cjs$/, ".zst");
}
