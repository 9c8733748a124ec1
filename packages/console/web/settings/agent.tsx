import type { AdapterSummary } from '@agentproto/client'
import type { AdapterState } from '@agentproto/contracts/wire'
import { useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { CopyText } from '../parts/copy-text.js'
import { Problem } from '../parts/problem.js'
import { useAnswer } from '../parts/use-answer.js'
import { AgentFacts } from './agent-facts.js'
import { DoctorChecks, type Check } from './doctor-checks.js'
import { InstallBar } from './install-bar.js'
import { type Progress, ProgressLog } from './progress-log.js'
import type { AdapterRemoved } from './removed-text.js'
import { SetupForm } from './setup-form.js'
import { useWork } from './use-work.js'

interface AgentProps {
  readonly gateway: Gateway
  readonly adapter: AdapterSummary
  /** Something was done that may have changed the agent. */
  readonly onDone: () => void
  readonly onRemoved: (removed: AdapterRemoved) => void
}

/** The state of one agent on the host of the gateway, and what can be done about it. */
export function Agent({ gateway, adapter, onDone, onRemoved }: AgentProps) {
  const { slug } = adapter
  const { adapters } = gateway.client
  const [round, setRound] = useState(0)
  const [progress, setProgress] = useState<readonly Progress[]>([])
  const [checks, setChecks] = useState<readonly Check[]>([])
  const { value: state, problem } = useAnswer(() => adapters.state(slug), String(round))
  const work = useWork(() => {
    setRound((before) => before + 1)
    onDone()
  })
  const provision = (request: Parameters<typeof adapters.provision>[1]): Promise<void> => {
    setProgress([])
    return work.follow(
      (signal) => adapters.provision(slug, { ...request, signal }),
      (event) => setProgress((before) => [...before.slice(-LINES), event]),
    )
  }
  const examine = (live: boolean): Promise<void> => {
    setChecks([])
    return work.follow(
      (signal) => adapters.doctor(slug, { live, signal }),
      (check) => setChecks((before) => [...before, check]),
    )
  }
  const mayAdmin = gateway.may('admin')
  return (
    <div class="agent">
      <Problem text={problem} />
      {state === undefined ? null : <AgentFacts adapter={adapter} state={state} />}
      {mayAdmin ? (
        <InstallBar adapter={adapter} isBusy={work.isBusy} onInstall={provision} onCheck={examine} onRemove={remove} />
      ) : null}
      {mayAdmin && state?.installed === true ? (
        <SetupForm
          slug={slug}
          steps={state.setup}
          isBusy={work.isBusy}
          onSetup={(inputs) => provision({ until: 'setup', inputs })}
        />
      ) : null}
      {state === undefined ? null : <Login state={state} hasWays={namesLogins(adapter)} />}
      <Problem text={work.problem} />
      <ProgressLog label={`Progress of ${slug}`} events={progress} isBusy={work.isBusy} />
      <DoctorChecks checks={checks} />
    </div>
  )

  function remove(): void {
    void work.follow(async function* removed() {
      yield await adapters.remove(slug)
    }, onRemoved)
  }
}

/** So many lines of progress are kept. */
const LINES = 500

interface LoginProps {
  readonly state: AdapterState
  /** The agent itself named ways to log in. */
  readonly hasWays: boolean
}

const namesLogins = ({ observed }: AdapterSummary): boolean =>
  observed !== undefined && 'logins' in observed && observed.logins.length > 0

/** A login has a browser or a password of its own: only a terminal can do it. */
function Login({ state: { slug, auth, installed, login, secrets }, hasWays }: LoginProps) {
  if (!installed || (auth !== 'unauthed' && auth !== 'unknown')) return null
  const known = auth === 'unauthed' ? 'It is not logged in.' : 'Only a session can report whether it is logged in.'
  // `adapters login` would only say that there is none.
  if (login === undefined && !hasWays)
    return (
      <p>
        {known} Its manifest has no login command: log in with its own program on the machine of the gateway
        {secrets.length === 0 ? '.' : ', or set its key.'}
      </p>
    )
  return (
    <>
      <p>{known} A login needs a terminal on the machine of the gateway:</p>
      <CopyText label={`Login of ${slug}`} text={`agentproto adapters login ${slug}`} />
    </>
  )
}
