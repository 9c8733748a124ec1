/** Secrets as everybody but their store sees them: by slug, never by value (AIP-19). */

export type SecretKind = 'opaque' | 'oauth' | 'keypair' | 'json'

/** Where a secret's value is. */
export type SecretPlace = 'environment' | 'keyring' | 'file'

export interface SecretStatus {
  readonly slug: string
  readonly kind: SecretKind
  readonly set: boolean
  readonly place?: SecretPlace
  /** Environment variables that carry it to an agent. */
  readonly variables: readonly string[]
  /** When it was last set here, ISO-8601. */
  readonly updatedAt?: string
  /** Of an oauth secret's access token, ISO-8601. */
  readonly expiresAt?: string
}
