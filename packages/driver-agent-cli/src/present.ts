type Present<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> }

/** An object of the members that are there: an absent one is left out, not set to undefined. */
export const present = <T extends object>(members: T): Present<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<T>
