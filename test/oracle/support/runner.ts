import type { SourceRunner } from "../../../src/oracle/functions/execute.ts";

/** Creates a runner that runs sources in this process, without containment: only for sources written by the tests. */
export function createTestRunner(onRun: () => void | Promise<void> = () => {}): SourceRunner {
  const AsyncFunction = (async () => {}).constructor as new (
    ...parameters: string[]
  ) => (...values: unknown[]) => Promise<Uint8Array>;
  return {
    async run({ source, args, bytesArgs, limits }) {
      await onRun();
      try {
        const bytes = await new AsyncFunction("args", "bytesArgs", source)(args, bytesArgs);
        if (bytes.length > limits.maxResponseBytes)
          return { ok: false, error: { message: `response >${limits.maxResponseBytes} bytes` } };
        return { ok: true, bytes };
      } catch (error) {
        return { ok: false, error: { message: (error as Error).message } };
      }
    },
  };
}
