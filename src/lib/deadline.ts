/**
 * Settles as the work does, or rejects once the time is up; the work itself continues, and its outcome is then ignored.
 *
 * @param timeoutMs milliseconds.
 * @throws {DeadlineError} when the time is up.
 */
export async function withDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

/** Something took longer than allowed. */
export class DeadlineError extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
  }
}
