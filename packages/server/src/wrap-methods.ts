export type Method = (...args: unknown[]) => unknown

/** A service whose methods are what `wrap` makes of them. Not a `Proxy`, which would run for every call. */
export function wrapMethods<S extends object>(service: S, wrap: (name: string, method: Method) => Method): S {
  const wrapped: Record<string, Method> = {}
  for (const [name, method] of methodsOf(service)) wrapped[name] ??= wrap(name, method.bind(service))
  return wrapped as S
}

/** Its own methods first, then those of its classes. */
function methodsOf(service: object): readonly (readonly [name: string, method: Method])[] {
  const prototype: unknown = Object.getPrototypeOf(service)
  const own = Object.entries(Object.getOwnPropertyDescriptors(service)).flatMap(([name, { value }]) =>
    typeof value === 'function' && name !== 'constructor' ? [[name, value as Method] as const] : [],
  )
  return prototype === Object.prototype || prototype === null ? own : [...own, ...methodsOf(prototype as object)]
}
