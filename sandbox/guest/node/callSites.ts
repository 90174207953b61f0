/** Returns the calls on the stack, the innermost first, and behind them the asynchronous functions that await them. */
export function callSites(): NodeJS.CallSite[] {
  const { stackTraceLimit } = Error;
  const own = Object.getOwnPropertyDescriptor(Error, "prepareStackTrace");
  let sites: NodeJS.CallSite[] = [];
  const value = (_: Error, all: NodeJS.CallSite[]): void => void (sites = all);
  Object.defineProperty(Error, "prepareStackTrace", { value, configurable: true });
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  void new Error("").stack;
  Error.stackTraceLimit = stackTraceLimit;
  if (own === undefined) delete (Error as Partial<ErrorConstructor>).prepareStackTrace;
  else Object.defineProperty(Error, "prepareStackTrace", own);
  return sites;
}

/** Whether a call is one of our own functions. */
export const isOurs = (site: NodeJS.CallSite): boolean => site.getFileName()?.startsWith("tyche:") === true;
