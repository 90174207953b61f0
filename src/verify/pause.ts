/** Lets the program's other work run: checks take turns with it, in a service as in a browser's page. */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}
