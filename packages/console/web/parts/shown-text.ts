/**
 * What has no width, changes the order of text or is not text: it could make one command look like another. Also the fifth and
 * further marks on one letter, which would be drawn over other lines.
 */
const HIDDEN =
  /(?![\t\n])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\uFFF9-\uFFFB]|(?<=\p{M}{4})\p{M}/gu
/** An emoji may be joined to another one, and be chosen as a picture. */
const EMOJI_PART = /^(?:\u200D|\uFE0F)$/
const EMOJI_BEFORE = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|[0-9#*])\uFE0F?$/u

/** Each hidden character as its number, such as `⟨U+202E⟩`. */
export const shown = (text: string): string =>
  text.replaceAll(HIDDEN, (found, at: number) => {
    if (EMOJI_PART.test(found) && EMOJI_BEFORE.test(text.slice(Math.max(0, at - 4), at))) return found
    return `⟨U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
