import type { GatewayInfo } from '@agentproto/contracts/wire'
import type { Gateway } from '../gateway/gateway.js'
import { HostLink } from '../hosts/host-link.js'
import { Outside } from '../parts/outside.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { useAnswer } from '../parts/use-answer.js'
import { budgetText } from './budget-text.js'
import { SCOPE_TEXT } from './scope-text.js'

/** Whether the gateway works, what it is, the budgets of its configuration, and who this browser is to it. */
export function GatewayFacts({ gateway }: { readonly gateway: Gateway }) {
  const { client } = gateway
  const health = useAnswer(() => client.health(), gateway.connection.value)
  const isAdmin = gateway.may('admin')
  const info = useAnswer(async () => (isAdmin ? client.gateway() : undefined), `${isAdmin} ${gateway.connection.value}`)
  const { ok, version } = health.value ?? {}
  return (
    <>
      <Problem text={health.problem || info.problem} />
      <dl class="facts">
        <dt>Gateway</dt>
        <dd>{version === undefined ? '' : `${ok === true ? 'works' : 'does not work'}, version ${version}`}</dd>
        {info.value === undefined ? null : <Details info={info.value} />}
        <OfFleet gateway={gateway} />
        <dt>You are</dt>
        <dd>
          <CallerText gateway={gateway} />
        </dd>
      </dl>
    </>
  )
}

/** Which host of the fleet these settings are of; nothing without a fleet. */
function OfFleet({ gateway: { hosts } }: { readonly gateway: Gateway }) {
  const self = hosts.self.value?.name
  if (!hosts.isFleet.value || self === undefined) return null
  return (
    <>
      <dt>Host</dt>
      <dd>
        <HostLink name={self} />, one of {hosts.all.value.length}; workspaces, agents and tokens here are its own
      </dd>
    </>
  )
}

function Details({ info: { home, host, platform, node, startedAt, budgets } }: { readonly info: GatewayInfo }) {
  const { session, day, workspaces } = budgets
  const limits = [
    ...(session === undefined ? [] : [`each session: ${budgetText(session)}`]),
    ...(day === undefined ? [] : [`all sessions together, each day: ${budgetText(day)}`]),
    ...Object.entries(workspaces).flatMap(([slug, each]) => [
      ...(each.day === undefined ? [] : [`the workspace ${slug}, each day: ${budgetText(each.day)}`]),
      ...(each.total === undefined ? [] : [`the workspace ${slug}, in all: ${budgetText(each.total)}`]),
    ]),
  ]
  return (
    <>
      <dt>Home</dt>
      <dd>
        <Outside text={home ?? 'none: it stores nothing'} />
      </dd>
      <dt>Machine</dt>
      <dd>
        <Outside text={`${host}, ${platform}, Node ${node}; since ${new Date(startedAt).toLocaleString()}`} />
      </dd>
      <dt>Budgets</dt>
      <dd>
        {limits.length === 0 ? 'none' : null}
        {limits.map((limit) => (
          <div key={limit}>
            <Outside text={limit} />
          </div>
        ))}
      </dd>
    </>
  )
}

/** A login of a browser can be ended here; the owner's token cannot. */
function CallerText({ gateway }: { readonly gateway: Gateway }) {
  const action = useAction()
  const caller = gateway.caller.value
  if (caller === undefined) return null
  const places = caller.workspaces === undefined ? '' : ` in ${caller.workspaces.join(', ')}`
  return (
    <>
      <Outside text={`${caller.name}, may ${SCOPE_TEXT[caller.scope]}${places}`} />{' '}
      {caller.type === 'token' ? (
        <button type="button" disabled={action.isBusy} onClick={() => void action.run(() => gateway.client.logOut())}>
          Log out
        </button>
      ) : null}
      <Problem text={action.problem} />
    </>
  )
}
