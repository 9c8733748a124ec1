import type { Client } from '@agentproto/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { newKey } from '../parts/idempotency-key.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { useAnswer } from '../parts/use-answer.js'
import { goTo } from '../router.js'
import { AgentFields, PlaceFields } from './agent-fields.js'
import { BudgetFields } from './budget-fields.js'
import { PromptFiles } from './prompt-files.js'
import { markField, refusedField } from './refused-field.js'
import { startRequest, type TextFile } from './start-request.js'

interface StartDialogProps {
  readonly client: Client
  readonly onClose: () => void
}

/** Starts a session, and goes to it. What the gateway says against it is shown here, and the fields stay as they are. */
export function StartDialog({ client, onClose }: StartDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [files, setFiles] = useState<readonly TextFile[]>([])
  const known = useAnswer(() => Promise.all([client.adapters.list(), client.workspaces.list()]), '')
  const action = useAction()
  useEffect(() => dialog.current?.showModal(), [])
  const requestOf = (form: HTMLFormElement) => {
    const fields = fieldsOf(form)
    const adapter = known.value?.[0].find(({ slug }) => slug === fields['adapter'])
    return startRequest(fields, { files, ...(adapter && { options: adapter.options }) })
  }
  const start = async (form: HTMLFormElement): Promise<void> => {
    markField(form, undefined)
    const send = () => client.sessions.start({ ...requestOf(form), idempotencyKey: newKey() })
    const session = await action.run(async () => {
      try {
        return await send()
      } catch (thrown) {
        markField(form, refusedField(thrown))
        throw thrown
      }
    })
    if (session === undefined) return
    onClose()
    goTo({ name: 'session', id: session.id })
  }
  const [adapters, workspaces] = known.value ?? []
  return (
    <dialog ref={dialog} class="start" aria-labelledby="start-title" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void start(event.currentTarget)
        }}
      >
        <h2 id="start-title">Start a session</h2>
        <Problem text={known.problem} />
        {adapters === undefined ? null : <AgentFields adapters={adapters} />}
        {workspaces === undefined ? null : <PlaceFields workspaces={workspaces} />}
        <PromptFiles files={files} onChange={setFiles} />
        <BudgetFields />
        <Problem text={action.problem} />
        <div class="bar">
          <button type="submit" class="primary" disabled={action.isBusy || adapters === undefined}>
            {action.isBusy ? 'Starting' : 'Start'}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  )
}

function fieldsOf(form: HTMLFormElement): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields[name] = value
  return fields
}
