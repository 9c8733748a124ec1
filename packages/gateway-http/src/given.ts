type Given<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> }

/** The members that were given: what a schema leaves undefined is left out. */
export const given = <T extends object>(members: T): Given<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>
