import type { GatewayInfo, Host } from '@agentproto/contracts/wire'
import type { Gateway } from '../gateway/gateway.js'
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
  const hosts = useAnswer(() => client.hosts(), gateway.connection.value)
  const { ok, version } = health.value ?? {}
  return (
    <>
      <Problem text={health.problem || info.problem || hosts.problem} />
      <dl class="facts">
        <dt>Gateway</dt>
        <dd>{version === undefined ? '' : `${ok === true ? 'works' : 'does not work'}, version ${version}`}</dd>
        {info.value === undefined ? null : <Details info={info.value} />}
        <dt>Hosts</dt>
        <dd>
          {(hosts.value ?? []).map((host) => (
            <div key={host.name}>
              <Outside text={hostText(host)} />
            </div>
          ))}
        </dd>
        <dt>You are</dt>
        <dd>
          <CallerText gateway={gateway} />
        </dd>
      </dl>
    </>
  )
}

/** What a host has, as far as it is known. */
function hostText({ name, self, reachable, liveSessions, freeSessions, lag, lastSeen }: Host): string {
  const seen = reachable ? '' : `, not heard from since ${new Date(lastSeen).toLocaleString()}`
  const behind = lag === 0 ? '' : `, ${lag} events behind`
  return `${name}${self === true ? ' (this one)' : ''}: ${liveSessions} live, ${freeSessions} free${behind}${seen}`
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
