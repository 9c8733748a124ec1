import { useKeptNumber } from './kept-number.js'
import { OutsideBlock } from './outside.js'

/** Laid out without a pause that a person notices, also as one word. */
const FIRST_CHARS = 6_000
/** What one press adds. */
const MORE_CHARS = 50_000

interface LongTextProps {
  readonly text: string
  /** What it is called among all of which more was shown; without a name that ends with this view. */
  readonly name?: string
  readonly label?: string
}

/** A text of any length, of which the first part is shown, and more by a press: a browser lays out a megabyte for seconds. */
export function LongText({ text, name, label }: LongTextProps) {
  const [chars, setChars] = useKeptNumber(name, FIRST_CHARS)
  const rest = text.length - chars
  return (
    <>
      <OutsideBlock text={text.slice(0, chars)} {...(label === undefined ? {} : { label })} />
      {rest <= 0 ? null : (
        <button type="button" onClick={() => setChars(chars + MORE_CHARS)}>
          Show more: {rest.toLocaleString('en')} characters are left
        </button>
      )}
    </>
  )
}
