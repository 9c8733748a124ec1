import { AgentprotoError, defined, type Session, systemClock } from '@agentproto/contracts'
import {
  answerRequestSchema,
  type Host,
  parseWire,
  toAgentAnswer,
  TOOL_OUTPUT_LINES,
  TOOL_WAIT_SECONDS,
  type ToolInput,
  type ToolName,
  visibleHosts,
  visibleWorkspaces,
} from '@agentproto/contracts/wire'
import { changesOf } from './changes-of.js'
import type { Call, McpDeps } from './services.js'
import { sessionStates } from './session-states.js'
import { turnState } from './turn-state.js'

/** What each tool does, in the order of the list: one that is missing does not compile. */
export type ToolHandlers = { readonly [N in ToolName]: (args: ToolInput<N>, call: Call) => Promise<object> }

/** The tools over the services of a gateway; the five of AIP-46 §MCP tools come first. */
export function toolHandlers({
  sessions,
  adapters,
  workspaces,
  changes,
  hosts,
  clock = systemClock,
}: McpDeps): ToolHandlers {
  return {
    start_agent_session: (request, { by }) => sessions.spawn(request, by),
    async prompt_agent_session({ sessionId, prompt }, { by }) {
      const { turn } = await sessions.prompt(sessionId, { prompt }, by)
      return { ok: true, sessionId, turn }
    },
    async list_agent_sessions(filter, { within }) {
      const page = await sessions.list(filter, within)
      return { ...page, sessions: page.sessions.map(listed) }
    },
    get_agent_session_output: async ({ sessionId, lastN = TOOL_OUTPUT_LINES }) => ({
      lines: await sessions.output(sessionId, lastN),
    }),
    async kill_agent_session({ sessionId, reason }, { by }) {
      const { ok } = await sessions.kill(sessionId, by, reason)
      return { ok, sessionId }
    },
    async get_agent_session({ sessionId }) {
      const [session, requests] = await Promise.all([sessions.get(sessionId), sessions.requests(sessionId)])
      return { ...session, requests: requests.filter(({ state }) => state === 'pending') }
    },
    wait_agent_turn: ({ sessionId, turn, timeoutSeconds = TOOL_WAIT_SECONDS }, { signal, progress }) =>
      turnState({ sessions, clock }, sessionId, { turn, timeoutMs: timeoutSeconds * 1_000, signal, progress }),
    interrupt_agent_session: async ({ sessionId, ...request }, { by }) => ({
      ok: true,
      sessionId,
      ...(await sessions.interrupt(sessionId, by, request)),
    }),
    resume_agent_session: ({ sessionId, ...request }, { by }) => sessions.resume(sessionId, request, by),
    answer_agent_request({ sessionId: id, requestId, ...given }, { by }) {
      const answer = toAgentAnswer(parseWire(answerRequestSchema, given, 'answer'))
      return sessions.answer({ id, requestId }, answer, by)
    },
    get_session_changes: (args, { signal }) => changesOf(changes, args, signal),
    wait_for_sessions: ({ sessionIds, timeoutSeconds = TOOL_WAIT_SECONDS }, { within, signal, progress }) =>
      sessionStates({ sessions, clock }, sessionIds, { within, timeoutMs: timeoutSeconds * 1_000, signal, progress }),
    list_agent_adapters: async () => ({ adapters: await adapters.list() }),
    list_agent_workspaces: async (_args, { by }) => visibleWorkspaces(await workspaces.list(), by),
    list_agent_hosts: async (_args, { by }) => ({ hosts: visibleHosts(await allHosts(hosts), by) }),
  }
}

async function allHosts(hosts: McpDeps['hosts']): Promise<readonly Host[]> {
  if (hosts === undefined) throw new AgentprotoError('not_supported', 'The hosts are not known here')
  return hosts.list()
}

/** What AIP-46 says of a session, and what it waits for: a list of whole sessions would fill the caller's context (F74). */
function listed(session: Session) {
  const { id, adapterSlug, workspaceSlug, cwd, status, startedAt, endedAt, lastOutputAt, exitCode, label } = session
  const { state, stopReason, turn, pendingRequests } = session
  const known = { id, adapterSlug, workspaceSlug, cwd, status, state, startedAt, turn, pendingRequests }
  return { ...known, ...defined({ endedAt, lastOutputAt, exitCode, label, stopReason }) }
}
