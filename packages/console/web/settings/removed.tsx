import { Outside } from '../parts/outside.js'
import { type AdapterRemoved, removedText } from './removed-text.js'

/** What a removal has left to the owner: the row of the agent is gone. */
export function Removed({ removed }: { readonly removed: AdapterRemoved }) {
  return (
    <div role="status">
      {removedText(removed).map((text) => (
        <p key={text}>
          <Outside text={text} />
        </p>
      ))}
    </div>
  )
}
