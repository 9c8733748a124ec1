export type Method = (...args: unknown[]) => unknown

/** The same service, with each method replaced by what `wrap` makes of it. A method keeps its own `this`. */
export function wrapMethods<S extends object>(service: S, wrap: (name: PropertyKey, method: Method) => Method): S {
  return new Proxy(service, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? wrap(name, member.bind(target) as Method) : member
    },
  })
}
