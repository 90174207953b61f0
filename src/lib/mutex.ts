/** Creates a mutex: what it is given runs one after another, whatever becomes of the work before. */
export function createMutex(): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = tail.then(work);
    tail = result.catch(() => {});
    return result;
  };
}
