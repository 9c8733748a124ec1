/** What a registry can be set to; each key changes behaviour and has a test that shows it. */
export interface RegistryConfig {
  /** Live sessions at once. */
  readonly maxSessions: number
  /** An unanswered request of an agent is denied after this, in milliseconds. */
  readonly requestTimeoutMs: number
  /** How long an interrupted turn may take to end before its session is stopped, in milliseconds. */
  readonly interruptGraceMs: number
}

export const DEFAULT_REGISTRY_CONFIG: RegistryConfig = {
  maxSessions: 64,
  requestTimeoutMs: 5 * 60_000,
  interruptGraceMs: 30_000,
}
