/** A mode as the agent names it. */
export interface OwnMode {
  readonly id: string
  readonly name: string
  readonly description?: string
}

/** Modes of an agent as a manifest has them: with ids that AIP-45 allows, and the agent's own for each. */
export function ownModes(modes: readonly OwnMode[]) {
  const own = new Map(
    modes
      .filter(({ id }) => isPlain(id))
      .map(({ id, name, description = '' }) => [slugOf(id), { id, text: oneLine(description) || oneLine(name) || id }]),
  )
  own.delete('')
  return {
    entries: [...own].map(([id, { text }]) => ({ id, description: text })),
    session_modes: Object.fromEntries([...own].map(([slug, { id }]) => [slug, id])),
  }
}

const slugOf = (id: string): string =>
  id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64)

/** Whether an id can be written as it is. Another one could not be sent back to the agent either. */
export const isPlain = (id: string): boolean => id !== '' && id === oneLine(id)

/** An agent's text on one line, without control characters. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, 200)
