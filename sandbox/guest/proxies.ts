const { Proxy, Reflect, WeakMap } = globalThis;
const { apply, construct } = Reflect;
const { get, set } = WeakMap.prototype;

/** What a proxy stands for: its target and handler, or nothing once it is revoked. */
export type ProxyParts = readonly [target: object, handler: object] | readonly [];

type Revocable = typeof Proxy.revocable;

/**
 * Makes the global `Proxy` remember what each proxy stands for, which JavaScript can't ask the proxy. Returns a function that finds it;
 * that returns undefined for what isn't a proxy.
 */
export function recordProxies(): (value: object) => ProxyParts | undefined {
  const known = new WeakMap<object, ProxyParts>();
  const record = (proxy: object, parts: ProxyParts): void => void apply(set, known, [proxy, parts]);
  const Recorded = Proxy;
  Recorded.revocable = new Recorded(Recorded.revocable, {
    __proto__: null,
    apply(revocable: Revocable, _self: unknown, args: [object, object]) {
      const made = apply(revocable, Recorded, args);
      record(made.proxy, args);
      const revoke = (() => () => {
        made.revoke();
        record(made.proxy, []);
      })();
      return { proxy: made.proxy, revoke };
    },
  } as ProxyHandler<Revocable>);
  globalThis.Proxy = new Recorded(Recorded, {
    __proto__: null,
    construct(type: ProxyConstructor, args: [object, object], newTarget: () => void) {
      const proxy = construct(type, args, newTarget) as object;
      record(proxy, args);
      return proxy;
    },
  } as ProxyHandler<ProxyConstructor>);
  return (value) => apply(get, known, [value]) as ProxyParts | undefined;
}
