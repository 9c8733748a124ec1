import { piecesOf } from './pieces.js'
import { shown } from './shown-text.js'

/** Text that an agent, a manifest or a file name brought: shown as text, in its own direction, with nothing hidden in it. */

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
