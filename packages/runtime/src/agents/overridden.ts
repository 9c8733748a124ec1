/** The same object but for some of its members; the methods that stay keep their own `this`. */
export function overridden<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(on, name) {
      const own: unknown = Reflect.get(members, name)
      if (own !== undefined) return own
      const value: unknown = Reflect.get(on, name)
      return typeof value === 'function' ? value.bind(on) : value
    },
  })
}
