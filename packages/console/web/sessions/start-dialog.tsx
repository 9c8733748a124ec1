import type { Client, Session, SpawnAgentRequest } from '@agentproto/client'
import type { Host } from '@agentproto/contracts/wire'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { useHosts } from '../hosts/use-hosts.js'
import { newKey } from '../parts/idempotency-key.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { messageOf, useAnswer } from '../parts/use-answer.js'
import { goTo } from '../router.js'
import { AgentFields, PlaceFields } from './agent-fields.js'
import { BudgetFields } from './budget-fields.js'
import { agentsAt, lacksIn, type RefusedPlacement, workspacesAt } from './placement.js'
import { HostLossField, PlacementField } from './placement-fields.js'
import { PromptFiles } from './prompt-files.js'
import { markField, refusedField } from './refused-field.js'
import { startRequest, type TextFile } from './start-request.js'

interface StartDialogProps {
  readonly gateway: Gateway
  /** The host that is chosen at first; default the one that serves this page. */
  readonly host: string | undefined
  readonly onClose: () => void
}

/** Starts a session, and goes to it. What the gateway says against it is shown here, and the fields stay as they are. */
export function StartDialog({ gateway, host, onClose }: StartDialogProps) {
  const { client } = gateway
  const dialog = useRef<HTMLDialogElement>(null)
  const [files, setFiles] = useState<readonly TextFile[]>([])
  const known = useAnswer(() => Promise.all([client.adapters.list(), client.workspaces.list()]), '')
  const [adapters, workspaces] = known.value ?? []
  const { hosts, on, setOn, hasFleet } = usePlacement(gateway, host)
  const { start, isBusy, problem, refused } = useStart(client, (session) => {
    onClose()
    goTo({ name: 'session', id: session.id })
  })
  useEffect(() => dialog.current?.showModal(), [])
  const submit = (form: HTMLFormElement): void => {
    const fields = fieldsOf(form)
    const adapter = adapters?.find(({ slug }) => slug === fields['adapter'])
    void start(form, () => startRequest(fields, { files, ...(adapter && { options: adapter.options }) }))
  }
  return (
    <dialog ref={dialog} class="start" aria-labelledby="start-title" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit(event.currentTarget)
        }}
      >
        <h2 id="start-title">Start a session</h2>
        <Problem text={known.problem} />
        {hasFleet ? <PlacementField {...{ hosts, on, onChange: setOn, refused }} /> : null}
        {adapters === undefined ? null : <AgentFields agents={agentsAt(on, hosts, adapters)} isHere={on === ''} />}
        {workspaces === undefined ? null : (
          <PlaceFields workspaces={workspacesAt(on, hosts, workspaces)} active={workspaces.active ?? ''} />
        )}
        <PromptFiles files={files} onChange={setFiles} />
        <BudgetFields />
        {hasFleet ? <HostLossField /> : null}
        <Problem text={hasFleet && refused !== undefined ? '' : problem} />
        <div class="bar">
          <button type="submit" class="primary" disabled={isBusy || adapters === undefined}>
            {isBusy ? 'Starting' : 'Start'}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  )
}

/**
 * Where the session shall run. The choice stays when the other hosts leave meanwhile; without one it is the given host, also
 * before the hosts are known.
 */
function usePlacement(gateway: Gateway, host: string | undefined) {
  const hosts = useHosts(gateway)
  const [chosen, setOn] = useState<string>()
  const on = chosen ?? firstPlacement(host, hosts)
  const isFleet = gateway.hosts.isFleet.value || on !== ''
  const wasFleet = useRef(false)
  wasFleet.current ||= isFleet
  return { hosts, on, setOn, hasFleet: wasFleet.current }
}

function firstPlacement(host: string | undefined, hosts: readonly Host[]): string {
  const known = hosts.find(({ name }) => name === host)
  const isElsewhere = hosts.length === 0 || (known !== undefined && known.self !== true)
  return host !== undefined && isElsewhere ? host : ''
}

function useStart(client: Client, onStarted: (session: Session) => void) {
  const action = useAction()
  const [refused, setRefused] = useState<RefusedPlacement>()
  const start = async (form: HTMLFormElement, requestOf: () => SpawnAgentRequest): Promise<void> => {
    markField(form, undefined)
    setRefused(undefined)
    const session = await action.run(async () => {
      try {
        return await client.sessions.start({ ...requestOf(), idempotencyKey: newKey() })
      } catch (thrown) {
        const field = refusedField(thrown)
        markField(form, field)
        if (field === 'on') setRefused({ problem: messageOf(thrown), lacks: lacksIn(thrown) })
        throw thrown
      }
    })
    if (session !== undefined) onStarted(session)
  }
  return { start, isBusy: action.isBusy, problem: action.problem, refused }
}

function fieldsOf(form: HTMLFormElement): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields[name] = value
  return fields
}
