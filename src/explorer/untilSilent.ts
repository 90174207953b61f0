/** Interval at which it is looked whether the node answers, in ms. */
const LOOK_MS = 500;
/** Looks before work is given up: 2.5 seconds, in which a node that is slow, or has just come back, answers most questions. */
const MIN_LOOKS = 5;
/** Looks in a row that find it silent: after a pause of this process, the answers that have come meanwhile are read before the second one. */
const SILENT_LOOKS = 2;

/**
 * Settles as the work does, or rejects once its node is known not to answer and the work has had its time; the work itself continues, and its
 * outcome is then ignored. Work on a node that is only slow may take as long as it takes.
 *
 * @param isSilent whether the node is known not to answer.
 * @param describe returns what to reject with.
 */
export async function untilSilent<T>(
  work: Promise<T>,
  isSilent: () => boolean,
  describe: () => Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    let looks = 0;
    let silentLooks = 0;
    timer = setInterval(() => {
      looks += 1;
      silentLooks = isSilent() ? silentLooks + 1 : 0;
      if (looks >= MIN_LOOKS && silentLooks >= SILENT_LOOKS) reject(describe());
    }, LOOK_MS);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearInterval(timer);
    work.catch(() => {});
  }
}
