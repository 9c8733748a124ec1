import { AgentprotoError, defined } from '@agentproto/contracts'
import { parseWire, type SessionChange, spawnAgentSchema } from '@agentproto/contracts/wire'
import type { AcpOpened, AcpOpenRequest, AcpWatchOptions, ServeOptions } from '../acp-host.js'
import { onlyInstalled, reportedCapabilities, wantedSession } from '../new-session.js'
import type { AcpCaller } from '@agentproto/contracts/wire'
import type { AcpEndpointDeps, AcpLimits } from './acp-endpoint.js'
import { CallerAccess } from './caller-access.js'
import { ownSessions } from './own-sessions.js'

/** What the gateway serves to one caller. */
export function servedCaller(
  deps: AcpEndpointDeps,
  caller: AcpCaller,
  { sessionStreams, openRequests, idChars, pageChars, problems: mostProblems }: AcpLimits,
): ServeOptions {
  const access = new CallerAccess(deps, caller)
  const sessions = ownSessions(deps.sessions, access, { pageChars })
  let problems = 0
  return {
    sessions,
    watch: (options) => changes(deps, access, options),
    isElsewhere: ({ hostId }) => deps.host !== undefined && hostId !== deps.host,
    open: (request) => opened(deps, access, request),
    check: async () => void (caller.agent !== undefined && (await deps.adapters.get(caller.agent))),
    agent: async () => reportedCapabilities(sessions, await agentOf(deps, caller)),
    mayAnswer: (sessionId) => access.mayAnswer(sessionId),
    info: { name: 'agentproto', version: deps.version },
    ...defined({ onError: deps.onError }),
    bounds: { openSessions: sessionStreams, openRequests, idChars },
    onProblem(problem) {
      problems++
      if (problems <= mostProblems) deps.onProblem?.(`ACP, ${caller.by.name}: ${problem}`)
    },
  }
}

async function opened(deps: AcpEndpointDeps, access: CallerAccess, request: AcpOpenRequest): Promise<AcpOpened> {
  const by = access.by('session/new', request.trace)
  const { agent } = access
  const { adapter: named, ...wanted } = wantedSession(defined({ adapter: agent }), request)
  if (agent !== undefined && named !== agent) throw otherAgent(agent, named)
  const adapter = named ?? onlyInstalled(await deps.adapters.list(), NAMING)
  const spawn = parseWire(spawnAgentSchema, { ...wanted, adapter }, 'session/new')
  return { session: await deps.sessions.spawn(spawn, by), attached: false }
}

const NAMING = {
  expected: (slugs: readonly string[]): string => `the path /acp/${slugs.join(' | /acp/') || '<adapter>'}`,
  hint: 'Name it in the path, or in _meta.agentproto.adapter of session/new',
}

const otherAgent = (agent: string, named: string | undefined): AgentprotoError =>
  new AgentprotoError('invalid_request', `Only sessions of ${agent} exist at /acp/${agent}`, {
    expected: `no _meta.agentproto.adapter, or ${agent}`,
    given: named,
    hint: 'Connect to /acp for all agents',
  })

/** The agent of new sessions. @throws `invalid_request` unless one is known */
const agentOf = async ({ adapters }: AcpEndpointDeps, { agent }: AcpCaller): Promise<string> =>
  agent ?? onlyInstalled(await adapters.list(), NAMING)

/** The changes of all sessions that the caller may read. */
async function* changes(
  { sessions }: AcpEndpointDeps,
  access: CallerAccess,
  { signal, onState }: AcpWatchOptions,
): AsyncGenerator<SessionChange> {
  const watcher = sessions.watch(access.within('session/list'))
  onState({ state: 'connected' })
  try {
    for (;;) {
      const batch = await watcher.next(signal)
      if (batch === undefined || signal.aborted) return
      yield* batch
    }
  } finally {
    watcher.close()
  }
}
