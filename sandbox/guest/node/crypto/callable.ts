/** Lets a class be called without `new`, as Node's older ones can be; its objects keep the class's own name. */
export function callable(Type: new (...args: never[]) => object, name: string): (...args: never[]) => object {
  const called = function (...args: unknown[]): object {
    return Reflect.construct(
      Type,
      args,
      new.target === undefined || new.target === called ? Type : new.target,
    ) as object;
  };
  Object.defineProperty(called, "name", { value: name });
  Object.defineProperty(called, "prototype", { value: Type.prototype });
  return called;
}
