import { AcpClient } from '@agentproto/acp'
import type { AgentAnswer } from '@agentproto/contracts'
import type { AgentSignal } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { SCENES } from './transcripts.ts'
import type { Said, Scene } from './transcripts.ts'

type Message = Readonly<Record<string, unknown>>

interface Replay {
  readonly events: readonly string[]
  readonly signals: readonly AgentSignal[]
  /** What the agent's requests were answered, by their ids. */
  readonly answers: ReadonlyMap<unknown, Message>
}

/** Plays a scene to a client, each message a read of its own. */
async function replay(scene: Scene): Promise<Replay> {
  const events: string[] = []
  const signals: AgentSignal[] = []
  const answers = new Map<unknown, Message>()
  const waiting = new Map<unknown, () => void>()
  const say = async (message: Message): Promise<void> => {
    await client.handleLines([JSON.stringify({ jsonrpc: '2.0', ...message })])
  }

  async function play(promptId: unknown): Promise<void> {
    for (const said of scene.turn) await step(said, promptId)
  }

  async function step(said: Said, promptId: unknown): Promise<void> {
    const sessionId = 's'
    if ('result' in said) return say({ id: promptId, result: said.result })
    if ('update' in said) return say({ method: 'session/update', params: { sessionId, update: said.update } })
    if ('notify' in said) return say({ method: said.notify, params: { sessionId, ...said.params } })
    if ('cancel' in said) return session.cancel()
    const answered = new Promise<void>((resolve) => waiting.set(said.id, resolve))
    await say({ id: said.id, method: said.ask, params: { sessionId, ...said.params } })
    if (scene.choice !== undefined || said.ask !== 'session/request_permission') await answered
  }

  const written = (line: string): void => {
    const { id, method, ...message } = JSON.parse(line) as Message
    if (method === 'initialize') void say({ id, result: scene.initialize })
    else if (method === 'session/new') void say({ id, result: { sessionId: 's' } })
    else if (method === 'session/prompt') void play(id)
    else if (method === undefined) {
      answers.set(id, message)
      waiting.get(id)?.()
    }
  }

  const client = new AcpClient({ client: { name: 'replay', version: '0' }, write: written })
  await client.initialize()
  const opening = { cwd: '/w', additionalDirectories: [], mcpServers: [], origin: { how: 'new' } } as const
  const session = await client.openSession(opening, {
    emit(batch) {
      signals.push(...batch)
      for (const signal of batch) {
        if (signal.type === 'tool-result') events.push(`tool-result ${signal.status}`)
        else if (EVENTS.has(signal.type)) events.push(signal.type)
      }
    },
    ask(): Promise<AgentAnswer> {
      events.push('agent-prompt')
      const { choice } = scene
      return choice === undefined ? new Promise(() => {}) : Promise.resolve({ outcome: 'selected', optionId: choice })
    },
  })
  await session.send([{ type: 'text', text: 'go' }])
  return { events, signals, answers }
}

const EVENTS: ReadonlySet<string> = new Set(['text-delta', 'thought', 'tool-call', 'turn-end', 'error'])

test.each(SCENES.map((scene) => [`${scene.agent}: ${scene.about}`, scene] as const))(
  'as recorded, %s',
  async (_, scene) => {
    const { events, signals, answers } = await replay(scene)
    expect(events).toEqual(scene.events)
    expect(signals.at(-1)).toMatchObject({ type: 'turn-end', reason: scene.reason })
    const asks = scene.turn.flatMap((said) => ('ask' in said ? [said] : []))
    expect(asks.map(({ id }) => answers.get(id))).toMatchObject(asks.map(({ ask }) => answerTo(ask, scene)))
  },
)

/** Unknown requests are refused, and withdrawn ones are confirmed. */
function answerTo(ask: string, { choice }: Scene): Message {
  if (ask !== 'session/request_permission') return { error: { code: -32_601 } }
  return {
    result: { outcome: choice === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: choice } },
  }
}
