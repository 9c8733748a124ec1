/** `{ [key]: value }`, or `{}` when the value is undefined: an optional property is absent, never undefined. */
export function given<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  // TypeScript gives an object with a computed key an index signature.
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: V })
}
