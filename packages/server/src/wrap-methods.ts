export type Method = (...args: unknown[]) => unknown

/** The same service, with each method replaced by what `wrap` makes of it. A method keeps its own `this`. */
export function wrapMethods<S extends object>(service: S, wrap: (name: string, method: Method) => Method): S {
  return new Proxy(service, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function' || typeof name === 'symbol') return member
      return wrap(name, member.bind(target) as Method)
    },
  })
}
