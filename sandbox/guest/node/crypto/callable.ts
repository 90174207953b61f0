/** Gives a class these methods as its own, in this order; the rest follow. */
export function ownMethods({ prototype }: { readonly prototype: object }, names: string): void {
  const inherited = Object.getPrototypeOf(prototype) as object;
  for (const name of names.split(" ")) {
    const own = Object.getOwnPropertyDescriptor(prototype, name);
    const method = own ?? Object.getOwnPropertyDescriptor(inherited, name);
    Reflect.deleteProperty(prototype, name);
    Object.defineProperty(prototype, name, method as PropertyDescriptor);
  }
}

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
  Object.defineProperty(called, "prototype", { value: Type.prototype, writable: true });
  return called;
}
