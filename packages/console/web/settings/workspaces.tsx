import type { Gateway } from '../gateway/gateway.js'
import { useState } from 'preact/hooks'
import { ConfirmButton } from '../parts/confirm-button.js'
import { Outside } from '../parts/outside.js'
import { shown } from '../parts/shown-text.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { useAnswer } from '../parts/use-answer.js'
import { WorkspaceForm } from './workspace-form.js'

/** The named folders of the gateway; which one a start without a folder uses. */
export function Workspaces({ gateway }: { readonly gateway: Gateway }) {
  const { workspaces: client } = gateway.client
  const [round, setRound] = useState(0)
  const { value, problem } = useAnswer(() => client.list(), String(round))
  const action = useAction()
  const change = async (work: () => Promise<unknown>): Promise<void> => {
    await action.run(work)
    setRound((before) => before + 1)
  }
  const mayAdmin = gateway.may('admin')
  return (
    <section aria-labelledby="workspaces">
      <h2 id="workspaces">Workspaces</h2>
      <Problem text={problem || action.problem} />
      <ul class="rows">
        {value?.workspaces.map(({ slug, path, label }) => (
          <li key={slug} class="bar setting">
            <strong>
              <Outside text={slug} />
            </strong>
            {label === undefined ? null : <Outside text={label} />}
            <Outside text={path} />
            {slug === value.active ? <span class="dim">active</span> : null}
            {mayAdmin && slug !== value.active ? (
              <button type="button" disabled={action.isBusy} onClick={() => void change(() => client.use(slug))}>
                Use {shown(slug)}
              </button>
            ) : null}
            {mayAdmin ? (
              <ConfirmButton
                label={`Remove ${slug}`}
                question="Remove the name? The folder stays."
                isBusy={action.isBusy}
                onConfirm={() => void change(() => client.remove(slug))}
              />
            ) : null}
          </li>
        ))}
      </ul>
      {mayAdmin ? (
        <WorkspaceForm isBusy={action.isBusy} onAdd={(request) => void change(() => client.add(request))} />
      ) : null}
    </section>
  )
}
