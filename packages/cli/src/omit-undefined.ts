type OptionalKeys<T> = { [Key in keyof T]: undefined extends T[Key] ? Key : never }[keyof T]

/** `T` without its members that are undefined: an option that was not given is not sent. */
export type WithoutUndefined<T> = { [Key in Exclude<keyof T, OptionalKeys<T>>]: T[Key] } & {
  [Key in OptionalKeys<T>]?: Exclude<T[Key], undefined>
}

export const omitUndefined = <T extends object>(value: T): WithoutUndefined<T> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as WithoutUndefined<T>
