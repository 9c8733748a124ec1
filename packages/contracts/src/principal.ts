/** Who calls. Decided from the token alone, never from what the caller says of itself. */
export type Principal = { readonly type: 'owner'; readonly name: string }

/** Tells who a bearer token belongs to; undefined for a token that nobody has. */
export type Authenticate = (token: string) => Principal | undefined
