import { useRef, useState } from 'preact/hooks'
import { OutsideBlock } from './outside.js'

interface CopyTextProps {
  readonly text: string
  /** What it is, such as "Token". */
  readonly label: string
}

/** A text that is needed elsewhere. Without a clipboard, as over plain HTTP from another machine, it is selected instead. */
export function CopyText({ text, label }: CopyTextProps) {
  const box = useRef<HTMLDivElement>(null)
  const [said, setSaid] = useState('')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      if (box.current !== null) getSelection()?.selectAllChildren(box.current)
      setSaid('Selected: copy it with the keyboard')
    }
  }
  return (
    <div class="copy-text">
      <div ref={box}>
        <OutsideBlock text={text} label={label} />
      </div>
      <button type="button" onClick={() => void copy()}>
        Copy
      </button>
      <span role="status" class="dim">
        {said}
      </span>
    </div>
  )
}
