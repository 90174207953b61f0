/** Someone at the keyboard should know by then that nothing is stuck but the other side. */
const SILENCE_MS = 5_000;

/** Says on standard error what is waited for, if that takes long; the client gives up a silent service after four attempts of a minute. */
export async function sayWaiting<Result>(work: Promise<Result>, origin: string): Promise<Result> {
  const timer = setTimeout(
    () => process.stderr.write(`waiting for an answer from ${origin} …\n`),
    SILENCE_MS,
  );
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
