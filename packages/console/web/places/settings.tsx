import type { Gateway } from '../gateway/gateway.js'
import { Agents } from '../settings/agents.js'
import { GatewayFacts } from '../settings/gateway-facts.js'
import { Notifications } from '../settings/notifications.js'
import { Rules } from '../settings/rules.js'
import { Tokens } from '../settings/tokens.js'
import { Workspaces } from '../settings/workspaces.js'

/** The gateway itself, its workspaces, agents, rules, tokens and notifications. */
export function Settings({ gateway }: { readonly gateway: Gateway }) {
  const isAdmin = gateway.may('admin')
  return (
    <section aria-labelledby="place">
      <h1 id="place">Settings</h1>
      <GatewayFacts gateway={gateway} />
      <Workspaces gateway={gateway} />
      <Agents gateway={gateway} />
      {isAdmin ? <Rules gateway={gateway} /> : null}
      {isAdmin ? <Tokens gateway={gateway} /> : null}
      {isAdmin ? <Notifications client={gateway.client} /> : null}
    </section>
  )
}
