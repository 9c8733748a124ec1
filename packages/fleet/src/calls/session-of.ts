/** The session that the first argument of a method names: its id, or what has it. */
export function sessionOf(given: unknown): string | undefined {
  if (typeof given === 'string') return given
  if (typeof given !== 'object' || given === null) return undefined
  if ('sessionId' in given && typeof given.sessionId === 'string') return given.sessionId
  return 'requestId' in given && 'id' in given && typeof given.id === 'string' ? given.id : undefined
}
