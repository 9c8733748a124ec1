import type { Gateway } from '../gateway/gateway.js'
import { Outside } from '../parts/outside.js'
import { Problem } from '../parts/problem.js'
import { useAnswer } from '../parts/use-answer.js'
import { Agents } from '../settings/agents.js'
import { Tokens } from '../settings/tokens.js'
import { Workspaces } from '../settings/workspaces.js'

/** The gateway itself, its workspaces, tokens and agents. */
export function Settings({ gateway }: { readonly gateway: Gateway }) {
  const { value, problem } = useAnswer(() => gateway.client.health(), gateway.connection.value)
  const caller = gateway.caller.value
  return (
    <section aria-labelledby="place">
      <h1 id="place">Settings</h1>
      <Problem text={problem} />
      <dl class="facts">
        <dt>Gateway</dt>
        <dd>{value === undefined ? '' : `${value.ok ? 'works' : 'does not work'}, version ${value.version}`}</dd>
        <dt>You are</dt>
        <dd>{caller === undefined ? '' : <Outside text={`${caller.name}, ${caller.scope}`} />}</dd>
      </dl>
      <Workspaces gateway={gateway} />
      {gateway.may('admin') ? <Tokens client={gateway.client} /> : null}
      <Agents gateway={gateway} />
    </section>
  )
}
