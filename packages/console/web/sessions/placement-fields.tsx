import type { SpawnAgentRequest } from '@agentproto/client'
import type { Host } from '@agentproto/contracts/wire'
import { hostState, type HostState } from '../hosts/host-state.js'
import { Outside } from '../parts/outside.js'
import { Problem } from '../parts/problem.js'
import { shown } from '../parts/shown-text.js'
import { labelsOf, type Placement, placementText, type RefusedPlacement } from './placement.js'

interface PlacementFieldProps {
  readonly hosts: readonly Host[]
  readonly on: Placement
  readonly onChange: (on: Placement) => void
  readonly refused: RefusedPlacement | undefined
}

/** Where the session runs. A choice is never disabled: a form does not send one that is, and the session would start elsewhere. */
export function PlacementField({ hosts, on, onChange, refused }: PlacementFieldProps) {
  const self = hosts.find((host) => host.self === true)
  const others = hosts.filter((host) => host.self !== true)
  const labels = labelsOf(hosts)
  const isGone = on !== '' && on !== 'any' && !labels.includes(on) && !others.some(({ name }) => name === on)
  const option = (value: string, text: string) => (
    <option key={value} value={value} selected={value === on}>
      {shown(text)}
    </option>
  )
  return (
    <div class="placement">
      <label>
        Run on
        <select
          name="on"
          value={on}
          aria-describedby="placement-text placement-problem"
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        >
          {option('', `this host${self === undefined ? '' : ` (${self.name})`}`)}
          {option('any', 'any host')}
          <optgroup label="A host">
            {others.map((host) => option(host.name, `${host.name}${AWAY[hostState(host)]}`))}
            {isGone ? option(on, hosts.length === 0 ? on : `${on} (gone)`) : null}
          </optgroup>
          {labels.length === 0 ? null : (
            <optgroup label="A host with the label">{labels.map((label) => option(label, label))}</optgroup>
          )}
        </select>
      </label>
      <small id="placement-text" class="dim">
        {placementText(on, hosts)}
      </small>
      <div id="placement-problem">
        <Refusal refused={refused} />
      </div>
    </div>
  )
}

/** More hosts than this are not read. */
const SHOWN = 20

/** What each host lacks, where the gateway said it; else its words. No links: they would leave the form. */
function Refusal({ refused }: Pick<PlacementFieldProps, 'refused'>) {
  const { problem = '', lacks = [] } = refused ?? {}
  if (lacks.length === 0) return <Problem text={problem} />
  return (
    <div class="problem" role="alert">
      {lacks.length === 1 ? 'The host cannot take the session.' : 'No host can take the session.'} What is missing:
      <ul class="lacks">
        {lacks.slice(0, SHOWN).map(({ host, lacks: words }) => (
          <li key={host}>
            <Outside text={host} />: <Outside text={words.join(', ')} />
          </li>
        ))}
        {lacks.length <= SHOWN ? null : <li>and {lacks.length - SHOWN} more hosts</li>}
      </ul>
    </div>
  )
}

/** Each policy has its words, or this does not compile. */
const LOSS_TEXT: Readonly<Record<NonNullable<SpawnAgentRequest['onHostLoss']>, string>> = {
  wait: 'it waits until the host is back',
  move: 'another host continues it, with its transcript',
}

/** What becomes of it when its host is lost. */
export function HostLossField() {
  return (
    <details>
      <summary>Advanced</summary>
      <label>
        If its host is lost
        <select name="onHostLoss">
          {Object.entries(LOSS_TEXT).map(([policy, words]) => (
            <option key={policy} value={policy}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </details>
  )
}

const AWAY = { reachable: '', stopped: ' (stopped)', unreachable: ' (not heard from)' } as const satisfies Record<
  HostState,
  string
>
