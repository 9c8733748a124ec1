/** A text of an agent on one line, without control characters, cut after `max` UTF-16 code units. */
export const plainLine = (text: string, max: number): string =>
  text
    // Runs of spaces become one: a much longer text has no more of it to show.
    .slice(0, 10 * max)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, max)
    // Half of a character, which the cut may leave.
    .replaceAll(/\p{Cs}/gu, '')
