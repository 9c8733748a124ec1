import type { AdapterSummary } from '@agentproto/client'
import type { AdapterState } from '@agentproto/contracts/wire'
import { Outside } from '../parts/outside.js'
import { observedFacts } from './observed-facts.js'

interface AgentFactsProps {
  readonly adapter: AdapterSummary
  readonly state: AdapterState
}

/** What is known of an agent on this host; nothing is run for it. */
export function AgentFacts({ adapter, state }: AgentFactsProps) {
  const facts = factsOf(adapter, state)
  return (
    <dl class="facts">
      {facts.map(([title, text], index) => (
        <div key={index} class="fact">
          <dt>{title}</dt>
          <dd>
            <Outside text={text} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function factsOf(
  { unverified = [], observed }: AdapterSummary,
  state: AdapterState,
): readonly (readonly [string, string])[] {
  const { ready, next, executable, method, setup, secrets } = state
  return [
    ['Ready', ready ? 'yes' : `no${next === undefined ? '' : `; next: ${next}`}`],
    ['Version', versionText(state)],
    ...(executable === undefined ? [] : [['Program', executable] as const]),
    ...(method === undefined ? [] : [['Installed by', method] as const]),
    ...setup.map(
      ({ id, state: step, description }) =>
        ['Setup', `${id}: ${step}${description === undefined ? '' : ` – ${description}`}`] as const,
    ),
    ['Login', loginText(state)],
    ...secrets.map(
      ({ slug, set, place }) => ['Secret', `${slug}: ${set ? `set, ${place ?? ''}` : 'not set'}`] as const,
    ),
    ...(observed === undefined ? [] : observedFacts(observed)),
    ...unverified.map((text) => ['Not verified', text] as const),
  ]
}

function versionText({ installed, version, versionOk, versionRange }: AdapterState): string {
  if (!installed) return `not installed; needs ${versionRange}`
  const known = version ?? 'not checked yet'
  return `${known}${versionOk === false ? ', which is not supported' : ''}; needs ${versionRange}`
}

const loginText = ({ auth, loginHint }: AdapterState): string =>
  loginHint === undefined ? LOGIN_TEXT[auth] : `${LOGIN_TEXT[auth]}; without one it said: ${loginHint}`

const LOGIN_TEXT: Readonly<Record<AdapterState['auth'], string>> = {
  not_needed: 'not needed',
  unknown: 'unknown until a session starts',
  unauthed: 'not logged in',
  authed: 'logged in',
}
