import type { Caller, Client } from '@agentproto/client'
import { useState } from 'preact/hooks'
import { ConfirmButton } from '../parts/confirm-button.js'
import { Outside, OutsideBlock } from '../parts/outside.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { useAnswer } from '../parts/use-answer.js'

const SCOPE_TEXT: Readonly<Record<Caller['scope'], string>> = {
  read: 'only look',
  operate: 'work with sessions',
  admin: 'everything',
}
const isScope = (word: string): word is Caller['scope'] => Object.hasOwn(SCOPE_TEXT, word)

/** The named tokens. The value of a new one is shown once, and never kept. */
export function Tokens({ client: { tokens } }: { readonly client: Client }) {
  const [round, setRound] = useState(0)
  const [created, setCreated] = useState('')
  const { value, problem } = useAnswer(() => tokens.list(), String(round))
  const action = useAction()
  const create = async (form: FormData): Promise<void> => {
    const [name, scope] = [form.get('name'), form.get('scope')]
    if (typeof name !== 'string' || typeof scope !== 'string' || !isScope(scope)) return
    const token = await action.run(() => tokens.create({ name: name.trim(), scope }))
    setCreated(token?.token ?? '')
    setRound(round + 1)
  }
  const revoke = async (name: string): Promise<void> => {
    await action.run(() => tokens.revoke(name))
    setCreated('')
    setRound(round + 1)
  }
  return (
    <section aria-labelledby="tokens">
      <h2 id="tokens">Tokens</h2>
      <Problem text={problem || action.problem} />
      <ul class="rows">
        {value?.map(({ name, scope, expiresAt }) => (
          <li key={name} class="bar setting">
            <strong>
              <Outside text={name} />
            </strong>
            <span class="dim">
              {SCOPE_TEXT[scope]}
              {expiresAt === undefined ? '' : `, until ${new Date(expiresAt).toLocaleString()}`}
            </span>
            <ConfirmButton
              label={`Revoke ${name}`}
              question="Revoke it, and the tokens that it created?"
              isBusy={action.isBusy}
              onConfirm={() => void revoke(name)}
            />
          </li>
        ))}
      </ul>
      <TokenForm isBusy={action.isBusy} onCreate={(form) => void create(form)} />
      {created === '' ? null : (
        <div role="status">
          <p>Copy the token now: it is shown only once.</p>
          <OutsideBlock text={created} label="Token" />
          <button type="button" onClick={() => setCreated('')}>
            Hide it
          </button>
        </div>
      )}
    </section>
  )
}

interface TokenFormProps {
  readonly isBusy: boolean
  readonly onCreate: (form: FormData) => void
}

function TokenForm({ isBusy, onCreate }: TokenFormProps) {
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault()
        onCreate(new FormData(event.currentTarget))
      }}
    >
      <label>
        Name <input name="name" required autocomplete="off" spellcheck={false} />
      </label>
      <label>
        May{' '}
        <select name="scope">
          {Object.entries(SCOPE_TEXT).map(([scope, words]) => (
            <option key={scope} value={scope}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" disabled={isBusy}>
        Create token
      </button>
    </form>
  )
}
