/** `{ [key]: value }`, or nothing when there is no value: an optional property is absent, never undefined. */
export function given<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  // TypeScript gives an object with a computed key an index signature.
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: V })
}
