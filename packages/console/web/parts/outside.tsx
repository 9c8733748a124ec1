import { piecesOf } from './pieces.js'

/** Text that an agent, a manifest or a file name brought: shown as text, in its own direction, with nothing hidden in it. */

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

export function Outside({ text }: { readonly text: string }) {
  return <bdi dir="auto">{shown(text)}</bdi>
}

/** The same over several lines, in the font of code. */
export function OutsideBlock({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <pre
      class="outside"
      dir="auto"
      tabIndex={0}
      {...(label === undefined ? {} : { role: 'group', 'aria-label': label })}
    >
      <Pieces text={shown(text)} />
    </pre>
  )
}

/** A text of many lines, or of very long ones: what is out of view costs nothing. */
export function Pieces({ text }: { readonly text: string }) {
  const pieces = piecesOf(text)
  if (pieces.length === 1) return <>{text}</>
  return (
    <>
      {pieces.map((piece, index) => (
        <span key={index} class={piece.continues ? 'piece continues' : 'piece'}>
          {piece.text}
        </span>
      ))}
    </>
  )
}
