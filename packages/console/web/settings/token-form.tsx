import type { TokenRequest } from '@agentproto/contracts'
import { useState } from 'preact/hooks'
import { shown } from '../parts/shown-text.js'
import { isScope, type Scope, SCOPE_TEXT } from './scope-text.js'

interface TokenFormProps {
  /** The slugs that a token may be bound to. */
  readonly workspaces: readonly string[]
  readonly isBusy: boolean
  readonly onCreate: (request: TokenRequest) => void
}

/** Only a token that cannot do everything can be bound to workspaces: who administers can register any folder. */
export function TokenForm({ workspaces, isBusy, onCreate }: TokenFormProps) {
  const [scope, setScope] = useState<Scope>('read')
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault()
        onCreate(requestOf(event.currentTarget, scope))
      }}
    >
      <label>
        Name <input name="name" required autocomplete="off" spellcheck={false} maxLength={64} />
      </label>
      <label>
        May{' '}
        <select value={scope} onChange={({ currentTarget: { value } }) => isScope(value) && setScope(value)}>
          {Object.entries(SCOPE_TEXT).map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {scope === 'admin' || workspaces.length === 0 ? null : (
        <fieldset class="choices">
          <legend>Only in these workspaces; none: in all</legend>
          {workspaces.map((slug) => (
            <label key={slug} class="check">
              <input type="checkbox" name="workspace" value={slug} /> {shown(slug)}
            </label>
          ))}
        </fieldset>
      )}
      <button type="submit" disabled={isBusy}>
        Create token
      </button>
    </form>
  )
}

function requestOf(form: HTMLFormElement, scope: Scope): TokenRequest {
  const data = new FormData(form)
  const name = data.get('name')
  const workspaces = data.getAll('workspace').filter((slug) => typeof slug === 'string')
  return { name: typeof name === 'string' ? name.trim() : '', scope, ...(workspaces.length > 0 && { workspaces }) }
}
