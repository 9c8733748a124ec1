import { useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { CopyText } from '../parts/copy-text.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { useAnswer } from '../parts/use-answer.js'
import { TokenForm } from './token-form.js'
import { TokenRow } from './token-row.js'

/** The named tokens. The value of a new one is shown once, and never kept. */
export function Tokens({ gateway }: { readonly gateway: Gateway }) {
  const { tokens, workspaces } = gateway.client
  const [round, setRound] = useState(0)
  const [value, setValue] = useState('')
  const known = useAnswer(() => tokens.list(), String(round))
  const slugs = useAnswer(async () => (await workspaces.list()).workspaces.map(({ slug }) => slug), '')
  const action = useAction()
  /** Runs a change, of which `token` is the new value, if there is one. */
  const change = async (work: () => Promise<{ readonly token?: string }>): Promise<void> => {
    setValue('')
    setValue((await action.run(work))?.token ?? '')
    setRound((before) => before + 1)
  }
  const revoke = (name: string): Promise<void> =>
    change(async () => {
      await tokens.revoke(name)
      return {}
    })
  const caller = gateway.caller.value
  const own = caller?.type === 'token' ? caller.name : undefined
  return (
    <section aria-labelledby="tokens">
      <h2 id="tokens">Tokens</h2>
      <Problem text={known.problem || action.problem} />
      <ul class="rows">
        {known.value?.map((token) => (
          <li key={token.name} class="setting">
            <TokenRow
              token={token}
              isOwn={token.name === own}
              isBusy={action.isBusy}
              onRotate={() => void change(() => tokens.rotate(token.name))}
              onRevoke={() => void revoke(token.name)}
            />
          </li>
        ))}
      </ul>
      <TokenForm
        workspaces={slugs.value ?? []}
        isBusy={action.isBusy}
        onCreate={(request) => void change(() => tokens.create(request))}
      />
      {value === '' ? null : (
        <div role="status">
          <p>Copy the token now: it is shown only once.</p>
          <CopyText text={value} label="Token" />
          <button type="button" onClick={() => setValue('')}>
            Hide it
          </button>
        </div>
      )}
    </section>
  )
}
