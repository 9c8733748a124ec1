export type CamelKey<K> = K extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelKey<Tail>>}` : K

/** `T` with its own keys in camel case; what is below them is not touched. */
export type CamelKeys<T> = { readonly [K in keyof T as CamelKey<K>]: T[K] }

/** Renames the keys of one block: `timeout_ms` becomes `timeoutMs`. */
export const camelKeys = <T extends object>(block: T): CamelKeys<T> =>
  Object.fromEntries(
    Object.entries(block).map(([key, value]: [string, unknown]) => [camelCase(key), value]),
  ) as CamelKeys<T>

const camelCase = (key: string): string =>
  key.includes('_') ? key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : key
