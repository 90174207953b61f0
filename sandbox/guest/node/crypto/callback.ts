/** Runs something once the current code has ended. */
export const queue = (work: () => void): void => void Promise.resolve().then(work);
