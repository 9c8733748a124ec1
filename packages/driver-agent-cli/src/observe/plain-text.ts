/** Longest text of an agent that an observation has. */
const TEXT_MAX = 200

/** A text of an agent on one line, without control characters, cut. */
export const plainText = (text: string): string =>
  text
    .slice(0, 10 * TEXT_MAX)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, TEXT_MAX)
    // Half of a character, which the cut may leave.
    .replace(/\p{Cs}/gu, '')

/** Whether an id can be written as it is. Another one could not be sent back to the agent either. */
export const isPlain = (id: string): boolean => id !== '' && id === plainText(id)
