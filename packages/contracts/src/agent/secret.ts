/** Secrets as all but their store see them: by slug, never by value (AIP-19). */

export type SecretKind = 'opaque' | 'oauth' | 'keypair' | 'json'

/** Where the value of a secret is stored. */
export type SecretPlace = 'environment' | 'keyring' | 'file'

export interface SecretStatus {
  readonly slug: string
  readonly kind: SecretKind
  readonly set: boolean
  readonly place?: SecretPlace
  /** Environment variables that pass it to an agent. */
  readonly variables: readonly string[]
  /** When it was last set here, ISO-8601. */
  readonly updatedAt?: string
  /** Of the access token of an oauth secret, ISO-8601. */
  readonly expiresAt?: string
}
