import type { CallOptions, Client } from '@agentproto/client'
import { type AgentAnswer, defined, type Principal } from '@agentproto/contracts'
import type { EventRecord } from '@agentproto/contracts/agent'
import type { AnswerRequest, EventReader } from '@agentproto/contracts/wire'
import type { McpDeps } from '@agentproto/mcp-tools'

/** The services of the MCP tools, over a client of the gateway, which authorises by the client's token. */
export function clientServices(
  client: Client,
): Pick<McpDeps, 'sessions' | 'adapters' | 'workspaces' | 'changes' | 'hosts'> {
  const { sessions, adapters, workspaces, changes } = client
  return {
    adapters,
    workspaces,
    hosts: { list: () => client.hosts() },
    changes: {
      list: (id, query, signal) => changes.list(id, query, defined({ signal })),
      diff: async (id, query, signal) => changes.diff(id, query, defined({ signal })),
    },
    sessions: {
      spawn: (request, by) => sessions.start(request, traceOf(by)),
      list: (filter) => sessions.list(filter),
      get: (id) => sessions.get(id),
      prompt: (id, request, by) => sessions.prompt(id, request, traceOf(by)),
      waitTurn: (id, turn, signal) => sessions.waitTurn(id, turn, defined({ signal })),
      resume: (id, request, by) => sessions.resume(id, request, traceOf(by)),
      interrupt: (id, _by, request) => sessions.interrupt(id, request),
      kill: (id, _by, reason) => sessions.kill(id, typeof reason === 'string' ? { reason } : {}),
      output: (id, lastN) => sessions.output(id, lastN),
      requests: (id) => sessions.requests(id),
      answer: ({ id, requestId }, answer) => sessions.answer(id, requestId, wireAnswer(answer)),
      follow: async (id, after) => eventReader(sessions, id, after),
    },
  }
}

const traceOf = ({ trace }: Principal): CallOptions => defined({ trace })

/** An answer in its wire form. */
function wireAnswer(answer: AgentAnswer): AnswerRequest {
  switch (answer.outcome) {
    case 'selected':
      return { optionId: answer.optionId }
    case 'accept':
      return { action: 'accept', ...defined({ content: answer.content }) }
    case 'decline':
      return { action: 'decline' }
    case 'cancelled':
      return { action: 'cancel' }
  }
}

/** Reads the log one event at a time. It connects at the first read. */
function eventReader(sessions: Client['sessions'], id: string, after: number): EventReader {
  const abort = new AbortController()
  const events = sessions.events(id, { after, signal: abort.signal, onGap: () => undefined })[Symbol.asyncIterator]()
  return {
    async next(signal) {
      signal?.addEventListener('abort', () => abort.abort(), { once: true })
      const { done, value } = await events.next()
      if (done === true) return undefined
      const record: EventRecord = { seq: value.seq, type: value.type, json: JSON.stringify(value) }
      return { records: [record] }
    },
    close: () => abort.abort(),
  }
}
