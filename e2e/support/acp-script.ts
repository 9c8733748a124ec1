import { isRecord } from '@agentproto/contracts'
import type { AnyMessage } from '@agentclientprotocol/sdk'
import { vi } from 'vitest'
import type { AcpUser } from './acp-user.js'

type User = Omit<AcpUser, 'leave'>

/** What a script saw: the answer to each step, and what came to each session of each client, in its order. */
export interface Recording {
  readonly steps: readonly (readonly [step: string, answer: unknown])[]
  readonly sessions: Readonly<Record<string, readonly unknown[]>>
}

export interface ScriptOptions {
  /** `_meta.agentproto` of each new session. */
  readonly meta?: object
  /** Settles when a list has what was done before. */
  readonly beforeList?: () => Promise<void>
}

/**
 * The whole protocol, once: three clients one after the other, each with a connection of its own.
 * @param folder that the sessions run in
 */
export async function runScript(
  connect: () => Promise<User>,
  folder: string,
  { meta, beforeList = async () => undefined }: ScriptOptions = {},
): Promise<Recording> {
  const steps: [string, unknown][] = []
  const script = new Script(steps)
  const opening = { cwd: folder, mcpServers: [], ...(meta && { _meta: { agentproto: meta } }) }
  const one = await connect()
  const two = await connect()
  const three = await connect()
  steps.push(['initialize', one.initialized])
  const id = await script.sessionOf(one, 'session/new', opening)
  await beforeList()
  await script.ask(one, 'session/list', { cwd: folder })
  await script.ask(one, 'session/set_mode', { sessionId: id, modeId: 'plan' })
  await script.ask(one, 'session/set_mode', { sessionId: id, modeId: 'default' })
  await script.ask(one, 'session/set_config_option', { sessionId: id, configId: 'model', value: 'demo-2' })
  await script.turns(one, id)
  await script.ask(two, 'session/load', { sessionId: id, cwd: folder, mcpServers: [] })
  await script.ask(three, 'session/resume', { sessionId: id, cwd: folder, mcpServers: [] })
  await script.prompt(two, id, 'of the second client')
  await script.mark('plan', id, [one, two, three])
  const fork = await script.sessionOf(one, 'session/fork', { sessionId: id, cwd: folder })
  await script.prompt(one, fork, 'recall')
  await script.ask(one, 'session/close', { sessionId: fork })
  await script.prompt(one, fork, 'after its close')
  await script.errors(one, id, folder)
  await script.ask(one, 'session/delete', { sessionId: fork })
  await script.ask(one, 'session/delete', { sessionId: fork })
  await beforeList()
  await script.ask(one, 'session/list', {})
  await script.mark('default', id, [one, two, three])
  const sessions = Object.fromEntries(
    Object.entries({ one, two, three }).flatMap(([name, user]) =>
      [id, fork].map((session) => [`${name}: ${session}`, messagesOf(user, session)]),
    ),
  )
  return withoutNames({ steps, sessions }, { [folder]: 'FOLDER', [id]: 'SESSION', [fork]: 'FORK' })
}

class Script {
  readonly #steps: [string, unknown][]

  constructor(steps: [string, unknown][]) {
    this.#steps = steps
  }

  async ask(user: User, method: string, params: object): Promise<unknown> {
    const answer = await user.agent.request<unknown, object>(method, params).catch(asError)
    this.#steps.push([`${method} ${JSON.stringify(params)}`, answer])
    return answer
  }

  async sessionOf(user: User, method: string, params: object): Promise<string> {
    const answer = await this.ask(user, method, params)
    return isRecord(answer) ? String(answer['sessionId']) : 'none'
  }

  prompt(user: User, sessionId: string, text: string): Promise<unknown> {
    return this.ask(user, 'session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
  }

  async turns(user: User, sessionId: string): Promise<void> {
    await this.prompt(user, sessionId, 'think; plan; usage; write a.txt hi')
    await this.#answering(user, sessionId, 'allow')
    await this.#answering(user, sessionId, 'reject')
    await this.#answering(user, sessionId, undefined)
    const hanging = this.prompt(user, sessionId, 'stream 2; hang')
    await vi.waitUntil(() => user.said().includes('chunk 2'), PATIENCE)
    await user.agent.notify('session/cancel', { sessionId })
    await hanging
    await this.prompt(user, sessionId, 'recall')
  }

  async #answering(user: User, sessionId: string, optionId: string | undefined): Promise<void> {
    const { length } = user.dialogs
    const asking = this.prompt(user, sessionId, `ask ${optionId}.txt`)
    await vi.waitUntil(() => user.dialogs.length > length, PATIENCE)
    const outcome = optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId }
    user.dialogs[length]?.answer({ outcome })
    await asking
  }

  async errors(user: User, sessionId: string, cwd: string): Promise<void> {
    await this.prompt(user, sessionId, 'fail on purpose')
    await this.prompt(user, 'ses_unknown', 'hello')
    for (const method of ['session/load', 'session/resume'])
      await this.ask(user, method, { sessionId: 'ses_unknown', cwd, mcpServers: [] })
    await this.ask(user, 'session/unknown', { sessionId })
    await this.ask(user, 'unknown', {})
    await this.ask(user, 'session/new', { mcpServers: [] })
    await this.ask(user, 'session/new', { cwd: 'relative', mcpServers: [] })
    await this.ask(user, 'session/new', { cwd, mcpServers: [], _meta: { agentproto: { mode: 1 } } })
    await this.ask(user, 'session/prompt', { sessionId, prompt: 'no blocks' })
    await this.ask(user, 'session/set_mode', { sessionId, modeId: 'unknown' })
    await this.ask(user, 'session/set_config_option', { sessionId, configId: 'unknown', value: 'x' })
    await this.ask(user, 'session/list', { cursor: 'no cursor' })
  }

  /** Changes the mode, and waits until everyone who follows the session was sent it: nothing from before is on its way then. */
  async mark(modeId: string, sessionId: string, users: readonly [User, ...User[]]): Promise<void> {
    await this.ask(users[0], 'session/set_mode', { sessionId, modeId })
    const mode = { id: 'mode', currentValue: modeId }
    for (const { updates } of users) {
      const last = (): unknown => updates.findLast((sent) => sent.sessionId === sessionId)?.update
      await vi.waitUntil(() => hasOption(last(), mode), PATIENCE)
    }
  }
}

const hasOption = (update: unknown, { id, currentValue }: { readonly id: string; readonly currentValue: string }) =>
  isRecord(update) &&
  Array.isArray(update['configOptions']) &&
  update['configOptions'].some((option) => option.id === id && option.currentValue === currentValue)

const PATIENCE = { timeout: 30_000, interval: 10 }

const asError = (thrown: unknown): unknown => {
  const { code, message, data } = thrown as { code?: number; message: string; data?: unknown }
  return { error: { code, message, data } }
}

/** The updates and requests of a session. Answers are steps. */
const messagesOf = ({ received }: User, id: string): unknown[] =>
  received.flatMap((message: AnyMessage) =>
    'method' in message && isRecord(message.params) && message.params['sessionId'] === id
      ? [{ method: message.method, params: message.params }]
      : [],
  )

function withoutNames(recording: Recording, names: Readonly<Record<string, string>>): Recording {
  let text = JSON.stringify(recording)
  for (const [name, word] of Object.entries(names)) text = text.replaceAll(name, word)
  return JSON.parse(text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')) as Recording
}
